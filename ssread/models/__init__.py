"""Graph classifiers: the six architectures of the paper and a baseline, each with either readout."""

from ssread.models.classifier import GraphClassifier, Output
from ssread.models.factory import ARCHITECTURES, make_model, model_for, wrap
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
