"""Measures of every method on the same graphs; what the truth itself would score."""

import pytest
import torch
from helpers.explained_models import trained, typed_graphs
from sklearn.metrics import roc_auc_score

from ssread.explain import rivals
from ssread.explain.localising import localise
from ssread.explain.rivals import Importance, Task


@pytest.fixture(scope="module")
def task() -> Task:
    model, graphs = trained()
    return Task(model, graphs[:6], graphs.y[:6], 0, typed_graphs()[:10])


def test_the_truth_finds_everything_and_its_opposite_nothing(task, monkeypatch):
    deciding = task.graphs.node_columns["deciding"].bool()
    monkeypatch.setitem(rivals.METHODS, "truth", lambda _: Importance(deciding.float()))
    monkeypatch.setitem(rivals.METHODS, "opposite", lambda _: Importance(-deciding.float()))
    scores = localise(task, deciding, ["truth", "opposite", "decomposition"])
    assert scores["truth"]["AUC"] == scores["truth"]["AP"] == scores["truth"]["bond AUC"] == 1
    assert scores["opposite"]["AUC"] == 0
    assert scores["truth"]["fidelity+"] > scores["opposite"]["fidelity+"]
    assert 0 <= scores["opposite"]["sufficiency"] <= scores["truth"]["sufficiency"] <= 1
    assert scores["decomposition"]["AUC"] > 0.9
    assert scores["decomposition"]["ms per graph"] > 0


def test_an_edge_counts_in_both_directions(task, monkeypatch):
    graphs = task.graphs[:1]
    one = Task(task.model, graphs, graphs.y, 0, task.training)
    deciding = graphs.node_columns["deciding"].bool()
    own = torch.rand(graphs.edge_index.size(1), generator=torch.Generator().manual_seed(0))
    monkeypatch.setitem(rivals.METHODS, "edges", lambda _: Importance(torch.zeros(graphs.x.size(0)), own))
    source, target = graphs.edge_index
    both = []
    for edge in range(len(source)):
        reverse = ((source == target[edge]) & (target == source[edge])).nonzero().item()
        both.append(float(own[edge] + own[reverse]) / 2)
    expected = roc_auc_score(deciding[source] & deciding[target], both)
    assert localise(one, deciding, ["edges"])["edges"]["bond AUC"] == pytest.approx(expected)
