"""Calibration: sets and intervals hold the truth as often as asked for; temperatures only correct confidence."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply.calibration import Calibration
from ssread.metrics import log_loss

TASKS = ("classification", "multilabel", "regression")


def softmax(scores: np.ndarray) -> np.ndarray:
    return torch.from_numpy(scores).softmax(-1).numpy()


def drawn(task: str, number: int, seed: int, sharpness: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Truth and predictions of exchangeable graphs; above 1, ``sharpness`` makes probabilities too confident."""
    random = np.random.default_rng(seed)
    if task == "classification":
        scores = 2 * random.normal(size=(number, 4))
        y = (softmax(scores).cumsum(1) < random.random((number, 1))).sum(1).clip(max=3)
        return y, softmax(sharpness * scores).astype(np.float32)
    if task == "multilabel":
        scores = 2 * random.normal(size=(number, 3)) - 1
        y = (random.random(scores.shape) < 1 / (1 + np.exp(-scores))).astype(float)
        predicted = 1 / (1 + np.exp(-sharpness * scores))
    else:
        predicted = 100 * random.normal(size=(number, 3))
        y = predicted + np.array([1, 10, 0.01]) * random.standard_t(3, size=predicted.shape)
    y[random.random(y.shape) < 0.1] = np.nan
    return y, predicted.astype(np.float32)


def covered(calibration: Calibration, y: np.ndarray, predicted: np.ndarray, coverage: float) -> list[np.ndarray]:
    """Whether the truth of every graph was in the set or interval, for each output, unknown ones left out."""
    values = calibration.calibrated(torch.from_numpy(predicted))
    if calibration.task == "classification":
        return [calibration.sets(values, coverage).numpy()[np.arange(len(y)), y]]
    if calibration.task == "multilabel":
        members = calibration.sets(values, coverage).numpy()
        right = np.where(y > 0, members[..., 1], members[..., 0])
    else:
        low, high = (end.numpy() for end in calibration.intervals(values, coverage))
        right = (low <= y) & (y <= high)
    return [right[~np.isnan(y[:, t]), t] for t in range(y.shape[1])]


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([30, 200, 4000]),
    st.sampled_from([0.5, 0.8, 0.9, 0.95]),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_the_truth_is_covered_as_often_as_asked_for(task, seed, number, coverage, sharpness):
    """Averaged over 2000 new graphs, and in distribution over the calibration sets: Beta with this deviation."""
    calibration = Calibration.fit(task, *drawn(task, number, seed, sharpness))
    fewest = max(1, min(calibration.counts))
    deviation = math.sqrt(coverage * (1 - coverage) * (1 / fewest + 1 / 1600))
    too_few = fewest * (1 - coverage) < coverage  # then every set has the class
    for right in covered(calibration, *drawn(task, 2000, seed + 1, sharpness), coverage):
        assert right.mean() > coverage - 5 * deviation
        assert too_few or right.mean() < coverage + 5 * deviation + 1 / fewest


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_every_class_is_covered_as_often_as_asked_for_however_rare(task):
    """One graph in twenty has the rare class, and the model hardly recognises it: sets for all would leave it out."""
    random = np.random.default_rng(0)

    def rare(number):
        y = (random.random(number) < 0.05).astype(int)
        p = 1 / (1 + np.exp(-(random.normal(size=number) + 0.7 * y - 3)))
        if task == "classification":
            return y, np.stack([1 - p, p], axis=1).astype(np.float32)
        return y[:, None].astype(float), p[:, None].astype(np.float32)

    calibration = Calibration.fit(task, *rare(8000))
    y, predicted = rare(8000)
    (right,) = covered(calibration, y, predicted, 0.9)
    for value in (0, 1):
        assert abs(right[y.reshape(-1) == value].mean() - 0.9) < 0.04


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_models_of_earlier_versions_have_one_list_for_all_classes(task):
    fitted = Calibration.fit(task, *drawn(task, 300, 0))
    outputs = 4 if task == "classification" else 3
    scores = [sorted(sum(fitted.scores, ()))] if task == "classification" else [sorted(fitted.scores[0])] * 3
    old = {**fitted.as_dict(), "scores": scores, "counts": [len(column) for column in scores]}
    calibration = Calibration.from_dict(old, task, outputs)
    for right in covered(calibration, *drawn(task, 300, 1), 0.9):
        assert right.mean() > 0.6


@pytest.mark.parametrize("task", TASKS)
def test_on_average_over_small_sets_coverage_is_not_below_what_was_asked_for(task):
    """The promise of split conformal prediction, with its correction for finite samples: exact quantiles would miss."""
    found = []
    for seed in range(300):
        calibration = Calibration.fit(task, *drawn(task, 15, seed))
        found += [part.mean() for part in covered(calibration, *drawn(task, 100, 10**6 + seed), 0.8)]
    assert np.mean(found) > 0.785
    assert task == "classification" or np.mean(found) < 0.8 + 1 / 14 + 0.08 * (task == "multilabel") + 0.015


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2.0, 5.0]))
def test_temperatures_help_over_confident_probabilities(seed, sharpness):
    y, predicted = drawn("classification", 500, seed, sharpness)
    calibration = Calibration.fit("classification", y, predicted)
    assert calibration.temperatures[0] == pytest.approx(sharpness, rel=0.35)
    new_y, new = drawn("classification", 2000, seed + 1, sharpness)
    corrected = calibration.calibrated(torch.from_numpy(new)).numpy()
    assert log_loss(new_y, corrected) < log_loss(new_y, new)
    np.testing.assert_allclose(corrected.sum(1), 1, atol=1e-5)
    np.testing.assert_array_equal(np.argsort(corrected, axis=1), np.argsort(new, axis=1))


def test_every_label_has_its_own_temperature():
    y, predicted = drawn("multilabel", 2000, 0)
    logits = torch.logit(torch.from_numpy(predicted).double()) * torch.tensor([1.0, 4.0, 0.5])
    calibration = Calibration.fit("multilabel", y, logits.sigmoid().numpy())
    np.testing.assert_allclose(calibration.temperatures, [1, 4, 0.5], rtol=0.2)


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_a_few_graphs_that_are_all_right_do_not_make_a_model_certain(task):
    probabilities = np.tile([0.9, 0.1], (20, 1))
    y = np.zeros(20, dtype=int) if task == "classification" else np.tile([1.0, 0.0], (20, 1))
    corrected = Calibration.fit(task, y, probabilities).calibrated(torch.tensor([[0.9, 0.1]]))
    assert 0.9 < float(corrected[0, 0]) < 0.999


@pytest.mark.parametrize("task", TASKS)
def test_probabilities_of_nothing_and_everything_stay_numbers(task):
    y, predicted = drawn(task, 50, 1)
    if task != "regression":
        predicted = np.eye(predicted.shape[1], dtype=np.float32)[np.arange(50) % predicted.shape[1]]
    predicted[0] = np.nan  # of a training that failed
    calibration = Calibration.fit(task, y, predicted)
    assert calibration.counts[0] < 50
    assert calibration.calibrated(torch.from_numpy(predicted[1:])).isfinite().all()


@pytest.mark.parametrize("task", TASKS)
def test_too_few_graphs_promise_nothing(task):
    y, predicted = drawn(task, 5, 0)
    calibration = Calibration.fit(task, y, predicted)
    assert set(calibration.largest_scores(0.9)) == {math.inf}
    assert all(right.all() for right in covered(calibration, *drawn(task, 100, 1), 0.9))
    if task != "classification":
        nothing = Calibration.fit(task, np.full((5, 3), np.nan), predicted)
        assert set(nothing.largest_scores(0.01)) == {math.inf}


@pytest.mark.parametrize("number", [1, 7, 199, 200, 201, 2500])
def test_kept_quantiles_give_the_exact_threshold_or_the_next_above(number):
    residuals = np.random.default_rng(number).exponential(size=number)
    calibration = Calibration.fit("regression", residuals[:, None], np.zeros((number, 1)))
    assert len(calibration.scores[0]) == min(number, 200)
    ordered = np.sort(residuals)
    for coverage in (1e-6, 0.1, 0.5, 0.777, 0.9, 0.99, 0.999):
        rank = max(1, math.ceil((number + 1) * coverage - 1e-9))
        (found,) = calibration.largest_scores(coverage)
        if rank > number:
            assert found == math.inf
        else:
            at_most = ordered[min(rank + math.ceil(number / 200) - (number <= 200), number) - 1]
            assert ordered[rank - 1] * (1 - 1e-6) <= found <= at_most * (1 + 1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_it_survives_json(task):
    calibration = Calibration.fit(task, *drawn(task, 30, 0))
    outputs = 4 if task == "classification" else 3
    assert Calibration.from_dict(json.loads(json.dumps(calibration.as_dict())), task, outputs) == calibration


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task": "regression"}, "that of another model"),
        ({"temperatures": [1.0]}, "that of another model"),
        ({"counts": [1] * 6}, "as many ascending numbers"),
        ({"scores": [[0.1]] * 4, "counts": [1] * 4}, "that of another model"),
        ({"counts": [2, 2, 2], "scores": [[0.1, 0.2], [0.2, 0.1], [0.1, 0.2]]}, "ascending numbers"),
    ],
)
def test_damage_gets_a_sentence(changes, sentence):
    data = Calibration.fit("multilabel", *drawn("multilabel", 30, 0)).as_dict()
    with pytest.raises(ValueError, match=sentence):
        Calibration.from_dict({**data, **changes}, "multilabel", 3)
