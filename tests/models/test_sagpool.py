"""SAGPool against the same weights in PyG's layers, which really remove nodes."""

import torch
from helpers.pyg_layers import best_nodes, pyg_conv
from helpers.small_graphs import FEATURES, build, random_batch
from torch_geometric.nn import global_max_pool, global_mean_pool
from torch_geometric.utils import subgraph

from ssread.models.factory import make_model
from ssread.models.sagpool import SAGPool

SIZES = (6, 1, 9, 3)


def test_the_readout_sums_over_all_poolings():
    given, model = random_batch(SIZES), build("sagpool", "global").double()
    x, edges, batch, nodes = given.x, given.edge_index, given.batch, torch.arange(sum(SIZES))
    output, read = model.run(*given), 0
    levels = zip(output.encoding.x.chunk(3), output.encoding.batch.chunk(3), strict=True)
    for conv, pool, (ours, graph) in zip(model.encoder.convs, model.encoder.pools, levels, strict=True):
        x = pyg_conv(conv)(x, edges).relu()
        scores = pyg_conv(pool.gnn)(x, edges).squeeze(1)
        keep = best_nodes(scores, batch, 0.5)
        edges, _ = subgraph(keep, edges, relabel_nodes=True, num_nodes=len(x))
        x, batch, nodes = (x * scores.tanh().unsqueeze(1))[keep], batch[keep], nodes[keep]
        left = graph < len(SIZES)
        assert left.nonzero().squeeze(1).tolist() == nodes.tolist()
        torch.testing.assert_close(ours[left], x)
        assert graph[left].tolist() == batch.tolist()
        read = read + torch.cat([global_max_pool(x, batch), global_mean_pool(x, batch)], dim=1)
    torch.testing.assert_close(output.vectors, read)


def test_the_alignment_cost_sums_over_all_poolings():
    given, model = random_batch(SIZES), make_model("sagpool", FEATURES, 2, hidden_channels=8).double()
    output = model.run(*given)
    costs = torch.zeros(len(SIZES) + 1, dtype=torch.float64)
    costs.index_add_(0, output.encoding.batch, output.reading.node_costs)
    torch.testing.assert_close(output.alignment_costs(), costs[:-1])


def test_vectors_after_three_gates_are_close_to_zero_before_training():
    """This is why every pooling is read out: from the last alone the model would never learn."""
    given, encoder = random_batch((30,) * 20, density=0.1), SAGPool(FEATURES)
    encoding = encoder.double()(*given)
    lengths = [
        x[graph < given.batch_size].norm(dim=1).mean()
        for x, graph in zip(encoding.x.chunk(3), encoding.batch.chunk(3), strict=True)
    ]
    assert lengths[1] < lengths[0] / 3
    assert lengths[2] < lengths[0] / 1000
