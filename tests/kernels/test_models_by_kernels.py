"""Stacks of whole models with the fused kernels against plain torch code."""

from dataclasses import replace

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed")

from ssread import kernels
from ssread.data import GraphSet, planted
from ssread.kernels.messages import _SumMessages
from ssread.train import Run, Training
from ssread.train.cohort import Cohort


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, where):
    """The kernels are used on a CPU, too."""
    monkeypatch.setattr(kernels, "_DEVICES", {where})
    monkeypatch.setattr(kernels, "missing", lambda: None)
    monkeypatch.setattr(kernels, "_failure", None)


def one_step(graphs: GraphSet, arguments: dict, plan: torch.Tensor, where: str) -> list[torch.Tensor]:
    """The losses, gradients and running statistics of two models after one training step."""
    cohort = Cohort(graphs, [Run(arguments, seed=seed, fold=0) for seed in range(2)], Training(), where)
    losses = cohort.train_epoch(plan)
    gradients = [parameter.grad for parameter in cohort.parameters.values()]
    return [losses, *gradients, *(value for name, value in cohort.state().items() if "running" in name)]


@pytest.mark.parametrize(
    ("name", "aggr", "readout", "dataset"),
    [
        ("gcn", "sum", "ssread", "MUTAG"),
        ("gcn", "mean", "ssread", "planted"),
        ("gcn", "sum", "global", "one way"),
        ("gcn", "attention", "ssread", "planted"),
        ("gin", "mean", "ssread", "one way"),
        ("dgcnn", "sort", "ssread", "one way"),
        ("sagpool", ["max", "mean"], "ssread", "planted"),
        ("sagpool", "sum", "global", "one way"),
        ("gunet", ["sum", "max", "mean"], "ssread", "one way"),
        ("diffpool", "max", "ssread", "planted"),
    ],
)
def test_losses_gradients_and_statistics_agree(where, name, aggr, readout, dataset, monkeypatch, mutag):
    """On graphs with and without edge features, with edges in one direction only, with different graphs per model."""
    graphs = mutag if dataset == "MUTAG" else planted(40, nodes=14, seed=1, feature_noise=1.0)
    if dataset == "one way":
        graphs = one_way(graphs)
    arguments = {
        "name": name,
        "readout": readout,
        "aggr": aggr,
        "num_positions": 3,
        "hidden_channels": 8,
        "dropout": 0.0,
    }
    torch.manual_seed(0)
    plan = torch.stack([torch.randperm(len(graphs))[:5] for _ in range(2)]).unsqueeze(0)
    plan[0, 1, 3:] = -1
    fused = one_step(graphs, arguments, plan, where)
    monkeypatch.setattr(kernels, "_DEVICES", set())
    plain = one_step(graphs, arguments, plan, where)
    for ours, theirs in zip(fused, plain, strict=True):
        # Norms are compared because rounding may put a single entry on the other side of a relu or of a maximum.
        assert (ours - theirs).norm() <= 1e-2 * theirs.norm() + 1e-4


def test_without_a_compiler_that_works_plain_torch_is_used(where, monkeypatch):
    graphs = planted(20, nodes=14, seed=1)
    model = {"name": "gcn", "hidden_channels": 8, "num_positions": 2, "dropout": 0.0}
    plan = torch.arange(20).view(2, 1, 10)

    def fails(*_):
        raise RuntimeError("PassManager::run failed")

    said: list[str] = []
    cohort = Cohort(graphs, [Run(model, 0, 0)], Training(), where, said.append)
    monkeypatch.setattr(_SumMessages, "forward", fails)
    losses = cohort.train_epoch(plan)
    assert said == ["Triton cannot compile the fused kernels here: plain torch code does their work, more slowly."]
    assert not kernels.usable(torch.zeros(1, 8, device=where))
    plain = Cohort(graphs, [Run(model, 0, 0)], Training(), where).train_epoch(plan)
    torch.testing.assert_close(losses, plain)


def one_way(graphs):
    """Returns the graphs without the edges to nodes of a lower number."""
    source, target = graphs.edge_index
    kept = source < target
    counts = torch.zeros(len(graphs), dtype=torch.long).index_add(
        0, torch.repeat_interleave(graphs.edge_ptr.diff())[kept], torch.ones(int(kept.sum()), dtype=torch.long)
    )
    pointer = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    return replace(graphs, edge_index=graphs.edge_index[:, kept], edge_ptr=pointer, undirected=False)
