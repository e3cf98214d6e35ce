import dataclasses
import json

import numpy as np
import pytest

from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate import Store, export
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.protocol import compare_readouts
from ssread.train import Training, train

EXPERIMENT = Experiment(
    positions=2, folds=3, seeds=2, training=Training(epochs=2, patience=2, batch_size=16), model={"hidden_channels": 8}
)


class Counting:
    """Trains for real, and remembers what it was asked for."""

    device = "cpu"

    def __init__(self):
        self.asked, self.calls = [], 0

    def train(self, graphs, runs, training):
        self.calls += 1
        for run in runs:
            self.asked.append(run)
            yield train(graphs, [run], training)[0]


@pytest.fixture(scope="module")
def graphs():
    return load("planted", num_graphs=36, seed=2)


def test_both_readouts_are_trained_on_the_same_pairs_and_nothing_twice(graphs, tmp_path):
    runner, seen = Counting(), []
    with Store(tmp_path / "store.sqlite") as store:
        report = compare_readouts(graphs, EXPERIMENT, runner, store, lambda *args: seen.append(args))
        pairs = {readout: [] for readout in ("global", "ssread")}
        for run in runner.asked:
            pairs[run.model["readout"]].append((run.seed, run.fold))
        assert pairs["global"] == pairs["ssread"] == [(seed, fold) for seed in range(2) for fold in range(3)]
        assert [(done, total) for done, total, result in seen if result] == [(n, 12) for n in range(1, 13)]
        again = Counting()
        assert compare_readouts(graphs, EXPERIMENT, again, store).as_dict() == report.as_dict()
        assert again.asked == []
    (cell,) = report.cells
    assert (cell.dataset, cell.arch, cell.aggr, cell.num_positions) == ("planted", "gcn", "sum", 2)
    assert cell.comparison.pairs == 6


def test_positions_from_the_structure_are_for_ssread_alone_and_the_report_says_so(graphs, tmp_path):
    runner = Counting()
    experiment = dataclasses.replace(EXPERIMENT, position_hops=1, seeds=1)
    with Store(tmp_path / "store.sqlite") as store:
        report = compare_readouts(graphs, experiment, runner, store)
    for run in runner.asked:
        assert run.model.get("position_hops") == (1 if run.model["readout"] == "ssread" else None)
    assert "positions: from the structure within 1 hop;" in report.rule


def test_what_is_there_is_not_trained_again(graphs, tmp_path):
    """A job that died in the middle does only what is missing, and ends with the same table."""
    whole = compare_readouts(graphs, EXPERIMENT, Counting(), Store(tmp_path / "whole.sqlite"))

    class Dies(Counting):
        def train(self, graphs, runs, training):
            for count, result in enumerate(super().train(graphs, runs, training)):
                if count == 4:
                    raise KeyboardInterrupt
                yield result

    with Store(tmp_path / "parts.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            compare_readouts(graphs, EXPERIMENT, Dies(), store)
        assert len(store) == 4
        runner = Counting()
        assert compare_readouts(graphs, EXPERIMENT, runner, store).as_dict() == whole.as_dict()
        assert len(runner.asked) == 8


def test_trainings_from_a_csv_file_give_the_same_report_and_are_trained_again_for_another_metric(graphs, tmp_path):
    experiment = dataclasses.replace(EXPERIMENT, positions=None, dropout="auto", folds=2, seeds=1)
    with Store(tmp_path / "whole.sqlite") as whole, Store(tmp_path / "filled.sqlite") as filled:
        report = compare_readouts(graphs, experiment, Counting(), whole)
        export(whole, tmp_path / "runs.csv")
        filled.merge(tmp_path / "runs.csv")
        runner = Counting()
        assert compare_readouts(graphs, experiment, runner, filled).as_dict() == report.as_dict()
        assert runner.asked == []
        by_area = dataclasses.replace(experiment, metric="roc_auc")
        expected = compare_readouts(graphs, by_area, runner, whole).as_dict()
        assert runner.asked == []
        assert compare_readouts(graphs, by_area, runner, filled).as_dict() == expected
        assert len(runner.asked) == len(filled) == len(whole)


def test_positions_are_chosen_by_validation_accuracy_alone(graphs, tmp_path, monkeypatch):
    """Whatever the test accuracies, K is the best on validation; among equals the smaller."""
    accuracies = {2: 0.6, 4: 0.8, 8: 0.8, 16: 0.7}

    class Told(Counting):
        def train(self, graphs, runs, training):
            for result in super().train(graphs, runs, training):
                k = result.run.model.get("num_positions")
                # The test predictions speak for K = 16.
                probabilities = np.eye(2)[result.test_targets if k == 16 else 1 - result.test_targets]
                yield dataclasses.replace(
                    result, valid_accuracy=accuracies.get(k, 0.5), test_predictions=probabilities.astype(np.float32)
                )

    experiment = dataclasses.replace(EXPERIMENT, positions=None, arch=("gcn", "gin"), seeds=1)
    runner, seen = Told(), []
    with Store(tmp_path / "store.sqlite") as store:
        report = compare_readouts(graphs, experiment, runner, store, lambda *args: seen.append(args))
    assert [cell.num_positions for cell in report.cells] == [4, 4]
    tried = {run.model["num_positions"] for run in runner.asked if run.model["readout"] == "ssread"}
    assert tried == set(POSITIONS)
    assert len(runner.asked) == 3 * (1 + 1 + 4 + 1)  # both global, the candidates, gin with the chosen K
    assert seen[-1][:2] == (21, 21)
    assert all(total == 21 for _, total, _ in seen)
    assert "K: by mean validation accuracy of gcn + ssread(sum)" in report.rule


def test_once_k_can_be_chosen_both_readouts_are_trained_side_by_side(graphs, tmp_path):
    experiment = dataclasses.replace(EXPERIMENT, positions=None, seeds=1)
    with Store(tmp_path / "store.sqlite") as store:
        compare_readouts(graphs, experiment, Counting(), store)
        runner = Counting()
        compare_readouts(graphs, dataclasses.replace(experiment, arch=("gin",)), runner, store)
    assert runner.calls == 1
    assert {run.model["readout"] for run in runner.asked} == {"global", "ssread"}


def test_failed_trainings_are_left_out_and_said(graphs, tmp_path):
    class Fails(Counting):
        def train(self, graphs, runs, training):
            for result in super().train(graphs, runs, training):
                bad = result.run.fold == 1 and result.run.model["readout"] == "ssread"
                nothing = np.full_like(result.test_predictions, np.nan)
                yield dataclasses.replace(result, failed="nan", test_predictions=nothing) if bad else result

    with Store(tmp_path / "store.sqlite") as store:
        report = compare_readouts(graphs, EXPERIMENT, Fails(), store)
        assert report.cells[0].comparison.pairs == 4
        assert "2 of 12 trainings failed and are left out." in report.notes
        everywhere = dataclasses.replace(EXPERIMENT, positions=None, folds=2, seeds=1)

        class AllFail(Counting):
            def train(self, graphs, runs, training):
                for result in super().train(graphs, runs, training):
                    yield dataclasses.replace(result, failed="nan", valid_accuracy=np.nan)

        with pytest.raises(InputError, match="K cannot be chosen: every training of gcn \\+ sum failed"):
            compare_readouts(graphs, everywhere, AllFail(), store)


def test_what_cannot_be_compared_is_said_before_any_training(graphs, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        for change, sentence in (
            ({"positions": 500}, "500 positions are more than the .* nodes of the largest graph of planted"),
            ({"folds": 30}, "fewer than the 30 folds"),
        ):
            with pytest.raises(InputError, match=sentence):
                compare_readouts(graphs, dataclasses.replace(EXPERIMENT, **change), Counting(), store)
        assert len(store) == 0


def test_the_paper_stands_beside_its_own_datasets_and_metric_alone(graphs, mutag, tmp_path):
    experiment = dataclasses.replace(EXPERIMENT, folds=2, seeds=1, training=Training(epochs=1, patience=1))
    with Store(tmp_path / "store.sqlite") as store:
        (cell,) = compare_readouts(mutag, experiment, Counting(), store).cells
        assert (cell.paper_global.mean, cell.paper_ssread.mean) == (84.84, 87.16)
        other_metric = dataclasses.replace(experiment, metric="roc_auc")
        (cell,) = compare_readouts(mutag, other_metric, Counting(), store).cells
        assert cell.paper_global is None
        (cell,) = compare_readouts(dataclasses.replace(graphs, name="MUTAG"), experiment, Counting(), store).cells
        assert cell.paper_ssread is None


def test_dropout_is_chosen_with_the_global_readout_by_validation_alone(graphs, tmp_path):
    """Both candidates are trained; what is then compared has the one of the better mean validation accuracy."""
    experiment = dataclasses.replace(EXPERIMENT, dropout="auto", positions=2)
    with Store(tmp_path / "results.sqlite") as store:
        report = compare_readouts(graphs, experiment, Counting(), store)
        rows = store.table()
    base = rows[(rows["arch"] == "gcn") & (rows["readout"] == "global") & (rows["aggr"] == "sum")]
    dropped = [json.loads(text)["model"].get("dropout") for text in base["run"]]
    means = base.groupby([str(value) for value in dropped])["valid_accuracy"].mean()
    assert set(means.index) == {"None", "0"}
    used = {json.loads(text)["model"].get("dropout") for text in rows[rows["readout"] == "ssread"]["run"]}
    assert used == ({0} if means["0"] > means["None"] else {None})
    assert "dropout (own or 0): by mean validation accuracy of gcn + global(sum)" in report.rule


@pytest.mark.parametrize(
    "changes",
    [
        {"dropout": "auto"},
        {"dropout": "auto", "positions": None},
        {"dropout": "auto", "positions": None, "arch": ("gin",)},
        {"dropout": "auto", "aggr": ("max", "mean")},
        {"positions": None, "aggr": ("sum", "max")},
    ],
    ids=str,
)
def test_from_the_start_it_is_known_how_many_trainings_there_are(graphs, tmp_path, changes):
    seen = []
    training = dataclasses.replace(EXPERIMENT.training, epochs=1)
    experiment = dataclasses.replace(EXPERIMENT, **{"seeds": 1, "folds": 2, "training": training, **changes})
    with Store(tmp_path / "store.sqlite") as store:
        compare_readouts(graphs, experiment, Counting(), store, lambda *args: seen.append(args))
        assert {total for _, total, _ in seen} == {len(store)}
        assert seen[-1][0] == len(store)
