"""A graph classifier (encoder -> readout -> head) and the output of one forward pass."""

import inspect
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.inits import reset

from ssread.errors import InputError
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.readout import GlobalReadout, Reading, SSRead

__all__ = ["GraphClassifier", "Output", "Wrapped"]


@dataclass(frozen=True, eq=False, repr=False)
class Output:
    """The output of one forward pass over a batch of graphs.

    Attributes:
        logits: Class scores, [B, num_classes].
        vectors: Graph vectors, [B, out_channels of the readout].
        encoding: Node vectors, the graph of each (B for nodes dropped by pooling), and auxiliary losses per graph.
        reading: The structural position and the costs of every row of ``encoding.x``.
    """

    logits: Tensor
    vectors: Tensor
    encoding: Encoding
    reading: Reading

    def alignment_costs(self) -> Tensor:
        """Returns the smoothed alignment cost of every graph (Equation 4), [B]; zeros for the global readout."""
        return self.encoding.added_up(self.reading.alignment_costs())[: self.logits.size(0)]

    def alignment_loss(self) -> Tensor:
        """Returns the alignment loss (Equation 6), averaged over the graphs; only prototypes get its gradient."""
        return self.alignment_costs().sum() / max(self.logits.size(0), 1)

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
        """Returns the output for the first graphs only, which removes the dummy graph of a padded batch."""
        return replace(self, logits=self.logits[:num_graphs], vectors=self.vectors[:num_graphs])

    def __repr__(self) -> str:
        return f"Output(logits={list(self.logits.shape)}, vectors={list(self.vectors.shape)}, {self.encoding!r})"


class GraphClassifier(nn.Module):
    """Node vectors from an encoder, graph vectors from a readout, class scores from a head.

    Every method takes the arguments of :meth:`Graphs.of`: ``(x, edge_index, batch=None, edge_attr=None,
    batch_size=None, mask=None)``, or a PyG ``Data`` or ``Batch`` alone. A graph may have no nodes; its vector is then
    zero. With ``batch_size`` given, shapes are static: the model can be vmapped over a stack of weights and captured in
    a CUDA graph. In a padded batch, padding nodes belong to a dummy graph at the end (``Output.first`` removes it) and
    have a ``mask`` [N] of 0.

    Args:
        encoder: Computes the node vectors.
        readout: Turns them into graph vectors; its width is that of the encoder's output.
        head: Turns graph vectors into class scores.
        hyperparameters: The arguments of ``make_model`` that rebuild this model.
    """

    def __init__(
        self,
        encoder: Encoder,
        readout: GlobalReadout | SSRead,
        head: nn.Module,
        hyperparameters: dict[str, Any] | None = None,
    ):
        super().__init__()
        if encoder.out_channels != readout.in_channels:
            raise InputError(
                f"The encoder has {encoder.out_channels} output channels, but the readout takes {readout.in_channels}."
            )
        self.encoder = encoder
        self.readout = readout
        self.head = head
        self.hyperparameters = hyperparameters

    def reset_parameters(self) -> None:
        """Draws new weights for the encoder, the readout and the head."""
        reset(self.encoder)
        reset(self.readout)
        reset(self.head)

    def run(self, *graphs: Any, **named: Any) -> Output:
        """Returns logits, graph vectors, positions and losses from one forward pass."""
        given = Graphs.of(*graphs, **named)
        encoding = self.encoder(given)
        reading, vectors = self.read(encoding, given.batch_size)
        return Output(self.head(vectors), vectors, encoding, reading)

    def read(self, encoding: Encoding, batch_size: int) -> tuple[Reading, Tensor]:
        """Returns the readout's reading of an encoder's rows, and the graph vectors, [B, out_channels]."""
        # Rows dropped by pooling form one more group, which is read like the others and then removed.
        size = batch_size + int(encoding.dropped)
        reading = self.readout.read(encoding.x, encoding.groups(size), encoding.ptr, dim_size=encoding.heights * size)
        return reading, encoding.added_up(reading.vectors)[:batch_size]

    def forward(self, *graphs: Any, **named: Any) -> Tensor:
        """Returns class scores, [B, num_classes]."""
        return self.run(*graphs, **named).logits

    def embed(self, *graphs: Any, **named: Any) -> Tensor:
        """Returns graph vectors, [B, out_channels of the readout]."""
        return self.run(*graphs, **named).vectors

    def encode(self, *graphs: Any, **named: Any) -> Tensor:
        """Returns node vectors, [N, d]. If the encoder pools, ``encoder(...)`` also returns the graph of each."""
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
