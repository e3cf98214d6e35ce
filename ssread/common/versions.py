"""The versions that a result depends on."""

import platform

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Versions of ssread, torch, torch_geometric and Python, by name."""
    import torch
    import torch_geometric

    import ssread

    return {
        "ssread": ssread.__version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }
