"""Your own data: train a model, save it, and use it on new graphs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ssread.apply.trained_model import TrainedModel

if TYPE_CHECKING:
    from ssread.apply.embedding import embed
    from ssread.apply.exporting import export
    from ssread.apply.prediction import predict
    from ssread.apply.training import train

__all__ = ["TrainedModel", "embed", "export", "predict", "train"]

#: The module of each function, imported on first use: each needs much that the others do not.
_MODULES = {"embed": "embedding", "export": "exporting", "predict": "prediction", "train": "training"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
