"""Models by name: the rows of the paper's Table II, the base classifier and the structure-blind baseline."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import nn

from ssread.aggregate import Aggr
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier, Wrapped
from ssread.models.dgcnn import DGCNN
from ssread.models.diffpool import DiffPool, num_clusters
from ssread.models.gcn import GCN
from ssread.models.gin import GIN
from ssread.models.graphs import Encoder
from ssread.models.gunet import GraphUNet
from ssread.models.layers import head
from ssread.models.sagpool import SAGPool
from ssread.models.structure_blind import StructureBlind
from ssread.readout import GlobalReadout, SSRead

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

__all__ = ["ARCHITECTURES", "Architecture", "make_model", "model_for", "wrap"]


@dataclass(frozen=True)
class Architecture:
    """One graph classifier of the paper.

    Attributes:
        encoder: The class of the encoder.
        aggr: The aggregation of the original.
        head_layers: The number of linear layers of the head.
        paper: The row of Table II: message passing, pooling, ratio, architecture, readout, classification.
        numerics: Part of the key of every stored training. Increase it when a change of the code changes the results,
            so that earlier results are not used in place of new ones.
    """

    encoder: type[Encoder]
    aggr: str | list[str]
    head_layers: int
    paper: tuple[str, str, str, str, str, str] | None = None
    numerics: int = 1


#: In the order of Table II, the base classifier (section V-A) first and the baseline last.
ARCHITECTURES = {
    "gcn": Architecture(GCN, "sum", 1, ("GCN", "-", "-", "MP+MP+MP", "any", "Linear")),
    "gin": Architecture(GIN, "sum", 1, ("GIN", "-", "-", "MP+MP+MP+MP+MP", "sum", "Linear")),
    "dgcnn": Architecture(DGCNN, "sort", 2, ("GCN", "-", "-", "MP+MP+MP+MP", "sort(+Conv)", "2L MLP")),
    "diffpool": Architecture(DiffPool, "max", 2, ("SAGE", "DiffPool", "0.1", "(MP+MP+MP)+Pool+MP", "max", "2L MLP")),
    "sagpool": Architecture(
        SAGPool,
        ["max", "mean"],
        3,
        ("GCN", "SAGPool", "0.5,0.5,0.5", "MP+Pool+MP+Pool+MP+Pool", "max,mean", "3L MLP"),
    ),
    "gunet": Architecture(
        GraphUNet,
        ["sum", "max", "mean"],
        2,
        ("GCN", "TopKPool", "0.9,0.8,0.7", "(MP+Pool+MP+Pool+MP+Pool)+(MP+MP+MP)", "sum,max,mean", "2L MLP"),
    ),
    "structure_blind": Architecture(StructureBlind, "sum", 2),
}


def make_model(
    name: str,
    in_channels: int,
    num_classes: int,
    *,
    edge_channels: int = 0,
    readout: str = "ssread",
    aggr: Aggr | None = None,
    num_positions: int = 4,
    gamma: float = 0.01,
    aggr_kwargs: Mapping[str, object] | None = None,
    hidden_channels: int | None = None,
    num_layers: int | None = None,
    dropout: float = 0.5,
    **options: Any,
) -> GraphClassifier:
    """Builds a graph classifier by name, with either readout.

    Args:
        name: ``gcn``, ``gin``, ``dgcnn``, ``diffpool``, ``sagpool``, ``gunet`` or ``structure_blind``.
        in_channels: Number of node features.
        num_classes: Number of classes.
        edge_channels: Number of edge features. ``gcn`` and ``gin`` use them; the other architectures ignore them.
        readout: ``ssread``, or ``global`` for the paper's GRead.
        aggr: The aggregation phi, by default that of the original; see :class:`ssread.GlobalReadout`.
        num_positions: The number of structural positions K of SSRead.
        gamma: The smoothing of SSRead's alignment loss.
        aggr_kwargs: Arguments of the aggregation: ``k`` of sort, ``processing_steps`` of set2set.
        hidden_channels: Width of the layers, by default 128 (``dgcnn``: 32, as in the original).
        num_layers: Number of layers, by default that of Table II.
        dropout: Share of entries dropped in every MLP head, and after every layer of ``gcn``, ``gin`` and
            ``structure_blind``.
        options: Arguments of single architectures: ``jumping`` of gcn and gin (node vectors concatenate the outputs of
            all layers), ``ratio`` of sagpool, ``ratios`` of gunet, ``num_clusters`` of diffpool.

    ``make_model(**model.hyperparameters)`` builds the same model again.

    >>> model = make_model("gin", in_channels=7, num_classes=2, num_positions=8)
    >>> model.readout
    SSRead(128, num_positions=8, aggr=Sum(128, 128), gamma=0.01)
    """
    if name not in ARCHITECTURES:
        raise InputError(f"There is no model {name!r}. Choose one of {', '.join(ARCHITECTURES)}.")
    if num_classes < 1:
        raise InputError(f"num_classes must be 1 or more, but {num_classes} was given.")
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is a share, from 0 to below 1, but {dropout} was given.")
    architecture = ARCHITECTURES[name]
    aggr = architecture.aggr if aggr is None else aggr
    takes = inspect.signature(architecture.encoder).parameters
    common = ("in_channels", "edge_channels", "hidden_channels", "num_layers", "dropout")
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
    encoder = architecture.encoder(**{key: value for key, value in arguments.items() if key in takes})
    read = _readout(encoder.out_channels, readout, aggr, num_positions, gamma, aggr_kwargs)
    hyperparameters = {
        "name": name,
        "num_classes": num_classes,
        "readout": readout,
        "aggr": aggr,
        "num_positions": num_positions,
        "gamma": gamma,
        "aggr_kwargs": None if aggr_kwargs is None else dict(aggr_kwargs),
        **arguments,
    }
    classify = head(read.out_channels, num_classes, hidden_channels, architecture.head_layers, dropout)
    return GraphClassifier(encoder, read, classify, hyperparameters)


def model_for(graphs: "GraphSet", name: str, **arguments: Any) -> GraphClassifier:
    """Calls :func:`make_model` with the numbers of features, classes and, for DiffPool, clusters of a dataset."""
    sizes: dict[str, Any] = {
        "in_channels": graphs.num_node_features,
        "num_classes": graphs.num_classes,
        "edge_channels": graphs.num_edge_features,
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
) -> GlobalReadout | SSRead:
    aggr = copy.deepcopy(aggr)  # models must not share a module
    if name == "global":
        return GlobalReadout(in_channels, aggr, **(aggr_kwargs or {}))
    if name == "ssread":
        return SSRead(in_channels, num_positions, aggr, gamma, **(aggr_kwargs or {}))
    raise InputError(f"There is no readout {name!r}. Choose ssread or global.")
