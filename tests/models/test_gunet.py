"""Graph U-Net against the same weights in PyG's layers, which really remove nodes."""

import pytest
import torch
from helpers.pyg_layers import best_nodes, pyg_conv
from helpers.small_graphs import FEATURES, random_batch
from torch_geometric.utils import subgraph

from ssread import InputError
from ssread.models.gunet import GraphUNet


@pytest.mark.parametrize("ratios", [(0.9, 0.8, 0.7), (0.5,), (0.3, 1.0)])
def test_down_and_up_again_as_with_nodes_removed(ratios):
    given, encoder = random_batch((6, 1, 9, 3)), GraphUNet(FEATURES, 8, len(ratios), ratios).double()
    x, edges, batch = given.x, given.edge_index, given.batch
    levels = []
    for conv, pool, ratio in zip(encoder.down, encoder.pools, ratios, strict=True):
        x = pyg_conv(conv)(x, edges).relu()
        scores = (x @ pool.weight.T / pool.weight.norm()).squeeze(1)
        keep = best_nodes(scores, batch, ratio)
        levels.append((x, edges, keep))
        edges, _ = subgraph(keep, edges, relabel_nodes=True, num_nodes=len(x))
        x, batch = (x * scores.tanh().unsqueeze(1))[keep], batch[keep]
    for number, (conv, (skip, edges, keep)) in enumerate(zip(encoder.up, reversed(levels), strict=True), start=1):
        up = torch.zeros_like(skip)
        up[keep] = x
        x = pyg_conv(conv)(skip + up, edges)
        x = x if number == len(ratios) else x.relu()
    torch.testing.assert_close(encoder(*given).x, x)


def test_every_layer_needs_a_ratio_and_further_ones_are_ignored():
    assert len(GraphUNet(FEATURES, num_layers=2).pools) == 2
    with pytest.raises(InputError, match="gunet of 4 layers needs as many ratios, but 3 were given"):
        GraphUNet(FEATURES, num_layers=4)
