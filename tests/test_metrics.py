import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread import InputError
from ssread.data.task_names import TASKS
from ssread.metrics import METRICS, accuracy, check_metric, default_metric, each, evaluate, macro_f1, roc_auc


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Few distinct probabilities, so that ties occur; classes may be missing."""
    num_classes = draw(st.integers(2, 4))
    rows = draw(st.lists(st.integers(0, num_classes - 1), min_size=1, max_size=12))
    raw = draw(st.lists(st.lists(st.integers(1, 4), min_size=num_classes, max_size=num_classes), min_size=len(rows)))
    weights = np.array(raw[: len(rows)], dtype=float)
    return np.array(rows), weights / weights.sum(axis=1, keepdims=True)


def area_by_pairs(positive: np.ndarray, negative: np.ndarray) -> float:
    """How often a positive graph scores above a negative one; a tie is half of that."""
    return float(np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative]))


@given(predictions())
def test_accuracy_counts_graphs(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    right = sum(label == max(range(len(row)), key=row.__getitem__) for label, row in zip(*data, strict=True))
    assert accuracy(labels, probabilities) == right / len(labels)


@given(predictions())
def test_roc_auc_counts_pairs_of_graphs(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    classes = [1] if probabilities.shape[1] == 2 else sorted(set(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = roc_auc(labels, probabilities)
    if len(set(labels)) == 1:
        assert np.isnan(found)
        return
    areas = [area_by_pairs(probabilities[labels == c, c], probabilities[labels != c, c]) for c in classes]
    assert found == pytest.approx(np.mean(areas))


@given(predictions())
def test_macro_f1_is_the_mean_over_the_classes_present(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    predicted = probabilities.argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = macro_f1(labels, probabilities)
    f1 = []
    for which in set(labels):
        hits = np.sum((labels == which) & (predicted == which))
        f1.append(2 * hits / (np.sum(labels == which) + np.sum(predicted == which)))
    assert found == pytest.approx(np.mean(f1))


@given(predictions())
def test_metrics_lie_where_they_can(data: tuple[np.ndarray, np.ndarray]) -> None:
    for name, metric in METRICS.items():
        if "classification" not in metric.tasks:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of classes that never occur
            value = evaluate(name, *data)
        assert np.isnan(value) or -1 <= value <= (20 if name == "log_loss" else 2)


def test_brier_log_loss_and_calibration_of_known_cases() -> None:
    labels = np.array([0, 1, 1, 1])
    sure = np.eye(2)[labels]
    assert evaluate("brier", labels, sure) == evaluate("calibration_error", labels, sure) == 0
    assert evaluate("log_loss", labels, sure) == pytest.approx(0)
    even = np.full((4, 2), 0.5)
    assert evaluate("brier", labels, even) == 0.25
    assert evaluate("log_loss", labels, even) == pytest.approx(np.log(2))
    says = np.tile([0.25, 0.75], (4, 1))  # and is right three times of four
    assert evaluate("calibration_error", labels, says) == pytest.approx(0)


@given(st.integers(2, 30), st.integers(0, 2**31 - 1))
def test_metrics_of_numbers_agree_with_scikit_learn(count: int, seed: int) -> None:
    from scipy.stats import spearmanr
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    rng = np.random.default_rng(seed)
    true, predicted = rng.normal(size=(count, 1)), rng.normal(size=(count, 1))
    assert evaluate("rmse", true, predicted) == pytest.approx(root_mean_squared_error(true, predicted))
    assert evaluate("mae", true, predicted) == pytest.approx(mean_absolute_error(true, predicted))
    assert evaluate("r2", true, predicted) == pytest.approx(r2_score(true, predicted))
    assert evaluate("spearman", true, predicted) == pytest.approx(spearmanr(true[:, 0], predicted[:, 0]).statistic)


def test_unknown_labels_are_left_out() -> None:
    true = np.array([[1, np.nan], [0, np.nan], [np.nan, 1]])
    predicted = np.array([[0.9, 0.5], [0.1, 0.5], [0.0, 0.5]])
    assert np.isnan(each("roc_auc", true, predicted)[1])
    assert evaluate("roc_auc", true, predicted) == 1
    assert np.isnan(evaluate("roc_auc", true[2:], predicted[2:]))


def test_the_default_metric_fits_its_task() -> None:
    for task in TASKS:
        check_metric(default_metric(task), task)
    assert default_metric("classification", {"a": 50, "b": 50}) == "accuracy"
    assert default_metric("classification", {"a": 50, "b": 50}, balanced=True) == "balanced_accuracy"
    assert default_metric("classification", {"a": 80, "b": 20}) == "roc_auc"
    assert default_metric("classification", {"a": 80, "b": 10, "c": 10}) == "balanced_accuracy"
    with pytest.raises(InputError, match=r"no metric 'accuracy' for regression\. Choose one of rmse, mae"):
        check_metric("accuracy", "regression")


def test_quality_orders_every_metric() -> None:
    assert METRICS["rmse"].quality(1.0) > METRICS["rmse"].quality(2.0) > METRICS["rmse"].quality(float("nan"))
    assert METRICS["roc_auc"].quality(0.9) > METRICS["roc_auc"].quality(0.8)


def test_a_part_with_one_class_gives_no_warning(recwarn):
    assert evaluate("mcc", np.zeros(4, dtype=int), np.tile([0.9, 0.1], (4, 1))) == 0
    assert not recwarn.list
