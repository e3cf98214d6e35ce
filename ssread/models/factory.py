"""Models by name, with the sizes of a dataset, or around a module of your own."""

import copy
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import nn

from ssread.aggregate import Aggr
from ssread.data.task_names import REGRESSION
from ssread.errors import InputError
from ssread.models.architectures import check_places, check_readout, find_architecture
from ssread.models.classifier import GraphClassifier, Wrapped
from ssread.models.diffpool import num_clusters
from ssread.models.graph_features import GraphFeatures
from ssread.models.layers import GraphNorm, Unscale, head
from ssread.models.places import Placed
from ssread.readout import GlobalReadout, SSRead

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

__all__ = ["make_model", "model_for", "wrap"]


def make_model(
    name: str,
    in_channels: int,
    num_classes: int,
    *,
    edge_channels: int = 0,
    graph_channels: int = 0,
    readout: str = "ssread",
    aggr: Aggr | None = None,
    num_positions: int = 4,
    gamma: float = 0.01,
    epsilon: float = 0.0,
    aggr_kwargs: Mapping[str, object] | None = None,
    hidden_channels: int | None = None,
    num_layers: int | None = None,
    dropout: float = 0.5,
    normalize: bool = True,
    numbers: bool = False,
    position_hops: int | None = None,
    **options: Any,
) -> GraphClassifier:
    """Builds a graph classifier by name, with either readout.

    Args:
        name: ``gcn``, ``gin``, ``dgcnn``, ``diffpool``, ``sagpool``, ``gunet`` or ``structure_blind``.
        in_channels: Number of node features.
        num_classes: Number of classes; of labels or numbers, if these are to be predicted.
        edge_channels: Number of edge features. ``gcn`` and ``gin`` use them; the other architectures ignore them.
        graph_channels: Number of features of whole graphs, which join the scores: see
            :class:`ssread.models.graph_features.GraphFeatures`.
        readout: ``ssread``, or ``global`` for the paper's GRead.
        aggr: The aggregation phi, by default that of the original; see :class:`ssread.GlobalReadout`.
        num_positions: The number of structural positions K of SSRead.
        gamma: The smoothing of SSRead's alignment loss.
        epsilon: Of SSRead's soft minimum; 0 except in the recipe of the authors' public code.
        aggr_kwargs: Arguments of the aggregation: ``k`` of sort, ``processing_steps`` of set2set.
        hidden_channels: Width of the layers, by default 128 (``dgcnn``: 32, as in the original).
        num_layers: Number of layers, by default that of Table II.
        dropout: Share of entries dropped in every MLP head, and after every layer of ``gcn``, ``gin`` and
            ``structure_blind``.
        normalize: Whether graph vectors are normalised over the batch before the head. The dropout after the last layer
            then acts on them, so that positions are read from whole node vectors. The paper does neither.
        numbers: Whether the model predicts numbers: its head ends with their mean and scale, which training sets.
        position_hops: If given, SSRead's positions come from the structure instead of learnt vectors: from the node
            features within so many hops, by k-means on the training graphs. They are then the same in every training,
            and never move. For ``gcn``, ``gin``, ``dgcnn`` and ``structure_blind``.
        options: Arguments of single architectures: ``jumping`` of gcn and gin (node vectors concatenate the outputs of
            all layers), ``ratio`` of sagpool, ``ratios`` of gunet, ``num_clusters`` of diffpool.

    ``make_model(**model.hyperparameters)`` builds the same model again.

    >>> model = make_model("gin", in_channels=7, num_classes=2, num_positions=8)
    >>> model.readout
    SSRead(128, num_positions=8, aggr=Sum(128, 128), gamma=0.01)
    """
    architecture = find_architecture(name)
    if num_classes < 1:
        raise InputError(f"num_classes must be 1 or more, but {num_classes} was given.")
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is a share, from 0 to below 1, but {dropout} was given.")
    aggr = architecture.aggr if aggr is None else aggr
    takes = inspect.signature(architecture.encoder).parameters
    common = ("in_channels", "edge_channels", "hidden_channels", "num_layers", "dropout", "last_dropout")
    own = [parameter for parameter in takes if parameter not in common]
    for unknown in options.keys() - set(own):
        known = [p for p in inspect.signature(make_model).parameters if p not in ("name", "options")]
        raise InputError(f"{name} has no argument {unknown!r}; it takes {', '.join(known + own)}.")
    for option, default in (("hidden_channels", hidden_channels), ("num_layers", num_layers)):
        if default is not None and default < 1:
            raise InputError(f"{option} must be 1 or more, but {default} was given.")
    hidden_channels = takes["hidden_channels"].default if hidden_channels is None else hidden_channels
    num_layers = takes["num_layers"].default if num_layers is None else num_layers
    arguments = {
        "in_channels": in_channels,
        "edge_channels": edge_channels,
        "hidden_channels": hidden_channels,
        "num_layers": num_layers,
        "dropout": dropout,
        **{parameter: takes[parameter].default for parameter in own},
        **options,
    }
    given = {**arguments, "last_dropout": not normalize}
    encoder = architecture.encoder(**{key: value for key, value in given.items() if key in takes})
    if position_hops is not None:
        check_places(position_hops, name, readout)
        encoder = Placed(encoder, position_hops)
    places = encoder.places.out_channels if isinstance(encoder, Placed) else 0
    read = _readout(encoder.out_channels, readout, aggr, num_positions, gamma, aggr_kwargs, epsilon, places)
    hyperparameters = {
        "name": name,
        "num_classes": num_classes,
        "readout": readout,
        "aggr": aggr,
        "num_positions": num_positions,
        "gamma": gamma,
        "epsilon": epsilon,
        "aggr_kwargs": None if aggr_kwargs is None else dict(aggr_kwargs),
        "normalize": normalize,
        "numbers": numbers,
        **({"graph_channels": graph_channels} if graph_channels else {}),
        **({} if position_hops is None else {"position_hops": position_hops}),
        **arguments,
    }
    norm = GraphNorm(read.out_channels, dropout if "last_dropout" in takes else 0.0) if normalize else None
    classify = head(read.out_channels, num_classes, hidden_channels, architecture.head_layers, dropout)
    if numbers:
        classify = nn.Sequential(classify, Unscale(num_classes))
    features = GraphFeatures(graph_channels, num_classes, hidden_channels, dropout) if graph_channels else None
    return GraphClassifier(encoder, read, classify, hyperparameters, norm, features)


def model_for(graphs: "GraphSet", name: str, **arguments: Any) -> GraphClassifier:
    """Calls :func:`make_model` with the numbers of features, outputs and, for DiffPool, clusters of a dataset."""
    sizes: dict[str, Any] = {
        "in_channels": graphs.num_node_features,
        "num_classes": len(graphs.output_names),
        "numbers": graphs.task == REGRESSION,
        "edge_channels": graphs.num_edge_features,
        "graph_channels": graphs.num_graph_features,
    }
    if name == "diffpool" and len(graphs) > 0:
        sizes["num_clusters"] = num_clusters(int(graphs.node_counts.max()))
    return make_model(name, **{**sizes, **arguments})


def wrap(
    module: nn.Module,
    out_channels: int,
    num_classes: int,
    *,
    readout: str = "ssread",
    aggr: Aggr = "sum",
    num_positions: int = 4,
    gamma: float = 0.01,
    aggr_kwargs: Mapping[str, object] | None = None,
) -> GraphClassifier:
    """Builds a classifier from any module ``f(x, edge_index, ...)`` that returns node vectors, with a linear head.

    Args:
        module: For example any model of ``torch_geometric.nn``. It gets ``edge_attr``, ``batch`` and ``batch_size`` if
            its ``forward`` has parameters of these names.
        out_channels: Width of the node vectors that it returns.
        num_classes: Number of classes.
        readout: As in :func:`make_model`, like ``aggr``, ``num_positions``, ``gamma`` and ``aggr_kwargs``.

    >>> from torch_geometric.nn import GAT
    >>> model = wrap(GAT(7, 16, num_layers=2), out_channels=16, num_classes=2)
    """
    read = _readout(out_channels, readout, aggr, num_positions, gamma, aggr_kwargs)
    return GraphClassifier(Wrapped(module, out_channels), read, nn.Linear(read.out_channels, num_classes))


def _readout(
    in_channels: int,
    name: str,
    aggr: Aggr,
    num_positions: int,
    gamma: float,
    aggr_kwargs: Mapping[str, object] | None,
    epsilon: float = 0.0,
    places: int = 0,
) -> GlobalReadout | SSRead:
    check_readout(name)
    aggr = copy.deepcopy(aggr)  # models must not share a module
    if name == "global":
        return GlobalReadout(in_channels, aggr, **(aggr_kwargs or {}))
    return SSRead(in_channels, num_positions, aggr, gamma, epsilon, place_channels=places, **(aggr_kwargs or {}))
