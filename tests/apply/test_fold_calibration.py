"""The calibration of a final model that learnt from more graphs than those of the folds."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import expit, softmax

from ssread.apply.fold_calibration import calibration_of
from ssread.apply.quality import FoldPredictions


@pytest.mark.parametrize(("ratio", "asked"), [(0.8, 0.8), (1.0, 0.9), (0.8, 0.95)])
def test_intervals_of_a_model_that_saw_more_hold_the_truth_as_often_as_asked_for(ratio, asked):
    """Errors of the final model are smaller than those of the models of the folds, by a ratio that only 10 % tell."""
    found = []
    for seed in range(40):
        random = np.random.default_rng(seed)

        def errors(number, scale, random=random):
            return scale * random.laplace(size=(number, 1))

        y = random.normal(size=(600, 1))
        ids = np.arange(600)
        folds = [FoldPredictions(part, y[part], y[part] + errors(200, 1)) for part in np.split(ids, 3)]
        some = random.permutation(600)[:60]
        held_out = [FoldPredictions(some, y[some], y[some] + errors(60, ratio))]
        graphs = SimpleNamespace(task="regression")
        (largest,) = calibration_of(graphs, folds, held_out).largest_scores(asked)
        found.append((np.abs(errors(1000, ratio)) <= largest).mean())
    assert abs(np.mean(found) - asked) < 0.025
    (plain,) = calibration_of(graphs, folds).largest_scores(asked)
    assert plain >= largest


@pytest.mark.parametrize("asked", [0.8, 0.9, 0.95])
@pytest.mark.parametrize(("task", "classes"), [("classification", 2), ("classification", 3), ("multilabel", 2)])
def test_sets_of_a_model_that_is_surer_hold_the_truth_as_often_as_asked_for(task, classes, asked):
    """The final model separates better and leans to a value; a tenth of the graphs tell so."""
    found, uncorrected = [], []
    for seed in range(40):
        random = np.random.default_rng(seed)

        def predictions(y, final, random=random):
            """Scores of [0, 1] labels or of classes, which favour the truth."""
            noise = random.normal(size=(len(y), 1 if task == "multilabel" else classes))
            if task == "multilabel":
                return expit((2.0 if final else 1.0) * (2 * y - 1 + noise) - (1.0 if final else 0.0))
            truth = np.eye(classes)[y]
            return softmax(
                (3.0 if final else 1.5) * (truth + 0.7 * noise) + (0.5 if final else 0) * np.eye(classes)[0], 1
            )

        def targets(number, random=random):
            y = random.integers(0, classes, number)
            return y[:, None].astype(float) if task == "multilabel" else y

        y, new = targets(600), targets(1000)
        folds = [FoldPredictions(part, y[part], predictions(y[part], False)) for part in np.split(np.arange(600), 3)]
        some = random.permutation(600)[:60]
        held_out = [FoldPredictions(some, y[some], predictions(y[some], True))]
        raw = torch.from_numpy(predictions(new, True))
        rows, truth = np.arange(1000), new.reshape(-1).astype(int)
        for corrected, into in ((held_out, found), ((), uncorrected)):
            calibration = calibration_of(SimpleNamespace(task=task), folds, corrected)
            sets = calibration.sets(calibration.calibrated(raw), asked).numpy().reshape(1000, classes)
            held = sets[rows, truth]
            into.append([held[truth == value].mean() for value in range(classes)])
    off, off_before = (np.abs(np.mean(values, axis=0) - asked).max() for values in (found, uncorrected))
    assert off < 0.03
    assert off_before > off


def test_predictions_that_are_not_finite_are_left_out():
    y = np.arange(40) % 2
    predicted = np.stack([np.linspace(0.2, 0.8, 40), 1 - np.linspace(0.2, 0.8, 40)], axis=1)
    predicted[3] = np.nan
    folds = [FoldPredictions(part, y[part], predicted[part]) for part in np.split(np.arange(40), 2)]
    some = np.arange(3, 9)
    calibration = calibration_of(
        SimpleNamespace(task="classification"), folds, [FoldPredictions(some, y[some], predicted[some])]
    )
    plain = calibration_of(SimpleNamespace(task="classification"), folds)
    assert calibration.temperatures == pytest.approx(plain.temperatures)
    assert [score for scores in calibration.scores for score in scores] == pytest.approx(
        [score for scores in plain.scores for score in scores]
    )
    unknown = FoldPredictions(some[:1], y[some[:1]], predicted[some[:1]])
    assert calibration_of(SimpleNamespace(task="classification"), folds, [unknown]) == plain
