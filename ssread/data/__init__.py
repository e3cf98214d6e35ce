"""Graphs from everywhere, as flat tensors; batches by index arithmetic; splits without leakage."""

from ssread.data.assemble import assemble
from ssread.data.batch import Bounds, GraphBatch, PaddedBatch, epoch_plan
from ssread.data.graphset import GraphSet

__all__ = ["Bounds", "GraphBatch", "GraphSet", "PaddedBatch", "assemble", "epoch_plan"]
