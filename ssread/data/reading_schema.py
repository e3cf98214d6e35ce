"""The schema of options for reading data: the parameters of every reader of :func:`ssread.data.load`."""

from typing import Annotated, Literal

from ssread.common.schema import UNSET, Count, Name, NameList, Number, OneOf, Settings
from ssread.data.skipped import ON_ERROR
from ssread.data.task_names import TASKS

__all__ = ["ReadingOptions"]


class ReadingOptions(Settings):
    """Options of all readers together; which of them a source takes, its reader says."""

    # files of molecules, folders of graphs
    task: Annotated[str, OneOf("task", TASKS)] | None = UNSET
    label: Name | list[Name] | None = UNSET
    name: Name | None = UNSET
    keep: NameList = UNSET
    graph_features: NameList | None = UNSET  # of any data
    on_error: Annotated[str, OneOf("on_error", ON_ERROR)] = UNSET
    # files of molecules
    smiles: Name = UNSET
    id: Name | None = UNSET
    features: Literal["rdkit", "labels"] = UNSET
    hydrogens: bool = UNSET
    elements: NameList | None = UNSET
    # folders of graphs
    node_label: Name | None = UNSET
    node_attributes: NameList = UNSET
    edge_label: Name | None = UNSET
    edge_attributes: NameList = UNSET
    # folders of graphs, TU datasets
    attributes: bool = UNSET
    degree: bool = UNSET
    undirected: bool = UNSET
    self_loops: Literal["keep", "drop"] = UNSET
    # planted
    num_graphs: Count = UNSET
    num_motifs: Count = UNSET
    num_classes: Count = UNSET
    nodes: Count | list[Count] = UNSET
    noise: Number = UNSET
    label_noise: Number = UNSET
    feature_noise: Number | None = UNSET
    seed: Count = UNSET
