"""The page of a comparison: the model on it is the one that was compared, or a note says that it is not."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from helpers.pages import page_data

from ssread.data import planted
from ssread.evaluate import Report, Store
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.keys import identify, run_key
from ssread.evaluate.metrics import score
from ssread.evaluate.protocol import compare_readouts, trainings
from ssread.report.comparison_page import write_comparison_page
from ssread.train import RunResult, Training, train

GRAPHS = planted(30, nodes=13, seed=1)
EXPERIMENT = Experiment(
    positions=2, folds=2, seeds=1, training=Training(epochs=3, batch_size=16), model={"hidden_channels": 8}
)
SHOWN, OTHER = trainings(EXPERIMENT, "gcn", "sum", 2)


class InProcess:
    """A runner without worker processes."""

    device = "cpu"

    def train(self, graphs, runs, training):
        yield from train(graphs, runs, training)


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> tuple[Report, Store]:
    store = Store(tmp_path_factory.mktemp("compared") / "results.sqlite")
    return compare_readouts(GRAPHS, EXPERIMENT, InProcess(), store), store


@pytest.fixture
def page_with(compared, tmp_path) -> Callable[..., dict]:
    """The data of a page from the compared results, some of which ``alter`` changes (None leaves one out)."""

    def write(alter: Callable[[RunResult], RunResult | None] = lambda result: result) -> dict:
        report, store = compared
        altered = Store(tmp_path / "altered.sqlite")
        for result in store.results(store.table()["key"]).values():
            if (kept := alter(result)) is not None:
                altered.add(identify(GRAPHS), kept, EXPERIMENT.training, "cpu")
        path = write_comparison_page(tmp_path / "page.html", GRAPHS, EXPERIMENT, report, altered)
        return page_data(path.read_text())

    return write


def test_the_model_on_the_page_is_the_one_that_was_compared(compared, page_with):
    report, store = compared
    data = page_with()
    assert data["comparison"]["cells"] == report.as_dict()["cells"]
    assert [curve["runs"] for curve in data["curves"]] == [2, 2]
    assert data["settings"]["trained with"] == "seed 0, fold 0 of 2"
    table = store.table().query("readout == 'ssread' and fold == 0")
    assert data["explained"]["success"]["test"] == [f"accuracy {100 * table['test_accuracy'].item():.1f} %"]
    assert data["explained"]["notes"] == []


def test_parts_are_those_of_the_training(compared, page_with):
    data = page_with()
    assert data["explained"]["parts"] == ["training", "validation", "test"]
    (result,) = compared[1].results([run_key(identify(GRAPHS), SHOWN, EXPERIMENT.training)]).values()
    parts = np.array([record["part"] for record in data["explained"]["graphs"]])
    assert np.flatnonzero(parts == 2).tolist() == sorted(result.test_ids.tolist())


NOTHING_BUT_CLASS_0 = np.eye(2, dtype=np.float32)[[0] * 15]
FAILED = {"failed": "the loss was not a number", "test_predictions": np.full((15, 2), np.nan, dtype=np.float32)}


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({"best_epoch": 99}, r"accuracy of \d+\.\d % \(epoch 99\) in the results file"),
        ({"test_predictions": NOTHING_BUT_CLASS_0}, r"accuracy of (46\.7|53\.3) % \(epoch \d\) in the results file"),
        (FAILED, r"a failed training \(the loss was not a number\) in the results file"),
    ],
    ids=["another epoch", "other probabilities", "a failed training"],
)
def test_a_note_says_that_the_model_is_not_the_one_that_was_compared(page_with, change, stored):
    data = page_with(lambda result: replace(result, **change) if result.run == SHOWN else result)
    (note,) = data["explained"]["notes"]
    assert note.startswith("The model on this page was trained again and is not exactly the one that was compared")
    assert re.search(stored, note)


def test_other_results_lead_to_no_note(page_with):
    data = page_with(lambda result: replace(result, best_epoch=99) if result.run == OTHER else result)
    assert data["explained"]["notes"] == []


def test_a_result_that_is_missing_leads_to_no_note(page_with):
    data = page_with(lambda result: None if result.run == SHOWN else result)
    assert data["explained"]["notes"] == []
    assert [curve["runs"] for curve in data["curves"]] == [2, 1]


@pytest.mark.parametrize("best_epoch", [None, 99])
def test_trainings_from_a_csv_file_have_no_curves_and_the_page_says_so(page_with, best_epoch):
    """The model is compared with the stored one by its epoch and accuracy."""

    def from_csv(result: RunResult) -> RunResult:
        if result.run.fold != SHOWN.fold:
            return result
        bare = replace(result, test_predictions=np.empty((0, 0)), curves={}, test_accuracy=score(result))
        return bare if best_epoch is None else replace(bare, best_epoch=best_epoch)

    data = page_with(from_csv)
    assert [curve["runs"] for curve in data["curves"]] == [1, 1]
    assert data["settings"]["no learning curves"] == "of 2 trainings, which come from a CSV file"
    notes = data["explained"]["notes"]
    assert (notes == []) == (best_epoch is None)
    assert all("(epoch 99) in the results file" in note for note in notes)


def test_without_any_curves_the_page_has_none(page_with):
    data = page_with(lambda result: replace(result, test_accuracy=score(result)))
    assert data["curves"] == []
    assert data["settings"]["no learning curves"] == "of 4 trainings, which come from a CSV file"
    assert data["explained"]["notes"] == []


def test_without_a_model_the_page_still_has_the_verdict(compared, tmp_path):
    report, store = compared
    huge = replace(GRAPHS, x=GRAPHS.x * 1e38)  # the training fails: sums of these are infinite
    path = write_comparison_page(tmp_path / "page.html", huge, EXPERIMENT, report, store)
    data = page_data(path.read_text())
    assert data["explained"] is None
    assert data["comparison"]["cells"] == report.as_dict()["cells"]
    assert data["settings"]["no model"].startswith("The training of gcn failed")
