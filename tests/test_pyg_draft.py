"""The draft of a pull request to PyG: its test passes, its example runs, and its layer computes what ours does."""

import importlib.util
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch_geometric.nn
from torch_geometric.datasets import TUDataset

from ssread import SSRead

DRAFT = Path(__file__).parents[1] / "docs" / "pyg"


def imported(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, DRAFT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def layer(monkeypatch):
    """The class of the draft, where PyG would have it."""
    layer = imported("torch_geometric/nn/aggr/ssread.py").SSReadAggregation
    monkeypatch.setattr(torch_geometric.nn, "SSReadAggregation", layer, raising=False)
    return layer


def test_its_test_passes(layer):
    path = DRAFT / "test/nn/aggr/test_ssread.py"
    assert pytest.main(["-q", "-p", "no:cacheprovider", "--import-mode=importlib", str(path)]) == 0


@pytest.mark.parametrize("aggr", ["sum", "mean", "max"])
def test_it_computes_what_our_layer_does(layer, aggr):
    ours = SSRead(8, num_positions=3, aggr=aggr).double()
    theirs = layer(8, num_positions=3, aggr=aggr).double()
    theirs.prototypes.data.copy_(ours.prototypes)
    x, index = torch.randn(20, 8, dtype=torch.float64), torch.randint(5, (20,))
    reading = ours.read(x, index, dim_size=6)
    out, loss = theirs(x, index, dim_size=6, return_alignment_loss=True)
    torch.testing.assert_close(out, reading.vectors)
    torch.testing.assert_close(loss, reading.alignment_loss())
    assert torch.equal(theirs.align(x), reading.positions)


def test_its_example_runs(layer, mirror, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(TUDataset, "url", mirror.as_uri())
    words = ["ssread.py", "--root", str(tmp_path), "--epochs", "2", "--hidden_channels", "8"]
    monkeypatch.setattr(sys, "argv", words)
    runpy.run_path(str(DRAFT / "examples/ssread.py"), run_name="__main__")
    assert "Test: " in capsys.readouterr().out
