"""Features of whole graphs, which join the scores that the graph vectors get."""

import torch
from torch import Tensor, nn

from ssread.models.layers import Dropout

__all__ = ["GraphFeatures", "center_and_spread"]

#: Standardised features are cut off here: one wild value must not decide a prediction.
LARGEST = 5.0


class GraphFeatures(nn.Module):
    """What features of whole graphs (descriptors, measurements) contribute to every score: an MLP of one hidden layer.

    The contribution is added to the scores of the graph vectors. With a linear head a score thus stays a sum over nodes
    plus a bias plus this term. Features are standardised by constants that come from the training part; what is not
    known counts as the mean, and what is further than :data:`LARGEST` standard deviations from it is cut off there.

    Args:
        channels: Number of features.
        num_outputs: Number of scores.
        hidden_channels: Width of the hidden layer.
        dropout: Share of its entries dropped in training.
    """

    center: Tensor
    spread: Tensor
    unit: Tensor

    def __init__(self, channels: int, num_outputs: int, hidden_channels: int, dropout: float = 0.0):
        super().__init__()
        self.channels = channels
        self.register_buffer("center", torch.zeros(channels))
        self.register_buffer("spread", torch.ones(channels))
        self.register_buffer("unit", torch.ones(num_outputs))
        self.hidden = nn.Linear(channels, hidden_channels)
        self.dropout = Dropout(dropout)
        self.out = nn.Linear(hidden_channels, num_outputs, bias=False)  # the head has one

    def standardised(self, values: Tensor) -> Tensor:
        """Returns features [B, channels] as the MLP sees them."""
        scaled = ((values - self.center) / self.spread).clamp(-LARGEST, LARGEST)
        return torch.where(scaled.isnan(), 0.0, scaled)

    def forward(self, values: Tensor) -> Tensor:
        """Returns the contribution to every score, [B, num_outputs], in the unit of what is predicted."""
        hidden = self.dropout(self.hidden(self.standardised(values)).relu())
        return self.out(hidden) * self.unit


def center_and_spread(values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the mean and the standard deviation of every feature, NaN left out.

    Columns of nothing but 0 and 1 stay as they are: a bit that is rarely set would become very large. So do columns of
    one value, or of none, but for their mean.

    >>> center_and_spread(torch.tensor([[1.0, 0.0], [3.0, 1.0], [torch.nan, 1.0]]))
    (tensor([2., 0.]), tensor([1., 1.]))
    """
    known = values.double()
    center = known.nanmean(dim=0).nan_to_num()
    spread = (known - center).square().nanmean(dim=0).sqrt().nan_to_num()
    binary = ((known == 0) | (known == 1) | known.isnan()).all(dim=0)
    center = torch.where(binary, 0.0, center)
    spread = torch.where(binary | (spread <= 1e-9 * center.abs()), 1.0, spread)
    return center.to(values.dtype), spread.to(values.dtype)
