"""The schema of the description inside a saved graph set."""

from typing import Annotated

from pydantic import Strict

from ssread.common.schema import UNSET, Count, OneOf, Open, Text
from ssread.data.task_names import TASKS

__all__ = ["SetDescription"]


class SetDescription(Open):
    """What :func:`ssread.data.storage.write` writes; sets of earlier versions lack some of it."""

    name: Text
    class_names: list[Text] = UNSET
    task: Annotated[str, OneOf("task", TASKS)] = UNSET
    target_names: list[Text] = UNSET
    node_feature_names: list[Text] = UNSET
    edge_feature_names: list[Text] = UNSET
    graph_feature_names: list[Text] = UNSET
    ids: list[Text] = UNSET
    undirected: bool
    repairs: dict[str, Count] = UNSET
    graph_texts: dict[str, list[Text]] = UNSET
    skipped: list[Annotated[tuple[Count, Text, Text, Text], Strict(False)]] = UNSET
