"""How right positions and activations are, beside poolings, GNNExplainer and chance: several seeds, paired tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from joblib import Parallel, cpu_count, delayed, parallel_config
from torch import Tensor

from ssread import segment
from ssread.common.markdown import markdown_table
from ssread.data.graphset import GraphSet
from ssread.evaluate.statistics import compare, fold_ratio, format_p
from ssread.explain.activation import activation
from ssread.explain.gnn_explainer import gnn_explainer
from ssread.explain.ground_truth import Truth, known_truth, with_motif
from ssread.explain.measures import agreement, fidelity, localisation
from ssread.explain.poolings import diffpool_clusters, poolings_survived, spectral_clusters
from ssread.explain.positions import positions
from ssread.explain.retrain import fold_of_run, trained_model, trained_models
from ssread.explain.study_settings import FOLDS, Study
from ssread.models import GraphClassifier
from ssread.train.runs import Run, RunResult

__all__ = ["Scores", "score_explanations"]

#: What is trained, by the name of the first part of its methods; None needs no training.
KINDS = ("SSRead", "global readout", "TopKPool", "DiffPool", "no model")
FIRST = {"agreement": "SSRead positions", "localisation": "SSRead activation"}


@dataclass(frozen=True)
class Scores:
    """All values, a row for every seed, method and measure.

    Attributes:
        dataset: Its name.
        truth: What was taken for the truth.
        study: How it was done.
        table: Columns ``seed part method measure value``.
    """

    dataset: str
    truth: str
    study: Study
    table: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Mean and standard deviation over seeds, and the paired tests against SSRead, by part, method, measure."""
        rows = []
        for (part, measure), values in self.table.groupby(["part", "measure"], sort=False):
            by_method = values.pivot_table("value", "seed", "method", sort=False)
            first = by_method.get(FIRST.get(str(part), ""))
            for method in by_method:
                column = by_method[method]
                found = None
                if first is not None and method != first.name and len(column) > 1:
                    found = compare(
                        column.to_numpy()[:, None], first.to_numpy()[:, None], test_to_train=fold_ratio(FOLDS)
                    )
                rows.append(
                    {
                        **{"part": part, "method": method, "measure": measure},
                        **{"mean": column.mean(), "sd": column.std(), "seeds": column.count()},
                        "p": float("nan") if found is None else found.p,
                        "corrected p": float("nan") if found is None else found.corrected_p,
                    }
                )
        return pd.DataFrame(rows)

    def markdown(self) -> str:
        """A table per part: a row for every method, mean (sd) and the corrected p-value against SSRead."""
        summary = self.summary()
        texts = [
            f"{self.dataset}: {self.truth}. K = {self.study.positions}; {self.study.seeds} seeds; mean (standard "
            f"deviation over seeds) on the test part, the first of {FOLDS} folds; p: paired t-test against SSRead over "
            "seeds, corrected for overlapping training parts."
        ]
        for part, values in summary.groupby("part", sort=False):
            measures = list(dict.fromkeys(values["measure"]))
            rows = []
            for method, cells in values.groupby("method", sort=False):
                by_measure = cells.set_index("measure")
                rows.append([method, *(_cell(by_measure, measure) for measure in measures)])
            texts.append(f"**{str(part).capitalize()}**\n\n{markdown_table(['method', *measures], rows).strip()}")
        return "\n\n".join(texts) + "\n"


def score_explanations(
    graphs: GraphSet,
    study: Study | None = None,
    device: str = "cpu",
    workers: int | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> Scores:
    """Trains what is needed and scores every way to explain on the test parts.

    Args:
        graphs: Planted graphs, or molecules (see :func:`ssread.explain.ground_truth.known_truth`).
        study: What is scored.
        device: ``cpu`` for a process per core; on ``cuda`` all seeds of a model are trained as one.
        workers: Processes on a CPU, by default one per core.
        watch: Told in a few words of everything that is done.
    """
    study = study or Study()
    truth = known_truth(graphs)
    tasks = [(kind, seed) for seed in range(study.seeds) for kind in KINDS]
    rows: list[dict[str, Any]] = []
    for number, (kind, seed, found) in enumerate(_done(graphs, truth, study, tasks, device, workers), start=1):
        rows += found
        watch(f"{number} of {len(tasks)}: {kind}, seed {seed}")
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows.sort(key=lambda row: (row["part"], row["seed"], order[row.pop("kind")]))
    return Scores(graphs.name, truth.what, study, pd.DataFrame(rows))


def _done(
    graphs: GraphSet, truth: Truth, study: Study, tasks: Sequence[tuple[str, int]], device: str, workers: int | None
) -> Iterator[tuple[str, int, list[dict[str, Any]]]]:
    """The values of every task as they come; on a GPU the seeds of one kind of model are trained together."""
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(workers or cpu_count(), len(tasks)), return_as="generator_unordered")
        if device == "cpu":
            yield from pool(delayed(_train_and_score)(graphs, truth, study, kind, seed) for kind, seed in tasks)
            return
        for kind in KINDS:
            runs = [study.run(kind, seed) for of_kind, seed in tasks if of_kind == kind]
            found: Sequence[Any] = [(None, None)] * len(runs)
            if runs[0].model:
                found = trained_models(graphs, runs, study.training, device)
            pairs = zip(runs, found, strict=True)
            yield from pool(delayed(_score)(graphs, truth, study, kind, run, *own) for run, own in pairs)


def _train_and_score(
    graphs: GraphSet, truth: Truth, study: Study, kind: str, seed: int
) -> tuple[str, int, list[dict[str, Any]]]:
    run = study.run(kind, seed)
    model, result = trained_model(graphs, run, study.training) if run.model else (None, None)
    return _score(graphs, truth, study, kind, run, model, result)


def _score(
    graphs: GraphSet,
    truth: Truth,
    study: Study,
    kind: str,
    run: Run,
    model: GraphClassifier | None,
    result: RunResult | None,
) -> tuple[str, int, list[dict[str, Any]]]:
    """All values of one model of one seed."""
    torch.set_num_threads(1)
    seed = run.seed
    parts = fold_of_run(graphs, run)
    test = graphs[parts.test]
    own = _of_part(truth, graphs, parts.test)
    rows: list[dict[str, Any]] = []

    def note(part: str, method: str, **values: float) -> None:
        rows.extend(
            {"kind": kind, "seed": seed, "part": part, "method": method, "measure": name, "value": value}
            for name, value in values.items()
        )

    if result is not None:
        right = (result.test_probabilities.argmax(axis=1) == result.test_labels).mean()
        note("models", kind, accuracy=float(right))
    graph = torch.arange(len(test)).repeat_interleave(test.node_counts)
    for method, division in _divisions(kind, model, test, study, seed):
        found = agreement(division, own.roles, graph)
        measures = {"AMI": found.mutual_information, "purity": found.purity, "consistency": found.consistency}
        note("agreement", method, **measures)
    chosen = _drawn(with_motif(own, test), study.explained, seed)
    if len(chosen) and kind in ("SSRead", "global readout", "no model"):
        for method, values in _localised(kind, model, test[chosen], _of_part(own, test, chosen), seed):
            note("localisation", method, **values)
    return kind, seed, rows


def _divisions(kind: str, model: Any, test: GraphSet, study: Study, seed: int) -> list[tuple[str, Tensor]]:
    """The ways in which one model divides the nodes of the test graphs."""
    if kind == "SSRead":
        return [("SSRead positions", positions(model, test).position)]
    if kind == "TopKPool":
        return [("TopKPool, poolings survived", poolings_survived(model, test))]
    if kind == "DiffPool":
        return [("DiffPool clusters", diffpool_clusters(model, test))]
    if kind == "no model":
        random = torch.randint(study.positions, (test.x.size(0),), generator=torch.Generator().manual_seed(seed))
        return [("spectral clusters (EigenPool)", spectral_clusters(test, study.positions)), ("random", random)]
    return []


def _localised(kind: str, model: Any, graphs: GraphSet, truth: Truth, seed: int) -> list[tuple[str, dict[str, float]]]:
    """How well one model's explanations find the motif of every graph."""
    assert truth.deciding is not None
    assert graphs.y is not None
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    sizes = segment.reduce_sum(truth.deciding.long(), graph, len(graphs))
    if kind == "no model":
        by_chance = torch.rand(graphs.x.size(0), generator=torch.Generator().manual_seed(seed))
        auc = localisation(by_chance, truth.deciding, graph, len(graphs))
        return [("random", {"AUC": float(auc.mean())})]
    scored = {"activation": activation(model, graphs, graphs.y), "GNNExplainer": gnn_explainer(model, graphs, seed)}
    rows = []
    for name, scores in scored.items():
        auc = localisation(scores, truth.deciding, graph, len(graphs))
        told = fidelity(model, graphs, scores, graphs.y, sizes)
        values = {"AUC": auc, "fidelity+": told.plus, "fidelity-": told.minus}
        rows.append((f"{kind} {name}", {key: float(value.mean()) for key, value in values.items()}))
    return rows


def _of_part(truth: Truth, graphs: GraphSet, ids: Tensor) -> Truth:
    """The truth about some of the graphs."""
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    chosen = torch.zeros(len(graphs), dtype=torch.bool)
    chosen[ids] = True
    nodes = chosen[graph]  # ids are in order, so the nodes of the smaller set are too
    deciding = None if truth.deciding is None else truth.deciding[nodes]
    return Truth(truth.roles[nodes], deciding, truth.what)


def _drawn(ids: Tensor, wanted: int, seed: int) -> Tensor:
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    return ids[order[:wanted]].sort().values


def _cell(by_measure: pd.DataFrame, measure: str) -> str:
    if measure not in by_measure.index:
        return "-"
    cell = by_measure.loc[measure]
    p = cell["corrected p"]
    return f"{cell['mean']:.3f} ({cell['sd']:.3f})" + ("" if pd.isna(p) else f", {format_p(p)}")
