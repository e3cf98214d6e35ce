"""A graph classifier (encoder -> readout -> head) and the output of one forward pass."""

import inspect
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import reset

from ssread import segment
from ssread.errors import InputError
from ssread.models.graph_features import GraphFeatures
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.layers import GraphNorm
from ssread.readout import GlobalReadout, Reading, SSRead

__all__ = ["GraphClassifier", "Output", "Wrapped"]


@dataclass(frozen=True, eq=False, repr=False)
class Output:
    """The result of one pass of a classifier over a batch of graphs.

    Attributes:
        logits: Class scores, [B, num_classes].
        encoding: Node vectors, the graph of each (B for those dropped by pooling), and auxiliary losses per graph.
        reading: Graph vectors, alignment costs, and the structural position of every row of ``encoding.x``.
    """

    logits: Tensor
    encoding: Encoding
    reading: Reading

    @property
    def vectors(self) -> Tensor:
        """Graph vectors, [B, out_channels of the readout]."""
        return self.reading.vectors

    def node_positions(self) -> Tensor:
        """The structural position of every node, [N]; -1 for a node that pooling dropped."""
        row = self.encoding.node_rows(self.logits.size(0))
        return torch.where(row >= 0, self.reading.positions[row.clamp(min=0)], -1)

    def alignment_costs(self) -> Tensor:
        """The smoothed alignment cost of every graph (Equation 4), [B]; zeros for the global readout.

        Costs of a graph that is read at several heights are added up. Nodes dropped by pooling do not count.
        """
        return self.reading.alignment_costs()

    def alignment_loss(self) -> Tensor:
        """The alignment loss (Equation 6), which reaches the prototypes alone: see :meth:`Reading.alignment_loss`."""
        return self.reading.alignment_loss()

    def auxiliary_costs(self) -> Tensor:
        """Returns the sum of the encoder's own losses per graph, [B]; zeros if it has none."""
        total = self.logits.new_zeros(self.logits.size(0))
        for loss in self.encoding.losses.values():
            total = total + loss[: self.logits.size(0)]
        return total

    def auxiliary_loss(self) -> Tensor:
        """Returns the encoder's own losses, averaged over the graphs (DiffPool: link prediction and entropy)."""
        return self.auxiliary_costs().sum() / max(self.logits.size(0), 1)

    def first(self, num_graphs: int) -> "Output":
        """The output of the first graphs only, without the dummy graph of a padded batch."""
        if num_graphs == self.logits.size(0):
            return self
        reading = self.reading.map_graphs(lambda values: values[:num_graphs])
        return replace(self, logits=self.logits[:num_graphs], reading=reading)

    def __repr__(self) -> str:
        return f"Output(logits={list(self.logits.shape)}, vectors={list(self.vectors.shape)}, {self.encoding!r})"


class GraphClassifier(nn.Module):
    """Node vectors from an encoder, graph vectors from a readout, class scores from a head.

    Every method takes the arguments of :meth:`Graphs.of`: ``(x, edge_index, batch=None, edge_attr=None,
    batch_size=None, mask=None, graph_attr=None)``, or a PyG ``Data`` or ``Batch`` alone. A graph may have no nodes; its
    vector is then zero. With ``batch_size`` given, shapes are static: the model can be vmapped over a stack of weights
    and captured in a CUDA graph. In a padded batch, padding nodes belong to a dummy graph at the end (``Output.first``
    removes it) and have a ``mask`` [N] of 0.

    Args:
        encoder: Computes node vectors.
        readout: Computes graph vectors; its ``in_channels`` are the encoder's ``out_channels``.
        head: Computes class scores.
        hyperparameters: The arguments with which ``make_model`` builds this model again.
        norm: Normalises graph vectors before the head; None passes them on as the readout returns them.
        graph_features: What features of whole graphs contribute to the scores; None for graphs without them.
    """

    def __init__(
        self,
        encoder: Encoder,
        readout: GlobalReadout | SSRead,
        head: nn.Module,
        hyperparameters: dict[str, Any] | None = None,
        norm: GraphNorm | None = None,
        graph_features: GraphFeatures | None = None,
    ):
        super().__init__()
        if encoder.out_channels != readout.in_channels:
            raise InputError(
                f"The encoder has {encoder.out_channels} output channels, but the readout takes {readout.in_channels}."
            )
        self.encoder = encoder
        self.readout = readout
        self.head = head
        self.norm = norm
        self.graph_features = graph_features
        self.hyperparameters = hyperparameters

    def reset_parameters(self) -> None:
        """Resets the encoder, the readout and the head."""
        reset(self.encoder)
        reset(self.readout)
        reset(self.head)
        reset(self.norm)
        reset(self.graph_features)

    def run(self, *graphs: Any, **named: Any) -> Output:
        """Computes logits, graph vectors, positions and losses in one forward pass."""
        given = Graphs.of(*graphs, **named)
        encoding = self.encoder(given)
        reading = self.read(encoding, given.batch_size, self._real(given))
        return Output(self.score(reading.vectors, given.graph_attr), encoding, reading)

    def score(self, vectors: Tensor, graph_attr: Tensor | None = None) -> Tensor:
        """Computes class scores [B, num_classes] from graph vectors [B, d] and features of whole graphs [B, D]."""
        scores = self.head(vectors)
        if self.graph_features is None:
            return scores
        channels = self.graph_features.channels
        if graph_attr is None or graph_attr.size(-1) != channels:
            found = "is missing" if graph_attr is None else f"has {graph_attr.size(-1)}"
            raise InputError(f"The model was built for {channels} features of whole graphs, but graph_attr {found}.")
        return scores + self.graph_features(graph_attr)

    def read(self, encoding: Encoding, batch_size: int, real: Tensor | None = None) -> Reading:
        """Reads an encoder's rows into graph vectors, [B, out_channels], normalised where the model does that.

        Args:
            encoding: The rows.
            batch_size: The number of graphs B.
            real: The graphs that count when vectors are normalised in training, [B]; None for all.
        """
        # Rows dropped by pooling form one more group, which is read like the others and cut off.
        size = batch_size + int(encoding.dropped)
        reading = self.readout.read(
            encoding.x, encoding.groups(size), encoding.starts(), dim_size=encoding.heights * size
        )
        if encoding.heights > 1 or encoding.dropped:
            reading = reading.map_graphs(lambda values: encoding.added_up(values)[:batch_size])
        return reading if self.norm is None else replace(reading, vectors=self.norm(reading.vectors, real))

    def _real(self, graphs: Graphs) -> Tensor | None:
        """The graphs that have nodes, but for the dummy of a padded batch, [B]; None where nobody asks."""
        if self.norm is None or not self.training:
            return None
        nodes = segment.count(graphs.batch, graphs.batch_size)
        if graphs.mask is not None:
            nodes = torch.cat([nodes[:-1], torch.zeros_like(nodes[-1:])])
        return nodes > 0

    def forward(self, *graphs: Any, **named: Any) -> Tensor:
        """Returns class scores, [B, num_classes]."""
        return self.run(*graphs, **named).logits

    def embed(self, *graphs: Any, **named: Any) -> Tensor:
        """Computes graph vectors, [B, out_channels of the readout]."""
        return self.run(*graphs, **named).vectors

    def encode(self, *graphs: Any, **named: Any) -> Tensor:
        """Computes node vectors, [N, d]; for a pooled graph ``encoder(...)`` also returns the graph of each."""
        return self.encoder(*graphs, **named).x


class Wrapped(Encoder):
    """An encoder around any module ``f(x, edge_index, ...)`` that returns node vectors.

    The module also gets ``edge_attr``, ``batch`` and ``batch_size`` if its ``forward`` has parameters of these names.
    """

    def __init__(self, module: nn.Module, out_channels: int):
        super().__init__(1, out_channels)
        self.module = module
        self._takes = [n for n in ("edge_attr", "batch", "batch_size") if n in _parameters(module)]

    def forward(self, *graphs: Any, **named: Any) -> Encoding:
        """Returns node vectors; the module itself checks the number of features."""
        return self.encode(Graphs.of(*graphs, **named))

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        vectors = self.module(graphs.x, graphs.edge_index, **{name: getattr(graphs, name) for name in self._takes})
        if not isinstance(vectors, Tensor) or vectors.shape != (graphs.num_nodes, self.out_channels):
            found = list(vectors.shape) if isinstance(vectors, Tensor) else type(vectors).__name__
            raise InputError(
                f"{type(self.module).__name__} was wrapped as an encoder of {self.out_channels} channels and must "
                f"return node vectors [{graphs.num_nodes}, {self.out_channels}], but it returned {found}."
            )
        return Encoding(vectors, graphs.batch)


def _parameters(module: nn.Module) -> list[str]:
    return list(inspect.signature(module.forward).parameters)
