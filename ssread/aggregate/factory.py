"""Aggregations by name."""

import inspect
from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch_geometric.nn.aggr import Aggregation

from ssread.aggregate.attention import Attention
from ssread.aggregate.base import FlatAggregation
from ssread.aggregate.basic import Max, Mean, Sum
from ssread.aggregate.concat import Concat
from ssread.aggregate.foreign import Foreign
from ssread.aggregate.set2set import Set2Set
from ssread.aggregate.sort import Sort
from ssread.errors import InputError

__all__ = ["NAMES", "Aggr", "make_aggregation"]

#: A name, any PyG aggregation, or a sequence of these, whose results are concatenated.
Aggr: TypeAlias = str | Aggregation | Sequence[str | Aggregation]

NAMES: dict[str, Callable[..., FlatAggregation]] = {
    "sum": Sum,
    "max": Max,
    "mean": Mean,
    "attention": Attention,
    "set2set": Set2Set,
    "sort": Sort,
}


def make_aggregation(aggr: Aggr, in_channels: int, **kwargs: object) -> FlatAggregation:
    """Builds an aggregation from its name, from several names, or from any PyG ``Aggregation``.

    Args:
        aggr: One of ``sum max mean attention set2set sort``, an ``Aggregation``, or a list of these, whose results are
            concatenated.
        in_channels: Width of the node vectors.
        kwargs: Passed to the named aggregation: ``k`` of sort, ``processing_steps`` of set2set.

    >>> make_aggregation("sort", 16, k=8)
    Sort(16, 16)
    >>> make_aggregation(["max", "mean"], 16).out_channels
    32
    """
    if isinstance(aggr, str):
        return _by_name(aggr, in_channels, kwargs)
    if isinstance(aggr, Sequence):
        if not aggr or kwargs:
            raise InputError("A list of aggregations needs at least one entry and takes no further arguments.")
        return Concat([make_aggregation(part, in_channels) for part in aggr])
    if kwargs:
        raise InputError(f"{', '.join(kwargs)}: an aggregation that is already built takes no further arguments.")
    if isinstance(aggr, FlatAggregation):
        if aggr.in_channels != in_channels:
            raise InputError(f"{aggr!r} was built for {aggr.in_channels} channels, but {in_channels} are asked for.")
        return aggr
    if isinstance(aggr, Aggregation):
        return Foreign(aggr, in_channels)
    raise InputError(f"aggr must be a name, a PyG Aggregation or a list of these, not {aggr!r}.")


def _by_name(name: str, in_channels: int, kwargs: dict[str, object]) -> FlatAggregation:
    if name not in NAMES:
        raise InputError(
            f"There is no aggregation {name!r}. Choose one of {', '.join(NAMES)}, or pass a PyG Aggregation."
        )
    takes = [p for p in inspect.signature(NAMES[name]).parameters if p not in ("in_channels", "out_channels")]
    for unknown in kwargs.keys() - set(takes):
        raise InputError(f"{name} has no argument {unknown!r}; it takes {', '.join(takes) or 'none'}.")
    return NAMES[name](in_channels, **kwargs)
