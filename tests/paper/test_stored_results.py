"""Results of experiments from stored trainings, against a slow loop over plain dictionaries."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from helpers.paper_runs import random_trainings
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate import Cell, Store, compare
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.protocol import compare_readouts
from ssread.evaluate.runners import CPURunner
from ssread.paper.stored_results import MissingCell, StoredResults, all_results
from ssread.train import Training

EXPERIMENT = Experiment(("gcn", "gin"), ("sum", "max"), folds=2, seeds=3)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    with Store(tmp_path_factory.mktemp("stored") / "results.sqlite") as store:
        return random_trainings(store, EXPERIMENT)


def test_cells_are_those_of_the_protocol_when_nothing_is_missing(tmp_path) -> None:
    graphs = load("planted", num_graphs=36, seed=2)
    training = Training(epochs=1, patience=1, batch_size=16)
    experiment = Experiment(("gcn",), ("sum", "max"), folds=2, seeds=2, training=training, model={"hidden_channels": 8})
    with Store(tmp_path / "results.sqlite") as store:
        report = compare_readouts(graphs, experiment, CPURunner(1), store)
        results = StoredResults(store.table(), "planted", experiment)
        assert results.cells() == report.cells
        assert results.progress() == (len(store), len(store))
        assert sorted(results.used()["key"]) == sorted(store.table()["key"])


def oracle(rows: pd.DataFrame) -> tuple[int | None, dict]:
    """The same from a loop over plain dictionaries: K, and the scores of every cell by seed, NaN for those left out."""
    scores: dict[tuple, dict[tuple, tuple]] = {}
    for row in rows.to_dict("records"):
        readout = row["num_positions"] if row["readout"] == "ssread" else None
        group = scores.setdefault((row["arch"], row["aggr"], readout), {})
        group[row["seed"], row["fold"]] = (row["valid_accuracy"], row["test_accuracy"])

    def seeds(*groups: tuple) -> list[int]:
        return [s for s in range(3) if all((s, f) in scores.get(g, {}) for g in groups for f in range(2))]

    candidates = [("gcn", "sum", k) for k in POSITIONS]
    common = seeds(*candidates)
    if not common:
        return None, {}
    means = [np.mean([scores[g][s, f][0] for s in common for f in range(2)]) for g in candidates]
    best = POSITIONS[int(np.argmax(means))]
    cells = {}
    for arch, aggr in ((a, b) for a in ("gcn", "gin") for b in ("sum", "max")):
        pair = [(arch, aggr, None), (arch, aggr, best)]
        if both := seeds(*pair):
            known = [[[scores[g][s, f][1] if s in both else np.nan for f in range(2)] for s in range(3)] for g in pair]
            cells[arch, aggr] = np.array(known)
    return best, cells


@given(st.randoms(use_true_random=False), st.floats(0.5, 1))
def test_a_seed_counts_once_all_its_folds_are_trained(everything: pd.DataFrame, random, share: float) -> None:
    rows = everything[[random.random() < share for _ in range(len(everything))]]
    rows = rows.sample(frac=1, random_state=random.randrange(100))
    results = StoredResults(rows, "MUTAG", EXPERIMENT)
    best, cells = oracle(rows)
    assert results.positions == best
    for cell in results.cells():
        expected = cells.get((cell.arch, cell.aggr))
        if expected is None:
            assert isinstance(cell, MissingCell)
            assert 0 <= cell.done < cell.total == 12
        else:
            assert isinstance(cell, Cell)
            np.testing.assert_array_equal(cell.comparison.scores, expected)
            assert cell.comparison == compare(*expected[:, np.isfinite(expected).all(axis=(0, 2))])
    done, total = results.progress()
    assert done == len(results.used()) <= total == (4 + 4 + 3) * 6


def test_other_trainings_do_not_count(everything: pd.DataFrame) -> None:
    expected = StoredResults(everything, "MUTAG", EXPERIMENT).progress()
    assert StoredResults(everything, "NCI1", EXPERIMENT).progress()[0] == 0
    assert StoredResults(everything.assign(selection="by test accuracy"), "MUTAG", EXPERIMENT).progress()[0] == 0
    longer = dataclasses.replace(EXPERIMENT, training=Training(epochs=7))
    assert StoredResults(everything, "MUTAG", longer).progress()[0] == 0
    namesake = everything.head(20).assign(fingerprint="1" * 64, test_accuracy=0.0)
    both = pd.concat([namesake, everything])
    assert StoredResults(both, "MUTAG", EXPERIMENT).progress() == expected
    assert "1" * 64 not in set(StoredResults(both, "MUTAG", EXPERIMENT).used()["fingerprint"])


def test_of_two_results_for_a_training_the_first_counts(everything: pd.DataFrame) -> None:
    twice = pd.concat([everything, everything.assign(test_accuracy=0.0, valid_accuracy=0.0)])
    assert StoredResults(twice, "MUTAG", EXPERIMENT).cells() == StoredResults(everything, "MUTAG", EXPERIMENT).cells()


def test_settings_that_were_added_later_have_their_defaults_in_older_rows(everything: pd.DataFrame) -> None:
    def without_patience(text: str) -> str:
        settings = json.loads(text)
        del settings["patience"]
        return json.dumps(settings)

    older = everything.assign(training=everything["training"].map(without_patience))
    assert StoredResults(older, "MUTAG", EXPERIMENT).cells() == StoredResults(everything, "MUTAG", EXPERIMENT).cells()


def test_a_failed_training_is_done_but_has_no_score(everything: pd.DataFrame) -> None:
    failed = everything.assign(
        test_accuracy=everything["test_accuracy"].where((everything["seed"] != 0) | (everything["fold"] != 0))
    )
    cell = StoredResults(failed, "MUTAG", EXPERIMENT).cells()[0]
    assert isinstance(cell, Cell)
    assert cell.comparison.baseline.failed == 1
    assert cell.comparison.pairs == 5


@pytest.mark.parametrize("text", ["not JSON", "[1]", '{"epochs":'])
def test_damaged_settings_get_a_sentence(everything: pd.DataFrame, text: str) -> None:
    with pytest.raises(InputError, match="The column training of a results file"):
        StoredResults(everything.assign(training=text), "MUTAG", EXPERIMENT)


def test_dropout_is_chosen_by_validation_accuracy(everything: pd.DataFrame, tmp_path) -> None:
    auto = dataclasses.replace(EXPERIMENT, dropout="auto")
    with Store(tmp_path / "results.sqlite") as store:
        rows = random_trainings(store, auto)
    assert not StoredResults(everything, "MUTAG", auto).dropout_chosen, "no training without dropout yet"
    results = StoredResults(rows, "MUTAG", auto)
    base = rows[(rows["arch"] == "gcn") & (rows["aggr"] == "sum") & (rows["readout"] == "global")]
    means = base.groupby(base["run"].str.contains("dropout"))["valid_accuracy"].mean()
    assert results.dropout_chosen
    assert results.experiment.dropout == (0.0 if means[True] > means[False] else None)


def test_all_results_are_those_of_every_experiment_on_every_dataset(everything: pd.DataFrame) -> None:
    other = dataclasses.replace(EXPERIMENT, arch=("gin",))
    results = all_results(everything, ["MUTAG", "NCI1"], [EXPERIMENT, other])
    assert [(result.dataset, result.experiment.arch) for result in results] == [
        (dataset, arch) for dataset in ("MUTAG", "NCI1") for arch in (("gcn", "gin"), ("gin",))
    ]
