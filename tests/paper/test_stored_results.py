import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from helpers.paper_runs import imagined
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate import Cell, Store, compare
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.protocol import compare_readouts
from ssread.evaluate.runners import CPURunner
from ssread.paper.stored_results import MissingCell, StoredResults
from ssread.train import Training

QUESTION = Experiment(("gcn", "gin"), ("sum", "max"), folds=2, seeds=3)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    with Store(tmp_path_factory.mktemp("evidence") / "results.sqlite") as store:
        return imagined(store, QUESTION)


def test_says_what_the_protocol_says_when_nothing_is_missing(tmp_path) -> None:
    graphs = load("planted", num_graphs=36, seed=2)
    training = Training(epochs=1, patience=1, batch_size=16)
    experiment = Experiment(("gcn",), ("sum", "max"), folds=2, seeds=2, training=training, model={"hidden_channels": 8})
    with Store(tmp_path / "results.sqlite") as store:
        report = compare_readouts(graphs, experiment, CPURunner(1), store)
        evidence = StoredResults(store.table(), "planted", experiment)
        assert evidence.cells() == report.cells
        assert evidence.progress() == (len(store), len(store))
        assert sorted(evidence.used()["key"]) == sorted(store.table()["key"])


def oracle(rows: pd.DataFrame) -> tuple[int | None, dict]:
    """The same from a loop over plain dictionaries: K, and the scores of every cell by seed."""
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
            cells[arch, aggr] = [[[scores[g][s, f][1] for f in range(2)] for s in both] for g in pair]
    return best, cells


@given(st.randoms(use_true_random=False), st.floats(0.5, 1))
def test_counts_the_seeds_that_are_whole(everything: pd.DataFrame, random, share: float) -> None:
    rows = everything[[random.random() < share for _ in range(len(everything))]]
    rows = rows.sample(frac=1, random_state=random.randrange(100))
    evidence = StoredResults(rows, "MUTAG", QUESTION)
    best, cells = oracle(rows)
    assert evidence.positions == best
    for cell in evidence.cells():
        expected = cells.get((cell.arch, cell.aggr))
        if expected is None:
            assert isinstance(cell, MissingCell)
            assert 0 <= cell.done < cell.total == 12
        else:
            assert isinstance(cell, Cell)
            assert cell.comparison == compare(*expected)
    done, total = evidence.progress()
    assert done == len(evidence.used()) <= total == (4 + 4 + 3) * 6


def test_other_trainings_do_not_count(everything: pd.DataFrame) -> None:
    there = StoredResults(everything, "MUTAG", QUESTION).progress()
    assert StoredResults(everything, "NCI1", QUESTION).progress()[0] == 0
    assert StoredResults(everything.assign(selection="by test accuracy"), "MUTAG", QUESTION).progress()[0] == 0
    longer = dataclasses.replace(QUESTION, training=Training(epochs=7))
    assert StoredResults(everything, "MUTAG", longer).progress()[0] == 0
    namesake = everything.head(20).assign(fingerprint="1" * 64, test_accuracy=0.0)
    both = pd.concat([namesake, everything])
    assert StoredResults(both, "MUTAG", QUESTION).progress() == there
    assert "1" * 64 not in set(StoredResults(both, "MUTAG", QUESTION).used()["fingerprint"])


def test_of_two_results_for_a_training_the_first_counts(everything: pd.DataFrame) -> None:
    twice = pd.concat([everything, everything.assign(test_accuracy=0.0, valid_accuracy=0.0)])
    assert StoredResults(twice, "MUTAG", QUESTION).cells() == StoredResults(everything, "MUTAG", QUESTION).cells()


def test_settings_that_came_later_have_their_defaults_in_older_rows(everything: pd.DataFrame) -> None:
    def without_patience(text: str) -> str:
        settings = json.loads(text)
        del settings["patience"]
        return json.dumps(settings)

    older = everything.assign(training=everything["training"].map(without_patience))
    assert StoredResults(older, "MUTAG", QUESTION).cells() == StoredResults(everything, "MUTAG", QUESTION).cells()


def test_a_training_that_failed_is_there_but_has_no_score(everything: pd.DataFrame) -> None:
    failed = everything.assign(
        test_accuracy=everything["test_accuracy"].where((everything["seed"] != 0) | (everything["fold"] != 0))
    )
    cell = StoredResults(failed, "MUTAG", QUESTION).cells()[0]
    assert isinstance(cell, Cell)
    assert cell.comparison.baseline.failed == 1
    assert cell.comparison.pairs == 5


@pytest.mark.parametrize("text", ["not JSON", "[1]", '{"epochs":'])
def test_damaged_settings_get_a_sentence(everything: pd.DataFrame, text: str) -> None:
    with pytest.raises(InputError, match="settings that are no JSON"):
        StoredResults(everything.assign(training=text), "MUTAG", QUESTION)
