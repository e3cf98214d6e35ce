"""Choosing a classifier by cross-validation, and estimating its accuracy, before the final training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.runners import Runner
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer, Watch
from ssread.metrics import roc_auc
from ssread.models.architectures import READOUTS
from ssread.train.recipes import DEFAULT, recipe_named
from ssread.train.runs import Run, RunResult, Training

__all__ = ["Choice", "candidates", "choose"]

#: The candidates unless the caller names others: on a few hundred to a few thousand graphs no larger architecture is
#: better, and which of these is best depends on the data.
ARCHITECTURES = ("gcn", "gin")


@dataclass(frozen=True)
class Choice:
    """The arguments of the chosen model, and its cross-validation as plain data."""

    model: dict[str, Any]
    cross_validation: dict[str, Any]


#: The share of entries dropped: own data are often few, and some dropout costs large sets little.
DROPOUT = 0.2


def candidates(
    arch: str | None, readout: str | None, aggr: str | list[str] | None, positions: int
) -> list[dict[str, Any]]:
    """Model arguments to choose from: what is named is fixed, the rest varies over the usual choices."""
    found = []
    for name in ARCHITECTURES if arch is None else (arch,):
        for read in READOUTS if readout is None else (readout,):
            model: dict[str, Any] = {"name": name, "readout": read, "dropout": DROPOUT, **recipe_named(DEFAULT).model}
            if aggr is not None:
                model["aggr"] = aggr
            if read == "ssread":
                model["num_positions"] = positions
            found.append(model)
    return found


def choose(
    graphs: GraphSet,
    models: Sequence[Mapping[str, Any]],
    training: Training,
    *,
    folds: int,
    seed: int,
    balanced: bool,
    runner: Runner,
    store: Store,
    watch: Watch = lambda *_: None,
) -> Choice:
    """Cross-validates every candidate, chooses one, and estimates its accuracy.

    The mean accuracy on the parts held out for early stopping decides (ties: their loss), never the test folds. The
    reported accuracy is that of the chosen candidate on the test folds. What the store has is not trained again.
    """
    groups = [[Run(dict(m), seed, fold, folds, balanced=balanced) for fold in range(folds)] for m in models]
    trainer = Trainer(graphs, runner, store, watch)
    trainer.train([(run, training) for group in groups for run in group])
    results = [trainer.results(group, training) for group in groups]
    usable = [[result for result in group if not result.failed] for group in results]
    if not any(len(group) == folds for group in usable):
        raise InputError(f"Every training on {graphs.name} failed: {results[0][0].failed}.")
    quality = [
        (np.mean([r.valid_accuracy for r in g]), -np.mean([r.valid_loss for r in g])) if len(g) == folds else (-1, 0)
        for g in usable
    ]
    best = max(range(len(models)), key=lambda number: quality[number])
    listed = [
        {"name": _name(model), "valid_accuracy": max(float(accuracy), 0.0), "chosen": number == best}
        for number, (model, (accuracy, _)) in enumerate(zip(models, quality, strict=True))
    ]
    estimate = _estimate(graphs, results[best])
    return Choice(dict(models[best]), {"folds": folds, "seed": seed, **estimate, "candidates": listed})


def _estimate(graphs: GraphSet, results: Sequence[RunResult]) -> dict[str, Any]:
    """Accuracy, interval and recall over the test folds; every graph is in one of them."""
    labels = np.concatenate([result.test_targets for result in results])
    predicted = np.concatenate([np.asarray(result.test_predictions).argmax(axis=1) for result in results])
    correct = predicted == labels
    interval = binomtest(int(correct.sum()), len(correct)).proportion_ci(method="wilson")
    areas = [roc_auc(np.asarray(r.test_targets), np.asarray(r.test_predictions)) for r in results]
    area = float(np.mean(areas))
    counts = np.bincount(labels, minlength=graphs.num_classes)
    return {
        "graphs": len(labels),
        "accuracy": float(correct.mean()),
        "interval": [float(interval.low), float(interval.high)],
        "majority": float(counts.max() / counts.sum()),
        "roc_auc": area if np.isfinite(area) else None,
        "recall": {
            name: float(correct[labels == c].mean()) for c, name in enumerate(graphs.class_names) if counts[c] > 0
        },
    }


def _name(model: Mapping[str, Any]) -> str:
    aggr = model.get("aggr")
    readout = f"SSRead, K = {model['num_positions']}" if model["readout"] == "ssread" else "global readout"
    named = "" if aggr is None else f", {aggr if isinstance(aggr, str) else '+'.join(aggr)}"
    return f"{model['name']} ({readout}{named})"
