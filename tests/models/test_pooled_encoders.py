"""SAGPool, Graph U-Net and DGCNN against the same weights in PyG's layers, which really remove nodes."""

import torch
from helpers.small_graphs import FEATURES, random_batch
from torch_geometric.nn import GCNConv, SortAggregation, global_max_pool, global_mean_pool
from torch_geometric.utils import subgraph

from ssread.aggregate import Sort
from ssread.models.dgcnn import DGCNN
from ssread.models.factory import make_model
from ssread.models.gunet import GraphUNet
from ssread.models.sagpool import SAGPool

SIZES = (6, 1, 9, 3)


def pygs(conv) -> GCNConv:
    layer = GCNConv(conv.lin.in_features, conv.lin.out_features).double()
    layer.load_state_dict(conv.state_dict())
    return layer


def best(scores: torch.Tensor, batch: torch.Tensor, ratio: float) -> torch.Tensor:
    """The nodes to keep, graph by graph, in ascending order."""
    kept = []
    for graph in batch.unique():
        nodes = (batch == graph).nonzero().squeeze(1)
        count = -(-round(ratio * 10) * len(nodes) // 10)
        kept.append(nodes[scores[nodes].argsort(descending=True)[:count]])
    return torch.cat(kept).sort().values


def test_sagpool_is_read_after_each_pooling():
    given, model = random_batch(SIZES), make_model("sagpool", FEATURES, 2, hidden_channels=8, readout="global").double()
    x, edges, batch, nodes = given.x, given.edge_index, given.batch, torch.arange(sum(SIZES))
    output, read = model.run(*given), 0
    heights = zip(output.encoding.x.chunk(3), output.encoding.batch.chunk(3), strict=True)
    for conv, pool, (ours, graph) in zip(model.encoder.convs, model.encoder.pools, heights, strict=True):
        x = pygs(conv)(x, edges).relu()
        scores = pygs(pool.gnn)(x, edges).squeeze(1)
        keep = best(scores, batch, 0.5)
        edges, _ = subgraph(keep, edges, relabel_nodes=True, num_nodes=len(x))
        x, batch, nodes = (x * scores.tanh().unsqueeze(1))[keep], batch[keep], nodes[keep]
        left = graph < len(SIZES)
        assert left.nonzero().squeeze(1).tolist() == nodes.tolist()
        torch.testing.assert_close(ours[left], x)
        assert graph[left].tolist() == batch.tolist()
        read = read + torch.cat([global_max_pool(x, batch), global_mean_pool(x, batch)], dim=1)
    torch.testing.assert_close(output.vectors, read)


def test_what_sagpools_gates_leave_is_next_to_nothing_at_the_start():
    """Which is why it is read after each of them: from the last alone it would never learn."""
    given, encoder = random_batch((30,) * 20, density=0.1), SAGPool(FEATURES)
    encoding = encoder.double()(*given)
    lengths = [
        x[graph < given.batch_size].norm(dim=1).mean()
        for x, graph in zip(encoding.x.chunk(3), encoding.batch.chunk(3), strict=True)
    ]
    assert lengths[1] < lengths[0] / 3
    assert lengths[2] < lengths[0] / 1000


def test_sagpool_is_aligned_after_each_pooling():
    given, model = random_batch(SIZES), make_model("sagpool", FEATURES, 2, hidden_channels=8).double()
    output = model.run(*given)
    costs = torch.zeros(len(SIZES) + 1, dtype=torch.float64)
    costs.index_add_(0, output.encoding.batch, output.reading.node_costs)
    torch.testing.assert_close(output.alignment_costs(), costs[:-1])


def test_gunet():
    given, encoder = random_batch(SIZES), GraphUNet(FEATURES, 8).double()
    x, edges, batch = given.x, given.edge_index, given.batch
    heights = []
    for conv, pool, ratio in zip(encoder.down, encoder.pools, (0.9, 0.8, 0.7), strict=True):
        x = pygs(conv)(x, edges).relu()
        scores = (x @ pool.weight.T / pool.weight.norm()).squeeze(1)
        keep = best(scores, batch, ratio)
        heights.append((x, edges, keep))
        edges, _ = subgraph(keep, edges, relabel_nodes=True, num_nodes=len(x))
        x, batch = (x * scores.tanh().unsqueeze(1))[keep], batch[keep]
    for number, (conv, (skip, edges, keep)) in enumerate(zip(encoder.up, reversed(heights), strict=True)):
        up = torch.zeros_like(skip)
        up[keep] = x
        x = pygs(conv)(skip + up, edges)
        x = x if number == 2 else x.relu()
    torch.testing.assert_close(encoder(*given).x, x)


def test_dgcnn_and_its_sort():
    given, encoder = random_batch(SIZES), DGCNN(FEATURES, 8).double()
    x, outputs = given.x, []
    for conv in encoder.convs:
        x = pygs(conv)(x, given.edge_index).tanh()
        outputs.append(x)
    expected = torch.cat(outputs, dim=1)
    encoding = encoder(*given)
    torch.testing.assert_close(encoding.x, expected)
    assert encoding.x.size(1) == 3 * 8 + 1 == encoder.out_channels
    ours = Sort(25, k=4).double().sort(encoding.x, given.batch, len(SIZES)).flatten(1)
    torch.testing.assert_close(ours, SortAggregation(k=4)(expected, given.batch))
