"""Learning curves of several trainings."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssread.report import summarize_curves
from ssread.report.curves import MAX_POINTS

values = st.one_of(st.floats(0, 1), st.just(math.nan), st.just(math.inf))


@given(st.lists(st.lists(values, max_size=6), max_size=4))
def test_an_epoch_has_the_mean_and_deviation_of_the_finite_values_that_reached_it(curves):
    summary = summarize_curves("x", [{"valid_accuracy": curve} for curve in curves])
    assert summary["runs"] == len(curves)
    by_epoch = [
        [curve[epoch] for curve in curves if epoch < len(curve) and math.isfinite(curve[epoch])] for epoch in range(6)
    ]
    measure = summary["measures"].get("valid_accuracy", {"epoch": [], "mean": [], "sd": []})
    assert measure["epoch"] == [epoch + 1 for epoch, reached in enumerate(by_epoch) if reached]
    assert np.allclose(measure["mean"], [np.mean(reached) for reached in by_epoch if reached], atol=1e-4)
    assert np.allclose(measure["sd"], [np.std(reached) for reached in by_epoch if reached], atol=1e-4)


def test_long_curves_are_thinned_out():
    loss = np.arange(10_000.0)
    measure = summarize_curves("x", [{"train_loss": loss}])["measures"]["train_loss"]
    assert len(measure["epoch"]) == MAX_POINTS
    assert measure["mean"] == [loss[epoch - 1] for epoch in measure["epoch"]]


def test_measures_without_values_are_left_out():
    assert summarize_curves("x", [{"train_loss": []}])["measures"] == {}
    assert summarize_curves("x", [])["measures"] == {}
