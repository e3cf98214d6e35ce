"""Metrics over test folds, with intervals, beside those of usual methods."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply.quality import FoldPredictions, compare_methods, quality, scores
from ssread.apply.usual_methods import forest, guess
from ssread.data import from_smiles, planted
from ssread.data.splits import stratified_folds
from ssread.metrics import METRICS


def folds_of(targets: np.ndarray, predictions: np.ndarray, count: int = 4) -> list[FoldPredictions]:
    parts = np.array_split(np.arange(len(targets)), count)
    return [FoldPredictions(part, targets[part], predictions[part]) for part in parts]


def test_perfect_predictions_are_perfect_by_every_metric() -> None:
    graphs = planted(40, seed=0)
    targets = graphs.y.numpy()
    found = quality(graphs, folds_of(targets, np.eye(2)[targets]), "accuracy")
    for name, value in found["metrics"].items():
        assert value["mean"] == pytest.approx(1.0 if METRICS[name].higher_is_better else 0.0, abs=1e-6)
    assert found["recall"] == {"house": 1.0, "cycle": 1.0}
    assert found["majority"] == 0.5
    assert found["graphs"] == 40


@given(st.integers(0, 2**31 - 1))
def test_the_interval_is_that_of_the_mean_over_folds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = dataclasses.replace(
        planted(40, seed=0), y=torch.zeros(40, 1), task="regression", class_names=(), target_names=("x",)
    )
    folds = folds_of(rng.normal(size=(40, 1)), rng.normal(size=(40, 1)))
    found = quality(graphs, folds, "rmse")
    values = scores("rmse", folds)
    assert found["metrics"]["rmse"]["mean"] == pytest.approx(values.mean()) == pytest.approx(found["each"]["x"])
    assert found["metrics"]["rmse"]["low"] < values.mean() < found["metrics"]["rmse"]["high"]


def test_the_finding_names_who_is_better() -> None:
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(200, 1))
    good, bad = (folds_of(targets, targets + noise * rng.normal(size=(200, 1))) for noise in (0.1, 1.0))
    assert compare_methods("rmse", bad, good)["finding"] == "better"
    assert compare_methods("rmse", good, bad)["finding"] == "worse"
    assert compare_methods("rmse", good, good)["finding"] == "undecided"


SMILES = ["C" * (1 + number % 5) + ("N" if number % 2 else "O") for number in range(60)]


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_a_forest_learns_what_fingerprints_show(task: str) -> None:
    pytest.importorskip("rdkit")
    holds = np.array(["N" in text for text in SMILES], dtype=float)
    size = np.array([len(text) for text in SMILES], dtype=float)
    labels = {"classification": holds, "multilabel": np.stack([holds, size > 3], axis=1), "regression": size + 0.5}[
        task
    ]
    if task == "multilabel":
        labels[::7, 1] = np.nan
    graphs = from_smiles(SMILES, labels.astype(int) if task == "classification" else labels, task=task)
    folds = stratified_folds(graphs, 3)
    metric = "rmse" if task == "regression" else "roc_auc"
    ours = np.mean(scores(metric, forest(graphs, folds, seed=0, workers=1)))
    usual = np.mean(scores(metric, guess(graphs, folds)))
    assert METRICS[metric].quality(ours) > METRICS[metric].quality(usual)
    if task != "regression":
        assert ours > 0.95
        assert usual == 0.5


def test_intervals_end_where_the_metric_does():
    graphs = planted(40, seed=0)
    random = np.random.default_rng(0)
    parts = np.split(np.arange(40), 2)
    wide = [FoldPredictions(part, graphs.y.numpy()[part], random.dirichlet([1, 1], size=20)) for part in parts]
    for name, found in quality(graphs, wide, "accuracy")["metrics"].items():
        assert METRICS[name].lowest <= found["low"] <= found["mean"] <= found["high"] <= METRICS[name].highest
