"""Your own data: train a model, save it, and use it on new graphs."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.apply.embedding import embed
    from ssread.apply.exporting import export
    from ssread.apply.prediction import predict
    from ssread.apply.trained_model import TrainedModel
    from ssread.apply.training import train

__all__ = ["TrainedModel", "embed", "export", "predict", "train"]

lazy_exports(
    __name__,
    {
        "embedding": ["embed"],
        "exporting": ["export"],
        "prediction": ["predict"],
        "trained_model": ["TrainedModel"],
        "training": ["train"],
    },
)
