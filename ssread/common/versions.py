"""The versions that a result depends on."""

import platform

__all__ = ["VERSION", "versions"]

#: The version of this package.
VERSION = "1.0.0.dev0"


def versions() -> dict[str, str]:
    """Returns the versions of ssread, torch, torch_geometric and Python, by name."""
    import torch
    import torch_geometric

    return {
        "ssread": VERSION,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }
