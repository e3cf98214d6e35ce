"""Scores positions and decompositions against the ground truth, next to poolings, other explainers and chance."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pandas as pd
import torch
from joblib import cpu_count, delayed
from torch import Tensor

from ssread.common.workers import as_worker, worker_pool
from ssread.data.graphset import GraphSet
from ssread.explain.ground_truth import GroundTruth, ground_truth
from ssread.explain.localising import localise
from ssread.explain.measures import agreement
from ssread.explain.node_facts import graph_of_node
from ssread.explain.poolings import diffpool_clusters, poolings_survived, spectral_clusters
from ssread.explain.positions import positions
from ssread.explain.retrain import trained_model, trained_models
from ssread.explain.rivals import METHODS, Task
from ssread.explain.scores import Scores
from ssread.explain.study import NO_MODEL, Study
from ssread.models import GraphClassifier
from ssread.train.fit import fold_of_run
from ssread.train.runs import RunResult

__all__ = ["score_explanations"]

#: The methods that explain each model: all of them that of SSRead, so that they differ in nothing else.
EXPLAINED_BY = {
    "SSRead": tuple(name for name in METHODS if name != "attention"),
    "global readout": ("decomposition",),
    "attention readout": ("attention",),
}

#: PGExplainer learns from so many graphs of the training part.
LEARNT_FROM = 100


class _Scored(NamedTuple):
    """The rows of the table that one model of one seed yields."""

    seed: int
    model: str
    rows: list[dict[str, Any]]


def score_explanations(
    graphs: GraphSet,
    study: Study | None = None,
    device: str = "cpu",
    workers: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Scores:
    """Trains the models of a study and scores their explanations on the test parts.

    Args:
        graphs: Planted graphs or molecules (see :func:`ssread.explain.ground_truth.ground_truth`).
        study: The settings.
        device: ``cpu`` for one process per core, or ``cuda``, where all seeds of a model are trained as one stack.
        workers: The number of processes on a CPU, by default one per core.
        progress: Callback, called with a line of text after each model of each seed.
    """
    study = study or Study()
    truth = ground_truth(graphs)
    total = study.seeds * len(study.models)
    results = []
    for done, result in enumerate(_score_all(graphs, truth, study, device, workers), start=1):
        results.append(result)
        progress(f"{done} of {total}: {result.model}, seed {result.seed}")
    results.sort(key=lambda result: (result.seed, study.models.index(result.model)))
    rows = sorted((row for result in results for row in result.rows), key=lambda row: row["part"])
    return Scores(graphs.name, truth.description, study, pd.DataFrame(rows))


def _score_all(
    graphs: GraphSet, truth: GroundTruth, study: Study, device: str, workers: int | None
) -> Iterator[_Scored]:
    """Yields the scores of every model of every seed as they are done; on a GPU the seeds are trained together."""
    tasks = [(model, seed) for seed in range(study.seeds) for model in study.models]
    common = (os.getpid(), graphs, truth, study)
    with worker_pool(min(workers or cpu_count(), len(tasks))) as pool:
        if device == "cpu":
            yield from pool(delayed(_train_and_score)(common, model, seed) for model, seed in tasks)
            return
        for model in (model for model in study.models if model != NO_MODEL):
            runs = [study.run(model, seed) for seed in range(study.seeds)]
            trained = trained_models(graphs, runs, study.training, device)
            yield from pool(delayed(_score_in_worker)(common, model, seed, *pair) for seed, pair in enumerate(trained))
        if NO_MODEL in study.models:
            yield from pool(delayed(_score_in_worker)(common, NO_MODEL, seed) for seed in range(study.seeds))


#: What all tasks have in common: the process they work for, and what is to be scored.
_Common = tuple[int, GraphSet, GroundTruth, Study]


def _score_in_worker(common: _Common, *arguments: Any) -> _Scored:
    as_worker(common[0])
    return _score(*common[1:], *arguments)


def _train_and_score(common: _Common, model: str, seed: int) -> _Scored:
    parent, graphs, truth, study = common
    as_worker(parent)
    if model == NO_MODEL:
        return _score(graphs, truth, study, model, seed)
    trained, result = trained_model(graphs, study.run(model, seed), study.training)
    return _score(graphs, truth, study, model, seed, trained, result)


def _score(
    graphs: GraphSet,
    truth: GroundTruth,
    study: Study,
    model: str,
    seed: int,
    trained: GraphClassifier | None = None,
    result: RunResult | None = None,
) -> _Scored:
    """Scores one model of one seed on its test part."""
    torch.set_num_threads(1)
    fold = fold_of_run(graphs, study.run(model, seed))
    test_ids = fold.test
    test, test_truth = graphs[test_ids], truth.select(graphs, test_ids)
    rows: list[dict[str, Any]] = []

    def add(part: str, method: str, **values: float) -> None:
        rows.extend(
            {"seed": seed, "part": part, "method": method, "measure": measure, "value": value}
            for measure, value in values.items()
        )

    if result is not None:
        correct = (result.test_predictions.argmax(axis=1) == result.test_targets).mean()
        add("models", model, accuracy=float(correct))
    for method, clusters in _clusterings(model, trained, test, study, seed).items():
        scores = agreement(clusters, test_truth.roles, graph_of_node(test))
        measures = {"AMI": scores.mutual_information, "purity": scores.purity, "consistency": scores.consistency}
        add("agreement", method, **measures)
    explained = _sample(test_truth.graphs_with_motif(test), study.explained, seed)
    methods = EXPLAINED_BY.get(model, ())
    if len(explained) and methods:
        shown, motifs = test[explained], test_truth.select(test, explained)
        assert trained is not None
        assert shown.y is not None
        assert motifs.deciding is not None
        task = Task(trained, shown, shown.y, seed, graphs[_sample(fold.train, LEARNT_FROM, seed)])
        for method, measures in localise(task, motifs.deciding, methods).items():
            add("localisation", "random" if method == "random" else f"{model} {method}", **measures)
    return _Scored(seed, model, rows)


def _clusterings(model: str, trained: Any, test: GraphSet, study: Study, seed: int) -> dict[str, Tensor]:
    """The clusters [N] into which one model groups the nodes of the test graphs, by method."""
    if model == "SSRead":
        return {"SSRead positions": positions(trained, test).position}
    if model == "TopKPool":
        return {"TopKPool, poolings survived": poolings_survived(trained, test)}
    if model == "DiffPool":
        return {"DiffPool clusters": diffpool_clusters(trained, test)}
    if model == NO_MODEL:
        random = torch.randint(study.positions, (test.x.size(0),), generator=torch.Generator().manual_seed(seed))
        return {"spectral clusters (EigenPool)": spectral_clusters(test, study.positions), "random": random}
    return {}


def _sample(ids: Tensor, wanted: int, seed: int) -> Tensor:
    """At most ``wanted`` of the ids, drawn at random, in ascending order."""
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    return ids[order[:wanted]].sort().values
