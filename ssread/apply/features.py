"""The features of a model's graphs, so that new graphs get the same columns in the same order."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ssread.apply.graph_inputs import graphs_of, options_of
from ssread.data.check import locate
from ssread.data.graph_features import own_columns, parse_sources, with_graph_features
from ssread.data.graphset import GraphSet
from ssread.errors import InputError

__all__ = ["FEATURE_OPTIONS", "Columns", "Features"]

#: The reader options that decide what the features are; a model keeps them. All others say where to find things.
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
    "graph_features",
)


@dataclass(frozen=True)
class Columns:
    """The columns of one kind of features.

    Attributes:
        what: ``node``, ``edge`` or ``graph``.
        count: The number of columns.
        names: Their names; empty where the training graphs had none.
        categories: The columns that held only 0 and 1. A category that new graphs lack does not occur in them.
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
        """Puts new features into the order of these columns; returns them, and the columns of unknown categories.

        A category that does not occur in the new graphs becomes a column of zeros. Any other difference raises an error
        that names it.
        """
        if rows == 0 and self.count:
            return torch.zeros(0, self.count), None
        if values is None or self.count == 0:
            if (values is None) == (self.count == 0):
                return values, None
            raise self._wrong_count(source, 0 if values is None else values.size(1))
        if not names or not self.names:
            if values.size(1) != self.count:
                raise self._wrong_count(source, values.size(1))
            return values, None
        if tuple(names) == self.names:
            return values, None
        missing = [name for name in self.names if name not in names and name not in self.categories]
        if missing:
            raise InputError(
                f"{source} lacks the {self.what} feature {missing[0]!r} that the model was trained with; it has "
                f"{', '.join(map(repr, names[:50]))}{', ...' if len(names) > 50 else ''}."
            )
        index_of = {name: index for index, name in enumerate(names)}
        zeros = values.new_zeros(values.size(0))
        arranged = torch.stack([values[:, index_of[n]] if n in index_of else zeros for n in self.names], dim=1)
        unknown = [index for index, name in enumerate(names) if name not in self.names]
        return arranged, values[:, unknown] if unknown else None

    def _wrong_count(self, source: str, found: int) -> InputError:
        return InputError(
            f"{source} has {found or 'no'} {self.what} features, but the model was trained with {self.count or 'none'}."
        )


@dataclass(frozen=True)
class Features:
    """The features of a model's graphs, and how they are made.

    Attributes:
        node: The columns of the node features.
        edge: The columns of the edge features.
        graph: The columns of the features of whole graphs.
        options: Those of :data:`FEATURE_OPTIONS` that the training set was loaded with.
    """

    node: Columns
    edge: Columns
    options: Mapping[str, Any] = field(default_factory=dict)
    graph: Columns = Columns("graph", 0)

    @classmethod
    def of(cls, graphs: GraphSet, options: Mapping[str, Any] | None = None) -> "Features":
        """The features of a training set loaded with these options."""
        kept = {name: value for name, value in (options or {}).items() if name in FEATURE_OPTIONS}
        node = Columns.of("node", graphs.x, graphs.node_feature_names)
        if kept.get("graph_features") is not None:
            kept["graph_features"] = list(parse_sources(kept["graph_features"]))
        edge = Columns.of("edge", graphs.edge_attr, graphs.edge_feature_names)
        return cls(node, edge, kept, Columns("graph", graphs.num_graph_features, graphs.graph_feature_names))

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the features of whole graphs come from; empty if the graphs bring them along, or have none."""
        return tuple(self.options.get("graph_features") or ())

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for :meth:`from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Features":
        """Rebuilds what :meth:`as_dict` returned."""
        kinds = []
        for what in ("node", "edge", "graph"):
            columns = data.get(what) or {"names": (), "categories": (), "count": 0}  # earlier: no graph features
            names, categories, count = tuple(columns["names"]), tuple(columns["categories"]), columns["count"]
            if names and len(names) != count:
                raise ValueError(f"{len(names)} names for {count} {what} features")
            kinds.append(Columns(what, count, names, categories))
        return cls(kinds[0], kinds[1], dict(data["options"]), kinds[2])

    def load(self, data: Any, **options: Any) -> GraphSet:
        """Reads graphs as the training set was read, without checking their columns yet."""
        if options.get("graph_features") is not None:
            options["graph_features"] = list(parse_sources(options["graph_features"]))
        for name in options:
            if name in FEATURE_OPTIONS and options[name] != self.options.get(name):
                trained = repr(self.options[name]) if name in self.options else "its default"
                raise InputError(f"{name} cannot be {options[name]!r}: the model was trained with {trained}.")
        takes = options_of(data)
        kept = {name: value for name, value in self.options.items() if name in takes}
        if "label" in takes and "label" not in options:
            kept["label"] = None  # graphs to predict have no class
        if "keep" in takes and own_columns(self.sources):
            kept["keep"] = own_columns(self.sources)
        options.pop("graph_features", None)  # those of the model are added when graphs are arranged
        return graphs_of(data, **{**kept, **options})

    def arrange(self, graphs: GraphSet, source: str = "") -> GraphSet:
        """Returns the graphs with these columns; an unknown category raises an error that names it."""
        arranged, misfits = self.arrange_usable(graphs, source)
        if misfits:
            raise InputError(f"{source or graphs.name}: {next(iter(misfits.values()))}")
        return arranged

    def arrange_usable(self, graphs: GraphSet, source: str = "") -> tuple[GraphSet, dict[int, str]]:
        """Returns the graphs with these columns, and a sentence for every graph that does not fit.

        Features of whole graphs are computed first, unless the graphs have them.
        """
        source = source or graphs.name
        misfits: dict[int, str] = {}
        if self.graph.count and graphs.graph_attr is None and self.sources:
            graphs, misfits = with_graph_features(graphs, self.sources, self.graph.names)
            misfits = {row: f"graph {graphs.ids[row]}: {why}." for row, why in misfits.items()}
        features, _ = self.graph.arrange(graphs.graph_attr, graphs.graph_feature_names, len(graphs), source)
        changed: dict[str, Any] = {"graph_attr": features, "graph_feature_names": self.graph.names}
        for columns, key, pointer, names in (
            (self.edge, "edge_attr", graphs.edge_ptr, graphs.edge_feature_names),
            (self.node, "x", graphs.node_ptr, graphs.node_feature_names),
        ):
            values = getattr(graphs, key)
            rows = int(pointer[-1])
            changed[key], unknown = columns.arrange(values, names, rows, source)
            changed[f"{columns.what}_feature_names"] = columns.names
            if unknown is not None:
                unknown_names = [name for name in names if name not in columns.names]
                for row in unknown.any(dim=1).nonzero().squeeze(1).tolist():
                    graph, _ = locate(pointer, row)
                    if graph not in misfits:
                        name = unknown_names[int(unknown[row].ne(0).nonzero()[0])]
                        misfits[graph] = (
                            f"graph {graphs.ids[graph]} has the {columns.what} feature {name!r}, which no graph of the "
                            f"training set had."
                        )
        return replace(graphs, **changed), misfits
