"""What surrounds the convolutions of GCN and GIN, tried with a convolution that is easy to follow."""

import pytest
import torch
from helpers.small_graphs import FEATURES, padded, random_batch
from torch import nn

from ssread.errors import InputError
from ssread.models.conv_stack import Stack


class AddEdges(nn.Module):
    """Adds the number of edges that enter a node, and remembers how it was built."""

    def __init__(self, channels: int, edge_channels: int):
        super().__init__()
        self.built_with = channels, edge_channels

    def forward(self, h, graphs, encoder=None):
        h = h if encoder is None else encoder(h)
        return h + torch.bincount(graphs.target, minlength=graphs.num_nodes).to(h.dtype).unsqueeze(1)


def build(num_layers: int = 3, jumping: bool = False, dropout: float = 0.0, last_dropout: bool = True) -> Stack:
    return Stack(AddEdges, FEATURES, 8, 2, num_layers, dropout, jumping, last_dropout).double()


def by_hand(stack: Stack, batch) -> list[torch.Tensor]:
    """The output of every layer with torch's batch norm."""
    degree = torch.bincount(batch.edge_index[1], minlength=len(batch.x)).double().unsqueeze(1)
    h, outputs = nn.functional.linear(batch.x, stack.node_encoder.weight, stack.node_encoder.bias), []
    for layer, norm in enumerate(stack.norms, start=1):
        h = nn.functional.batch_norm(h + degree, None, None, norm.weight, norm.bias, training=True)
        h = h.relu() if layer < len(stack.norms) else h
        outputs.append(h)
    return outputs


@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("jumping", [False, True])
def test_layers_follow_each_other_and_the_last_has_no_relu(num_layers, jumping):
    batch, stack = random_batch(), build(num_layers, jumping)
    outputs = by_hand(stack, batch)
    expected = torch.cat(outputs, dim=1) if jumping else outputs[-1]
    encoding = stack(*batch)
    torch.testing.assert_close(encoding.x, expected)
    assert (encoding.x < 0).any()
    assert torch.equal(encoding.batch, batch.batch)
    assert stack.out_channels == encoding.x.size(1) == 8 * (num_layers if jumping else 1)
    assert [conv.built_with for conv in stack.convs] == [(8, 2)] * num_layers


@pytest.mark.parametrize("num_layers", [0, -1])
def test_a_stack_without_layers_is_refused(num_layers):
    with pytest.raises(InputError, match=f"num_layers must be 1 or more, but {num_layers} was given"):
        build(num_layers)


def test_padding_does_not_count_in_the_statistics():
    batch, stack = random_batch(), build()
    filled = padded(batch, nodes=30, edges=batch.edge_index.size(1) + 7)
    torch.testing.assert_close(stack(*filled).x[: len(batch.x)], stack(*batch).x)


def test_dropout_follows_every_layer():
    stack = build(num_layers=1, dropout=0.5)
    share = (stack(*random_batch((200,), density=0.0)).x == 0).double().mean()
    assert 0.4 < share < 0.6
    assert (stack.eval()(*random_batch((200,), density=0.0)).x != 0).all()
    whole = build(num_layers=1, dropout=0.5, last_dropout=False)
    assert (whole(*random_batch((200,), density=0.0)).x != 0).all(), "the last layer's vectors stay whole where asked"
