"""Graphs from everywhere, as flat tensors; batches by index arithmetic; splits without leakage."""

from ssread.data.assemble import assemble
from ssread.data.batch import Bounds, GraphBatch, PaddedBatch, epoch_plan
from ssread.data.graphset import GraphSet
from ssread.data.listing import list_datasets
from ssread.data.load import load
from ssread.data.pyg import from_pyg
from ssread.data.splits import Fold, check_folds, read_splits, stratified_folds, write_splits

__all__ = [
    "Bounds",
    "Fold",
    "GraphBatch",
    "GraphSet",
    "PaddedBatch",
    "assemble",
    "check_folds",
    "epoch_plan",
    "from_pyg",
    "list_datasets",
    "load",
    "read_splits",
    "stratified_folds",
    "write_splits",
]
