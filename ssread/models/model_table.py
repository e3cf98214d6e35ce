"""The models beside the paper's Table II: their layers in order and their numbers of parameters."""

from dataclasses import dataclass
from typing import Any

import torch
from rich import box
from rich.table import Table
from torch import nn
from torch_geometric.nn import DenseSAGEConv

from ssread.models.architectures import ARCHITECTURES
from ssread.models.classifier import GraphClassifier
from ssread.models.diffpool import DiffPooling, SAGEConv, num_clusters
from ssread.models.factory import make_model
from ssread.models.gcn import EdgeAwareGCNConv
from ssread.models.gcn_conv import GCNConv
from ssread.models.gin import GINConv
from ssread.models.topk import SAGPooling, TopKPooling
from ssread.readout import SSRead

__all__ = ["Described", "as_table", "describe", "describe_all"]

MESSAGE_PASSING = (EdgeAwareGCNConv, GINConv, GCNConv, SAGEConv, DenseSAGEConv)
POOLING = (TopKPooling, SAGPooling, DiffPooling)

#: The sizes that ``ssread models`` uses by default.
MUTAG = {"in_channels": 7, "num_classes": 2, "edge_channels": 4, "max_nodes": 28}


@dataclass(frozen=True)
class Described:
    """A model in the columns of Table II, and its number of parameters.

    Attributes:
        message_passing: The message-passing layers.
        pooling: The pooling layers.
        ratio: The share of nodes that each pooling keeps, or its number of clusters.
        architecture: The order in which these layers run.
        readout: The aggregation.
        classification: The head.
        parameters: The number of trainable parameters.
    """

    message_passing: str
    pooling: str
    ratio: str
    architecture: str
    readout: str
    classification: str
    parameters: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The values of the columns of Table II."""
        return (
            self.message_passing,
            self.pooling,
            self.ratio,
            self.architecture,
            self.readout,
            self.classification,
        )


def describe(model: GraphClassifier) -> Described:
    """Describes a model by running it once on a graph of two nodes and recording which layers are called."""
    ran = _layers_that_run(model)
    poolings = [layer for layer in ran if isinstance(layer, POOLING)]
    linear = [layer for layer in model.head.modules() if isinstance(layer, nn.Linear)]
    readout = model.readout.per_position if isinstance(model.readout, SSRead) else model.readout
    names = [type(part).__name__.lower() for part in getattr(readout.aggr, "parts", [readout.aggr])]
    return Described(
        _names(layer for layer in ran if isinstance(layer, MESSAGE_PASSING)),
        _names(poolings),
        ",".join(_ratio(pooling) for pooling in poolings) or "-",
        "+".join("MP" if isinstance(layer, MESSAGE_PASSING) else "Pool" for layer in ran) or "-",
        ",".join(names),
        "Linear" if len(linear) == 1 else f"{len(linear)}L MLP",
        sum(parameter.numel() for parameter in model.parameters()),
    )


def describe_all(
    in_channels: int, num_classes: int, edge_channels: int, max_nodes: int, num_positions: int = 4
) -> dict[str, dict[str, Described]]:
    """Describes every model with either readout: ``describe_all(...)["gin"]["ssread"].parameters``."""
    described: dict[str, dict[str, Described]] = {}
    for name in ARCHITECTURES:
        options: dict[str, Any] = {"num_clusters": num_clusters(max_nodes)} if name == "diffpool" else {}
        described[name] = {
            readout: describe(
                make_model(
                    name,
                    in_channels,
                    num_classes,
                    edge_channels=edge_channels,
                    readout=readout,
                    num_positions=num_positions,
                    **options,
                )
            )
            for readout in ("global", "ssread")
        }
    return described


def as_table(described: dict[str, dict[str, Described]], title: str) -> Table:
    """Returns a table for the terminal: the paper's row of every model, and ours below it."""
    table = Table(title=title, box=box.SIMPLE)
    headings = ("model", "", "message passing", "pooling", "ratio", "architecture", "readout", "head")
    for heading in headings:
        table.add_column(heading, no_wrap=heading not in ("message passing", "architecture"))
    table.add_column("global", justify="right", no_wrap=True)
    table.add_column("ssread", justify="right", no_wrap=True)
    for name, by_readout in described.items():
        paper = ARCHITECTURES[name].paper
        if paper is not None:
            table.add_row(name, "paper", *_breakable(paper), "", "")
        sizes = [f"{by_readout[readout].parameters:,}" for readout in ("global", "ssread")]
        table.add_row("" if paper else name, "ours", *_breakable(by_readout["global"].cells), *sizes, end_section=True)
    return table


def _breakable(cells: tuple[str, ...]) -> list[str]:
    """Returns the cells with spaces after poolings, where long ones can be wrapped."""
    return [cell.replace("Pool+", "Pool+ ").replace(")+", ")+ ") for cell in cells]


def _layers_that_run(model: GraphClassifier) -> list[nn.Module]:
    """Returns the message-passing and pooling layers in the order of their calls, without those inside a pooling."""
    inside = {id(part) for pooling in model.modules() if isinstance(pooling, POOLING) for part in pooling.modules()}
    ran: list[nn.Module] = []
    handles = [
        layer.register_forward_pre_hook(lambda layer, _: ran.append(layer))
        for layer in model.modules()
        if isinstance(layer, POOLING) or (isinstance(layer, MESSAGE_PASSING) and id(layer) not in inside)
    ]
    training = model.training
    x, edge = torch.zeros(2, model.encoder.in_channels), torch.tensor([[0, 1], [1, 0]])
    with torch.no_grad():
        model.eval()(x, edge, edge_attr=torch.zeros(2, max(model.encoder.edge_channels, 1)))
    model.train(training)
    for handle in handles:
        handle.remove()
    return ran


def _names(layers: Any) -> str:
    """Returns the class names of the layers, each once, in order."""
    return ", ".join(dict.fromkeys(type(layer).__name__ for layer in layers)) or "-"


def _ratio(pooling: nn.Module) -> str:
    if isinstance(pooling, DiffPooling):
        return f"{pooling.to_clusters.out_features} clusters"
    return str(pooling.ratio)
