"""benchmarks/molecules.py: what it keeps, that it repeats nothing, and the table of the documentation."""

import importlib
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.errors import InputError

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
try:
    figures = importlib.import_module("molecule_figures")
    molecules = importlib.import_module("molecules")
finally:
    sys.path.remove(str(ROOT / "benchmarks"))

WHAT = {"set": "a", "split": "random", "method": "forest", "settings": "trees, 3", "device": "cpu", "chosen": "none"}


@settings(max_examples=10)
@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_figures_are_read_again_and_their_mean_is_shown(values, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    kept = figures.Figures(folder)
    for seed, value in enumerate(values):
        assert not kept.has(method="forest", seed=seed)
        kept.add(WHAT | {"seed": seed}, "roc_auc", {"mean": value, "one label": 0.0}, 3.0)
    again = figures.Figures(folder)
    assert all(again.has(method="forest", settings="trees, 3", seed=seed) for seed in range(len(values)))
    assert not again.has(method="forest", seed=len(values))
    (row,) = again.table().splitlines()[2:]
    assert row.split(" | ")[5] == f"{pd.Series(values).round(5).mean():.3f}"
    assert row == kept.table().splitlines()[2]


def test_figures_of_other_machines_add_up(tmp_path):
    figures.Figures(tmp_path / "there").add(WHAT | {"seed": 0, "device": "cuda"}, "rmse", {"mean": 1.0}, 2.0)
    here = figures.Figures(tmp_path)
    here.add(WHAT | {"seed": 1}, "rmse", {"mean": 2.0}, 2.0)
    shutil.copy(tmp_path / "there" / "figures.csv", tmp_path / "gpu.csv")
    (row,) = figures.Figures(tmp_path).table().splitlines()[2:]
    assert "| 1.000, 2.000 | 1.500 | 0.500 | 2 (cpu, cuda) |" in row


def test_a_page_without_a_place_for_the_table_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    with pytest.raises(InputError, match="has no place for the table"):
        figures.write_table(figures.Figures(None), page)


def test_the_table_of_the_documentation_is_that_of_the_figures(tmp_path):
    page = Path(shutil.copy(ROOT / "docs" / "benchmarks.md", tmp_path))
    figures.write_table(figures.Figures(ROOT / "results" / "molecules"), page)
    assert page.read_text() == (ROOT / "docs" / "benchmarks.md").read_text()


def test_sets_are_saved_for_a_machine_without_rdkit_and_nothing_is_trained_twice(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rdkit")
    example = pd.read_csv(molecules.EXAMPLE).rename(columns={"mutagenic": "CT_TOX"})
    example.assign(FDA_APPROVED=example.CT_TOX).to_csv(tmp_path / "clintox.csv", index=False)
    monkeypatch.setattr(molecules, "FOLDER", tmp_path)
    sets, found = str(tmp_path / "sets"), str(tmp_path / "found")

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["molecules.py", "--datasets", "clintox", *options])
        molecules.main()
        return capsys.readouterr().out

    few = ["--limit", "80", "--seeds", "2", "--splits", "random"]
    run("--save", sets, *few)
    clintox = molecules.molecules("clintox", 80, quick=False)
    drawn = molecules.Splits.of(molecules.with_parts(clintox, "random", 2), "random")
    monkeypatch.setitem(sys.modules, "rdkit", None)
    saved = molecules.Splits.of(molecules.GraphSet.load(Path(sets) / "clintox.safetensors"), "random")
    assert saved.graphs.graph_attr is not None
    for one, other in zip(drawn.folds, saved.folds, strict=True):
        assert all(getattr(one, part).equal(getattr(other, part)) for part in ("train", "validation", "test"))
    train = ["--sets", sets, "--methods", "ssread", "--candidates", "2", "--members", "2", "--epochs", "1"]
    train += ["--seeds", "2", "--splits", "random", "--workers", "1", "--results", found]
    assert run(*train).count("trainings, the last in") == 2 * (2 + 1)
    first = (Path(found) / "figures.csv").read_text()
    assert "trainings" not in run(*train)
    assert (Path(found) / "figures.csv").read_text() == first
    (Path(found) / "figures.csv").unlink()
    assert "trainings, the last in" not in run(*train)  # the trainings were kept
    without_time = ["set", "split", "seed", "label", "value", "chosen"]
    again = pd.read_csv(Path(found) / "figures.csv")[without_time]
    (tmp_path / "first.csv").write_text(first)
    pd.testing.assert_frame_equal(again, pd.read_csv(tmp_path / "first.csv")[without_time])


def test_splits_trained_together_are_what_they_are_alone():
    pytest.importorskip("rdkit")
    graphs = molecules.molecules("esol", 60, quick=True)
    splits = molecules.Splits.of(molecules.with_parts(graphs, "random", 2), "random")
    options = molecules.argparse.Namespace(
        graph_features=None, epochs=1, candidates=2, members=2, results=None, device="cpu", workers=1
    )
    together = molecules.ours(splits, [0, 1], options)
    for seed in (0, 1):
        ((alone, chosen),) = molecules.ours(splits, [seed], options)
        assert chosen == together[seed][1]
        assert (alone == together[seed][0]).all()
