"""The scores of a study of explanations, with their paired tests."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ssread.common.markdown import markdown_table
from ssread.evaluate.significance import fold_ratio
from ssread.evaluate.statistics import compare, format_p
from ssread.explain.study import FOLDS, Study

__all__ = ["Scores"]

#: The method of each part of the table that all others are tested against.
REFERENCE = {"agreement": "SSRead positions", "localisation": "SSRead decomposition"}


@dataclass(frozen=True)
class Scores:
    """The scores of a study.

    Attributes:
        dataset: The name of the dataset.
        truth: A description of the ground truth.
        study: The settings.
        table: A row for every seed, method and measure, with columns ``seed part method measure value``.
    """

    dataset: str
    truth: str
    study: Study
    table: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Mean and standard deviation over seeds, and paired tests against SSRead, by part, method and measure."""
        rows = []
        for (part, measure), values in self.table.groupby(["part", "measure"], sort=False):
            by_method = values.pivot_table("value", "seed", "method", sort=False)
            reference = by_method.get(REFERENCE.get(str(part), ""))
            for method in by_method:
                column = by_method[method]
                p = corrected_p = float("nan")
                if reference is not None and method != reference.name and len(column) > 1:
                    pair = column.to_numpy()[:, None], reference.to_numpy()[:, None]
                    comparison = compare(*pair, test_to_train=fold_ratio(FOLDS))
                    p, corrected_p = comparison.p, comparison.corrected_p
                rows.append(
                    {
                        **{"part": part, "method": method, "measure": measure},
                        **{"mean": column.mean(), "sd": column.std(), "seeds": column.count()},
                        **{"p": p, "corrected p": corrected_p},
                    }
                )
        return pd.DataFrame(rows)

    def markdown(self) -> str:
        """A table per part: a row for every method, mean (sd) and the corrected p-value against SSRead."""
        texts = [
            f"{self.dataset}: {self.truth}. K = {self.study.positions}; {self.study.seeds} seeds; mean (standard "
            f"deviation over seeds) on the test part, the first of {FOLDS} folds; p: paired t-test against SSRead over "
            "seeds, corrected for overlapping training parts."
        ]
        for part, values in self.summary().groupby("part", sort=False):
            measures = list(dict.fromkeys(values["measure"]))
            rows = []
            for method, cells in values.groupby("method", sort=False):
                by_measure = cells.set_index("measure")
                rows.append([method, *(_format_cell(by_measure, measure) for measure in measures)])
            texts.append(f"**{str(part).capitalize()}**\n\n{markdown_table(['method', *measures], rows).strip()}")
        return "\n\n".join(texts) + "\n"


def _format_cell(by_measure: pd.DataFrame, measure: str) -> str:
    """Mean (sd), and the corrected p-value where there is one."""
    if measure not in by_measure.index:
        return "-"
    cell = by_measure.loc[measure]
    p = cell["corrected p"]
    return f"{cell['mean']:.3f} ({cell['sd']:.3f})" + ("" if pd.isna(p) else f", {format_p(p)}")
