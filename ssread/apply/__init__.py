"""Your own data: train a model, keep it, and use it on new graphs."""

from ssread.apply.files import TrainedModel

__all__ = ["TrainedModel"]
