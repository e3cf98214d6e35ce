"""Whole models, lifted, by the fused kernels against the same by plain torch code."""

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed")

from ssread import kernels
from ssread.data import planted
from ssread.kernels.messages import _SumMessages
from ssread.train import Run, Training
from ssread.train.cohort import Cohort


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, where):
    """The kernels do the work on a CPU, too."""
    monkeypatch.setattr(kernels, "_DEVICES", {where})
    monkeypatch.setattr(kernels, "missing", lambda: None)
    monkeypatch.setattr(kernels, "_failure", None)


def losses_and_gradients(cohort: Cohort, ids: torch.Tensor) -> list[torch.Tensor]:
    cohort._optimizer.zero_grad()
    for name, buffer in cohort._buffers.items():
        if "running" in name or "tracked" in name:
            buffer.fill_(1)
    batch = cohort._graphs.padded_batch(ids, cohort._on_host.bounds(ids.cpu()))
    losses = cohort._losses_of(batch)
    losses.sum().backward()
    gradients = [p.grad.clone() for p in cohort.parameters.values()]
    return [losses.detach(), *gradients, *(buffer.clone() for buffer in cohort._buffers.values())]


@pytest.mark.parametrize(
    ("name", "aggr", "readout", "dataset"),
    [
        ("gcn", "sum", "ssread", "MUTAG"),
        ("gcn", "mean", "ssread", "planted"),
        ("gcn", "sum", "global", "one way"),
        ("gcn", "attention", "ssread", "planted"),
        ("gin", "mean", "ssread", "one way"),
        ("dgcnn", "sort", "ssread", "one way"),
        ("sagpool", "max", "ssread", "planted"),
    ],
)
def test_losses_gradients_and_statistics_agree(where, name, aggr, readout, dataset, monkeypatch, mutag):
    """On graphs with and without edge features, with edges in one direction only, with replicas that share nothing."""
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
    runs = [Run(arguments, seed=seed, fold=0) for seed in range(3)]
    ids = torch.stack([torch.randperm(len(graphs))[:6] for _ in runs]).to(where)
    ids[1, 4:] = -1
    cohort = Cohort(graphs, runs, Training(), where)
    cohort._objective.train()
    fused = losses_and_gradients(cohort, ids)
    monkeypatch.setattr(kernels, "_DEVICES", set())
    plain = losses_and_gradients(cohort, ids)
    for ours, twin in zip(fused, plain, strict=True):
        # By their length: rounding may put a single entry on the other side of a relu or of a maximum.
        assert (ours - twin).float().norm() <= 1e-2 * twin.float().norm() + 1e-4


def test_a_kernel_that_does_not_compile_is_done_without(where, monkeypatch):
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
    """Without the edges to nodes of a lower number."""
    from dataclasses import replace

    source, target = graphs.edge_index
    kept = source < target
    counts = torch.zeros(len(graphs), dtype=torch.long).index_add(
        0, torch.repeat_interleave(graphs.edge_ptr.diff())[kept], torch.ones(int(kept.sum()), dtype=torch.long)
    )
    pointer = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    return replace(graphs, edge_index=graphs.edge_index[:, kept], edge_ptr=pointer, undirected=False)
