"""Graphs from everywhere, as flat tensors; batches by index arithmetic; splits without leakage."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.data.assemble import assemble
    from ssread.data.batch import Bounds, GraphBatch, PaddedBatch
    from ssread.data.duplicates import count_duplicates, duplicate_groups
    from ssread.data.graphset import GraphSet
    from ssread.data.listing import list_datasets
    from ssread.data.load import load
    from ssread.data.molecules import from_smiles
    from ssread.data.networks import from_networkx
    from ssread.data.planted import planted
    from ssread.data.pyg import from_pyg
    from ssread.data.scaffold import scaffold_groups, scaffold_split
    from ssread.data.splits import Fold, check_folds, read_splits, stratified_folds, write_splits

__all__ = [
    "Bounds",
    "Fold",
    "GraphBatch",
    "GraphSet",
    "PaddedBatch",
    "assemble",
    "check_folds",
    "count_duplicates",
    "duplicate_groups",
    "from_networkx",
    "from_pyg",
    "from_smiles",
    "list_datasets",
    "load",
    "planted",
    "read_splits",
    "scaffold_groups",
    "scaffold_split",
    "stratified_folds",
    "write_splits",
]

lazy_exports(
    __name__,
    {
        "assemble": ["assemble"],
        "batch": ["Bounds", "GraphBatch", "PaddedBatch"],
        "duplicates": ["count_duplicates", "duplicate_groups"],
        "graphset": ["GraphSet"],
        "listing": ["list_datasets"],
        "load": ["load"],
        "molecules": ["from_smiles"],
        "networks": ["from_networkx"],
        "planted": ["planted"],
        "pyg": ["from_pyg"],
        "scaffold": ["scaffold_groups", "scaffold_split"],
        "splits": ["Fold", "check_folds", "read_splits", "stratified_folds", "write_splits"],
    },
)
