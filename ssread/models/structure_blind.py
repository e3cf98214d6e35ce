"""A baseline that ignores the edges; a graph classifier must beat it to show that structure matters."""

from torch import nn

from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.layers import Dropout, WarmBatchNorm

__all__ = ["StructureBlind"]


class StructureBlind(Encoder):
    """An MLP on every node's own features, as in `"A Fair Comparison of Graph Neural Networks for Graph Classification"
    <https://arxiv.org/abs/1912.09893>`_.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of the node vectors.
        num_layers: Number of linear layers.
        dropout: Share of entries dropped after each layer.
        last_dropout: Whether dropout follows the last layer, too.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        num_layers: int = 2,
        dropout: float = 0.5,
        last_dropout: bool = True,
    ):
        super().__init__(in_channels, hidden_channels)
        inputs = [in_channels] + [hidden_channels] * (num_layers - 1)
        self.layers = nn.ModuleList(nn.Linear(width, hidden_channels) for width in inputs)
        self.norms = nn.ModuleList(WarmBatchNorm(hidden_channels) for _ in inputs)
        self.dropout, self.last_dropout = Dropout(dropout), last_dropout

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        h = graphs.x
        for number, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True), start=1):
            h = norm(layer(h), graphs.mask).relu()
            h = self.dropout(h) if number < len(self.layers) or self.last_dropout else h
        return Encoding(h, graphs.batch)
