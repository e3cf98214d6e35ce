"""The figures of ``benchmarks/molecules.py``: kept as they arrive, and shown as a table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.files import write_text
from ssread.errors import InputError

__all__ = ["Figures", "write_table"]

#: What a figure is of; no two rows agree in all of these.
KEY = ["set", "split", "method", "settings", "seed", "label"]
COLUMNS = [*KEY, "metric", "value", "seconds", "device", "chosen"]

#: The label of the mean over all labels.
MEAN = "mean"

#: Between these lines of a page stands the table.
BEGIN, END = "<!-- molecules: the table below is written by benchmarks/molecules.py -->", "<!-- molecules: end -->"


class Figures:
    """Rows of a label, a seed and a method each; in memory, or in the CSV files of a folder.

    New rows are appended to ``figures.csv``; those of other machines may lie beside it under other names.
    """

    def __init__(self, folder: Path | None):
        self._path = folder and folder / "figures.csv"
        self._rows = pd.DataFrame(columns=COLUMNS)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            found = [pd.read_csv(path) for path in sorted(folder.glob("*.csv"))]
            if found:
                self._rows = pd.concat(found).drop_duplicates(KEY)

    def has(self, **what: Any) -> bool:
        """Whether there is a figure of these values of columns."""
        agree = [self._rows[name] == value for name, value in what.items()]
        return bool(np.logical_and.reduce(agree).any()) if len(self._rows) else False

    def add(self, what: dict[str, Any], metric: str, values: dict[str, float], seconds: float) -> None:
        """Adds the value of every label, says the mean, and writes them at once."""
        rows = [
            {**what, "label": label, "metric": metric, "value": round(value, 5), "seconds": round(seconds, 2)}
            for label, value in values.items()
        ]
        new = pd.DataFrame(rows, columns=COLUMNS)
        if self._path is not None:
            new.to_csv(self._path, mode="a", header=not self._path.is_file(), index=False)
        self._rows = new if self._rows.empty else pd.concat([self._rows, new])
        one = rows[0]
        print(
            f"{one['set']} {one['split']} {one['seed']} {one['method']} {metric} {one['value']:.4f} "
            f"{seconds:.0f} s {one['chosen']}",
            flush=True,
        )

    def table(self) -> str:
        """A row per set, split and method in Markdown: every seed, their mean and standard error, the mean time."""
        lines = [
            "| set | split | metric | method | by seed | mean | standard error | seconds |",
            "|---|---|---|---|---|---|---|---|",
        ]
        rows = self._rows[self._rows["label"] == MEAN]
        for (name, split, method, how), group in rows.groupby(KEY[:4]):
            values = group.sort_values("seed")["value"].to_numpy()
            error = f"{values.std(ddof=1) / len(values) ** 0.5:.3f}" if len(values) > 1 else "unknown"
            device = "" if set(group["device"]) == {"cpu"} else f" ({', '.join(sorted(set(group['device'])))})"
            lines.append(
                f"| {name} | {split} | {group['metric'].iloc[0]} | {method} ({how}) | "
                f"{', '.join(f'{value:.3f}' for value in values)} | {values.mean():.3f} | {error} | "
                f"{group['seconds'].mean():.0f}{device} |"
            )
        return "\n".join(lines)


def write_table(figures: Figures, page: Path) -> None:
    """Replaces the table of a page."""
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise InputError(f"{page} has no place for the table: write the lines {BEGIN} and {END} where it belongs.")
    before, rest = text.split(BEGIN)
    write_text(page, f"{before}{BEGIN}\n\n{figures.table()}\n\n{END}{rest.split(END)[1]}")
