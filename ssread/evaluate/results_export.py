"""Exports of the results store: CSV, Markdown, LaTeX."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ssread.common.files import write_text
from ssread.common.markdown import markdown_table
from ssread.errors import InputError
from ssread.evaluate.stored_settings import stored_run, stored_training
from ssread.train.runs import Training

if TYPE_CHECKING:
    import pandas as pd

    from ssread.evaluate.store import Store

__all__ = ["check_export", "export", "results_by_cell"]

IN_COLUMNS = ("name", "readout", "aggr", "num_positions")  # model arguments that have a column of their own


def export(store: Store, path: str | os.PathLike[str]) -> None:
    """Writes a store's results to ``path``, all or nothing, in the format of its extension.

    Args:
        store: The results store.
        path: ``.csv`` has a row per training with all settings; ``.md`` and ``.tex``, which are for reading, have a
            row per table cell: mean and standard deviation of the test accuracy in percent (:func:`results_by_cell`).
    """
    check_export(path)
    write_text(Path(path), WRITERS[Path(path).suffix.lower()](store))


def check_export(path: str | os.PathLike[str]) -> None:
    """Raises an ``InputError`` unless :func:`export` can write a file with this extension."""
    if Path(path).suffix.lower() not in WRITERS:
        raise InputError(f"{path} cannot be written: its extension must be one of {', '.join(WRITERS)}.")


def results_by_cell(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the test accuracy of each table cell: a row for all seeds and folds of the same settings."""
    import pandas as pd  # takes a second: a wrong file name is reported before

    from ssread.evaluate.statistics import summarize

    if table.empty:
        return pd.DataFrame()
    cells = table.assign(settings=[_settings(*row) for row in zip(table["run"], table["training"], strict=True)])
    same = ["dataset", "fingerprint", "arch", "readout", "aggr", "num_positions", "num_folds", "selection", "settings"]
    rows = []
    for values, runs in cells.groupby(same, sort=True):
        result = summarize(100 * runs.pivot_table("test_accuracy", "seed", "fold", "first", dropna=False))
        cell = dict(zip(same, values, strict=True))
        rows.append(
            {
                "dataset": cell["dataset"],
                "model": cell["arch"],
                "readout": cell["readout"],
                "aggregation": cell["aggr"],
                "K": cell["num_positions"],
                "settings": cell["settings"],
                "folds": cell["num_folds"],
                "seeds": runs["seed"].nunique(),
                "runs": result.runs,
                "failed": int((runs["failed"] != "").sum()),
                "accuracy": result.mean,
                "sd": result.sd,
                "sd over": result.sd_over,
            }
        )
    return pd.DataFrame(rows)


def _as_markdown(cells: pd.DataFrame) -> str:
    rows = [[f"{value:.2f}" if isinstance(value, float) else value for value in row] for row in cells.to_numpy()]
    return markdown_table(list(cells.columns), rows)


def _settings(run: str, training: str) -> str:
    """Returns settings without a column that are not the default, to tell otherwise equal cells apart."""
    others = {name: value for name, value in stored_run(run)["model"].items() if name not in IN_COLUMNS}
    defaults = dataclasses.asdict(Training())
    others |= {name: value for name, value in stored_training(training).items() if defaults.get(name) != value}
    return ", ".join(f"{name}={value}" for name, value in sorted(others.items()))


WRITERS: dict[str, Callable[[Store], str]] = {
    ".csv": lambda store: store.table().to_csv(index=False, lineterminator="\n"),
    ".md": lambda store: _as_markdown(results_by_cell(store.table())),
    ".tex": lambda store: results_by_cell(store.table()).to_latex(index=False, escape=True, float_format="%.2f"),
}
