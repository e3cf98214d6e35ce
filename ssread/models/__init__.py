"""Graph classifiers: the six architectures of the paper and a baseline, each with either readout."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.models.architectures import ARCHITECTURES
    from ssread.models.classifier import GraphClassifier, Output
    from ssread.models.factory import make_model, model_for, wrap
    from ssread.models.graphs import Encoder, Encoding, Graphs

__all__ = [
    "ARCHITECTURES",
    "Encoder",
    "Encoding",
    "GraphClassifier",
    "Graphs",
    "Output",
    "make_model",
    "model_for",
    "wrap",
]

lazy_exports(
    __name__,
    {
        "architectures": ["ARCHITECTURES"],
        "classifier": ["GraphClassifier", "Output"],
        "factory": ["make_model", "model_for", "wrap"],
        "graphs": ["Encoder", "Encoding", "Graphs"],
    },
)
