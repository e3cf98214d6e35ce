"""``ssread explain --score`` as a function: load, train, score, write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from ssread.apply.graph_inputs import read_usable
from ssread.apply.reading_notes import skipped_note
from ssread.common.files import write_csv, write_text
from ssread.evaluate.placement import check_placement
from ssread.explain.scores import Scores
from ssread.explain.scoring import score_explanations
from ssread.explain.study import Study

__all__ = ["score_dataset"]


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

    Returns:
        The scores, and the files that were written.
    """
    check_placement(device, workers)
    console = console or Console(stderr=True)
    graphs = read_usable(data, on_error, **(options or {}))
    stem = Path(out) / f"scores-{graphs.name}"
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    for text in (f"{graphs!r}, on {device}", *skipped_note(graphs, stem)):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    scores = score_explanations(
        graphs, study, device, workers, lambda text: console.print(text, markup=False, highlight=False)
    )
    files = [
        write_text(stem.with_name(f"{stem.name}.md"), scores.markdown()),
        write_csv(stem.with_name(f"{stem.name}.csv"), scores.table),
    ]
    return scores, files
