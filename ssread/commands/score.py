"""``ssread explain --score`` as functions: load, label by rules, train, score, write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from ssread.apply.graph_inputs import options_of, read_usable
from ssread.apply.reading_notes import skipped_note
from ssread.common.files import write_csv, write_text
from ssread.data.cycles import with_cycles
from ssread.data.graphset import GraphSet
from ssread.evaluate.placement import check_placement
from ssread.explain.rule_benchmark import DECOY, rule_graphs
from ssread.explain.rule_scores import RuleScores, RuleSize
from ssread.explain.rules import Rule
from ssread.explain.scores import Scores
from ssread.explain.scoring import score_explanations
from ssread.explain.stability_study import StabilityScores, score_stability
from ssread.explain.study import RULE_MODELS, Study

__all__ = ["score_agreement", "score_dataset", "score_rules"]


def score_dataset(
    data: str | os.PathLike[str],
    study: Study,
    *,
    out: str | os.PathLike[str] = "runs",
    device: str = "auto",
    workers: int | None = None,
    console: Console | None = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "skip",
    cycles: bool = False,
) -> tuple[Scores, list[Path]]:
    """Scores explanations on a dataset and writes ``scores-NAME.md`` and ``scores-NAME.csv`` (every value).

    Args:
        data: ``planted``, a dataset of molecules, or a saved ``GraphSet`` with functional groups.
        study: The settings of the study.
        out: The folder of the files.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        workers: Worker processes on a CPU, by default one per core.
        console: Where progress is shown, by default standard error.
        options: Options for loading the data.
        on_error: ``"skip"``: rows that cannot be used are left out, and listed in ``scores-NAME.skipped.csv``;
            ``"raise"``: they raise an error.
        cycles: Whether counts of short cycles join the features of nodes: :func:`ssread.data.cycles.with_cycles`.

    Returns:
        The scores, and the files that were written.
    """
    graphs, stem, device, console = _begin(data, "scores", out, device, workers, console, options, on_error, cycles)
    scores = score_explanations(graphs, study, device, workers, _printed_by(console))
    return scores, _write(stem, scores)


def score_rules(
    data: str | os.PathLike[str],
    rules: Mapping[str, Rule],
    study: Study,
    *,
    size: int = 1000,
    out: str | os.PathLike[str] = "runs",
    device: str = "auto",
    workers: int | None = None,
    console: Console | None = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "skip",
    cycles: bool = False,
) -> tuple[RuleScores, list[Path]]:
    """Scores explanations of molecules labelled by rules, and writes ``rules-NAME.md`` and ``rules-NAME.csv``.

    Args:
        data: A dataset of molecules; their own labels are not used.
        rules: The rules, by name.
        study: The settings of the study.
        size: The largest number of molecules for each rule.
        out: As for :func:`score_dataset`, like the other arguments.

    Returns:
        The scores, and the files that were written.
    """
    options = {**({"label": None} if "label" in options_of(data) else {}), **(options or {})}
    graphs, stem, device, console = _begin(data, "rules", out, device, workers, console, options, on_error, cycles)
    study = replace(study, models=RULE_MODELS)
    sizes, scores = {}, {}
    samples = dict(rule_graphs(graphs, rules, size))  # all first: a rule that cannot be used stops at once
    for name, sample in samples.items():
        console.print(f"{name}: {rules[name].text}", markup=False, highlight=False, soft_wrap=True)
        sizes[name] = RuleSize(rules[name].text, len(sample), int(sample.graph_columns[DECOY].sum()))
        scores[name] = score_explanations(sample, study, device, workers, _printed_by(console))
    result = RuleScores(graphs.name, sizes, scores)
    return result, _write(stem, result)


def score_agreement(
    data: str | os.PathLike[str],
    study: Study,
    *,
    size: int = 1000,
    out: str | os.PathLike[str] = "runs",
    workers: int | None = None,
    console: Console | None = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "skip",
    cycles: bool = False,
) -> tuple[StabilityScores, list[Path]]:
    """Measures how far positions of trainings agree, and writes ``stability-NAME.md`` and ``stability-NAME.csv``.

    Args:
        data: A dataset with classes.
        study: The settings of the study.
        size: The largest number of graphs; of more, a random sample is taken.
        out: As for :func:`score_dataset`, like the other arguments.

    Returns:
        The scores, and the files that were written.
    """
    graphs, stem, _, console = _begin(data, "stability", out, "cpu", workers, console, options, on_error, cycles)
    if len(graphs) > size:
        graphs = graphs[torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:size].sort().values]
    scores = score_stability(graphs, study, workers, _printed_by(console))
    return scores, _write(stem, scores)


def _begin(
    data: str | os.PathLike[str],
    what: str,
    out: str | os.PathLike[str],
    device: str,
    workers: int | None,
    console: Console | None,
    options: Mapping[str, Any] | None,
    on_error: str,
    cycles: bool,
) -> tuple[GraphSet, Path, str, Console]:
    """Loads the graphs; returns them with the files' path without ending, the device and the console."""
    check_placement(device, workers)
    console = console or Console(stderr=True)
    graphs = read_usable(data, on_error, **(options or {}))
    stem = Path(out) / f"{what}-{graphs.name}"
    if cycles:
        graphs = with_cycles(graphs)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    for text in (f"{graphs!r}, on {device}", *skipped_note(graphs, stem)):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    return graphs, stem, device, console


def _printed_by(console: Console) -> Callable[[str], None]:
    return lambda text: console.print(text, markup=False, highlight=False)


def _write(stem: Path, scores: Scores | RuleScores | StabilityScores) -> list[Path]:
    return [
        write_text(stem.with_name(f"{stem.name}.md"), scores.markdown()),
        write_csv(stem.with_name(f"{stem.name}.csv"), scores.table),
    ]
