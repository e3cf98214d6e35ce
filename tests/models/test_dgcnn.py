"""DGCNN against the same weights in PyG's layers."""

import pytest
import torch
from helpers.pyg_layers import pyg_conv
from helpers.small_graphs import FEATURES, random_batch
from torch_geometric.nn import SortAggregation

from ssread import InputError
from ssread.aggregate import Sort
from ssread.models.dgcnn import DGCNN

SIZES = (6, 1, 9, 3)


@pytest.mark.parametrize("num_layers", [2, 4])
def test_node_vectors_are_the_outputs_of_all_layers_and_the_last_channel_sorts(num_layers):
    given, encoder = random_batch(SIZES), DGCNN(FEATURES, 8, num_layers).double()
    x, outputs = given.x, []
    for conv in encoder.convs:
        x = pyg_conv(conv)(x, given.edge_index).tanh()
        outputs.append(x)
    expected = torch.cat(outputs, dim=1)
    encoding = encoder(*given)
    torch.testing.assert_close(encoding.x, expected)
    width = 8 * (num_layers - 1) + 1
    assert encoding.x.size(1) == width == encoder.out_channels
    ours = Sort(width, k=4).double().sort(encoding.x, given.batch, len(SIZES)).flatten(1)
    torch.testing.assert_close(ours, SortAggregation(k=4)(expected, given.batch))


def test_a_single_layer_is_refused():
    with pytest.raises(InputError, match="dgcnn needs 2 layers or more"):
        DGCNN(FEATURES, num_layers=1)
