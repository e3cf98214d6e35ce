"""A trained GCN as PyG's ``MessagePassing`` layers with ``nn.ReLU`` modules, as explainers of others need it.

PyG's explainers put their masks on ``MessagePassing`` layers, and guided backpropagation changes the gradient of ReLU
modules. Our layers are neither. The twin has the same weights and returns the same scores.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from ssread import segment
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.models.gcn import GCN, EdgeAwareGCNConv
from ssread.models.graphs import Encoding, Graphs
from ssread.models.layers import BatchNorm
from ssread.models.places import Placed

__all__ = ["PyGTwin", "TwinConv"]


class TwinConv(MessagePassing):
    """The layer of :class:`ssread.models.gcn.EdgeAwareGCNConv` by gathering and scattering messages."""

    def __init__(self, conv: nn.Module):
        super().__init__(aggr="add")
        assert isinstance(conv, EdgeAwareGCNConv)
        self.lin, self.messages, self.root = conv.lin, conv.messages, conv.root
        self.message_relu, self.own_relu = nn.ReLU(), nn.ReLU()

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None) -> Tensor:
        """Maps node vectors [N, d] to node vectors [N, d]."""
        x = self.lin(h)
        scale = (segment.count(edge_index[1], h.size(0)) + 1).to(h.dtype).rsqrt()
        weight = (scale[edge_index[0]] * scale[edge_index[1]]).unsqueeze(1)
        sums = self.propagate(edge_index, x=x, edge=self.edge_vectors(edge_attr, edge_index), weight=weight)
        return sums + self.own_relu(x + self.root) * scale.square().unsqueeze(1)

    def edge_vectors(self, edge_attr: Tensor | None, edge_index: Tensor) -> Tensor:
        """The vector that an edge adds to its message, [E, d]."""
        if self.messages.edge_channels:
            return self.messages.edge(edge_attr)
        return self.messages.constant.expand(edge_index.size(1), -1)

    def message(self, x_j: Tensor, edge: Tensor, weight: Tensor) -> Tensor:
        """The message of every edge, [E, d]."""
        return self.message_relu(x_j + edge) * weight


class PyGTwin(nn.Module):
    """A GCN classifier for PyG's and Captum's explainers; in evaluation mode.

    Args:
        model: A trained classifier with a GCN encoder without ``jumping``.
    """

    def __init__(self, model: GraphClassifier):
        super().__init__()
        encoder = model.encoder.encoder if isinstance(model.encoder, Placed) else model.encoder
        if not isinstance(encoder, GCN) or encoder.jumping:
            raise InputError("Only a GCN whose last layer is read can be handed to explainers of other packages.")
        self.model, self.encoder = model, encoder
        self.convs = nn.ModuleList(TwinConv(conv) for conv in encoder.convs)
        self.relus = nn.ModuleList(nn.ReLU() for _ in self.convs[1:])
        self.eval()

    def node_vectors(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        """The vectors that the readout reads, [N, d]."""
        h = self.encoder.node_encoder(x)
        for number, conv in enumerate(self.convs):
            h = self.encoder.norms[number](conv(h, edge_index, edge_attr))
            if number < len(self.relus):
                h = self.relus[number](h)
        return h

    @torch.no_grad()
    def last_messages(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The node vectors [N, d], the messages of the last layer along edges, [E, d], and of nodes to themselves."""
        last, messages, own = self.convs[-1], [], []
        assert isinstance(last, TwinConv)
        hooks = [
            last.register_message_forward_hook(lambda _, __, output: messages.append(output)),
            last.own_relu.register_forward_hook(lambda _, __, output: own.append(output)),
        ]
        try:
            h = self.node_vectors(x, edge_index, edge_attr)
        finally:
            for hook in hooks:
                hook.remove()
        degree = segment.count(edge_index[1], h.size(0)) + 1
        return h, messages[0], own[0] / degree.unsqueeze(1)

    @torch.no_grad()
    def last_norm(self) -> tuple[Tensor, Tensor]:
        """Factor and shift [d] of the last batch norm, an affine map in evaluation."""
        norm = self.encoder.norms[-1]
        assert isinstance(norm, BatchNorm)
        factor = norm.weight * (norm.variance() + norm.eps).rsqrt()
        return factor, norm.bias - norm.running_mean * factor

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch_size: int = 1,
    ) -> Tensor:
        """Class scores, [B, C]."""
        batch = torch.zeros(x.size(0), dtype=torch.long) if batch is None else batch
        h = self.node_vectors(x, edge_index, edge_attr)
        return self.model.head(self.read(h, x, edge_index, batch, batch_size))

    def read(self, h: Tensor, x: Tensor, edge_index: Tensor, batch: Tensor, batch_size: int) -> Tensor:
        """Graph vectors, [B, d], from node vectors h."""
        if isinstance(self.model.encoder, Placed):
            h = torch.cat([h, self.model.encoder.places(Graphs.of(x, edge_index, batch, batch_size=batch_size))], dim=1)
        return self.model.read(Encoding(h, batch), batch_size).vectors
