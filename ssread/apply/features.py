"""How the features of a model's graphs are made, so that new graphs get the same columns in the same order."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ssread.apply.graph_inputs import graphs_of, options_taken
from ssread.data.check import locate
from ssread.data.graphset import GraphSet
from ssread.errors import InputError

__all__ = ["FEATURE_OPTIONS", "Columns", "Features"]

#: The options of readers that decide what the features are; a model keeps them. The others tell where things stand.
FEATURE_OPTIONS = (
    "features",
    "hydrogens",
    "node_label",
    "node_attributes",
    "edge_label",
    "edge_attributes",
    "attributes",
    "degree",
    "undirected",
    "self_loops",
)


@dataclass(frozen=True)
class Columns:
    """The columns of one kind of features.

    Attributes:
        what: ``node`` or ``edge``.
        count: How many columns.
        names: Their names, or none where the training graphs had none.
        categories: Those that held nothing but 0 and 1: where new graphs lack one, it does not occur in them.
    """

    what: str
    count: int
    names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, what: str, values: Tensor | None, names: Sequence[str]) -> "Columns":
        """The columns of a training set."""
        if values is None:
            return cls(what, 0)
        binary = ((values == 0) | (values == 1)).all(dim=0).tolist()
        categories = tuple(name for name, is_binary in zip(names, binary, strict=True) if is_binary) if names else ()
        return cls(what, values.size(1), tuple(names), categories)

    def arrange(
        self, values: Tensor | None, names: Sequence[str], rows: int, source: str
    ) -> tuple[Tensor | None, Tensor | None]:
        """New features in the order of these columns, and the rows that have a category these columns lack.

        A category that does not occur in the new graphs becomes a column of zeros. Anything else that differs is an
        error that names it.
        """
        if rows == 0 and self.count:
            return torch.zeros(0, self.count), None
        if values is None or self.count == 0:
            if (values is None) == (self.count == 0):
                return values, None
            have = "has none" if values is None else f"has {values.size(1)}"
            raise InputError(f"{source}: the model was trained with {self.count} {self.what} features, this {have}.")
        if not names or not self.names:
            if values.size(1) != self.count:
                raise InputError(
                    f"{source}: the model was trained with {self.count} {self.what} features, this has "
                    f"{values.size(1)}."
                )
            return values, None
        if tuple(names) == self.names:
            return values, None
        missing = [name for name in self.names if name not in names and name not in self.categories]
        if missing:
            raise InputError(
                f"{source}: the {self.what} feature {missing[0]!r} that the model was trained with is missing; the "
                f"features there are {', '.join(map(repr, names))}."
            )
        place = {name: index for index, name in enumerate(names)}
        blank = values.new_zeros(values.size(0))
        arranged = torch.stack([values[:, place[n]] if n in place else blank for n in self.names], dim=1)
        others = [index for index, name in enumerate(names) if name not in self.names]
        return arranged, values[:, others] if others else None


@dataclass(frozen=True)
class Features:
    """What the graphs of a model look like.

    Attributes:
        node: The columns of the node features.
        edge: Those of the edge features.
        options: How files are read: what of :data:`FEATURE_OPTIONS` was given when the training set was loaded.
    """

    node: Columns
    edge: Columns
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, graphs: GraphSet, options: Mapping[str, Any] | None = None) -> "Features":
        """The features of a training set that was loaded with these options."""
        kept = {name: value for name, value in (options or {}).items() if name in FEATURE_OPTIONS}
        node = Columns.of("node", graphs.x, graphs.node_feature_names)
        return cls(node, Columns.of("edge", graphs.edge_attr, graphs.edge_feature_names), kept)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Features":
        """From what :meth:`as_dict` gave."""
        kinds = []
        for what in ("node", "edge"):
            columns = data[what]
            names, categories = tuple(map(str, columns["names"])), tuple(map(str, columns["categories"]))
            count = int(columns["count"])
            if names and len(names) != count:
                raise ValueError(f"{len(names)} names for {count} {what} features")
            kinds.append(Columns(what, count, names, categories))
        return cls(kinds[0], kinds[1], dict(data["options"]))

    def load(self, data: Any, **options: Any) -> GraphSet:
        """Read graphs as the training set was loaded, without looking whether their columns fit yet."""
        for name in options:
            if name in FEATURE_OPTIONS and options[name] != self.options.get(name):
                trained = repr(self.options[name]) if name in self.options else "its default"
                raise InputError(f"{name}={options[name]!r} does not fit: the model was trained with {trained}.")
        takes = options_taken(data)
        kept = {name: value for name, value in self.options.items() if name in takes}
        if "label" in takes and "label" not in options:
            kept["label"] = None  # graphs to predict have no class
        return graphs_of(data, **{**kept, **options})

    def arrange(self, graphs: GraphSet, source: str = "") -> GraphSet:
        """The same graphs with these columns; a category that training never saw is an error that names it."""
        arranged, strange = self.arrange_usable(graphs, source)
        if strange:
            raise InputError(f"{source or graphs.name}: {next(iter(strange.values()))}")
        return arranged

    def arrange_usable(self, graphs: GraphSet, source: str = "") -> tuple[GraphSet, dict[int, str]]:
        """The same graphs with these columns, and what is wrong with those that have a category training never saw."""
        source = source or graphs.name
        strange: dict[int, str] = {}
        changed: dict[str, Any] = {}
        for columns, key, pointer, names in (
            (self.edge, "edge_attr", graphs.edge_ptr, graphs.edge_feature_names),
            (self.node, "x", graphs.node_ptr, graphs.node_feature_names),
        ):
            values = getattr(graphs, key)
            rows = int(pointer[-1])
            changed[key], others = columns.arrange(values, names, rows, source)
            changed[f"{columns.what}_feature_names"] = columns.names
            if others is not None:
                unknown = [name for name in names if name not in columns.names]
                for row in others.any(dim=1).nonzero().squeeze(1).tolist():
                    graph, _ = locate(pointer, row)
                    if graph not in strange:
                        name = unknown[int(others[row].ne(0).nonzero()[0])]
                        strange[graph] = (
                            f"graph {graphs.ids[graph]} has the {columns.what} feature {name!r}, which no graph of the "
                            f"training set had."
                        )
        return replace(graphs, **changed), strange
