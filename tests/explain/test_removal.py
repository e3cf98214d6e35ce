"""Occlusion against a loop over nodes."""

import torch

from ssread.data import planted
from ssread.explain import removal
from ssread.explain.measures import induced_subgraphs
from ssread.explain.removal import occlusion
from ssread.models import model_for

GRAPHS = planted(4, seed=2)


def test_every_node_is_removed_once_in_any_number_of_passes(monkeypatch):
    model = model_for(GRAPHS, "gcn", hidden_channels=16).eval()

    def score(graphs, target):
        return model(graphs.batch(range(len(graphs)))).gather(1, target.unsqueeze(1)).squeeze(1)

    once = occlusion(GRAPHS, GRAPHS.y, score)
    monkeypatch.setattr(removal, "NODES_PER_PASS", 100)
    assert torch.allclose(once, occlusion(GRAPHS, GRAPHS.y, score), atol=1e-5)
    expected = []
    for number in range(len(GRAPHS)):
        graph = GRAPHS[[number]]
        for node in range(graph.x.size(0)):
            rest = induced_subgraphs(graph, torch.arange(graph.x.size(0)) != node)
            expected.append(score(graph, graph.y) - score(rest, graph.y))
    assert torch.allclose(once, torch.cat(expected), atol=1e-5)
    assert occlusion(GRAPHS[:0], GRAPHS.y[:0], score).shape == (0,)
