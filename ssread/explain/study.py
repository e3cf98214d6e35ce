"""A study of explanations: what is scored, and the scores with their paired tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ssread.common.markdown import markdown_table
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.statistics import compare, fold_ratio, format_p
from ssread.train.runs import Run, Training

__all__ = ["NO_MODEL", "TRAINED", "Scores", "Study"]

#: The models that are trained, and the name for methods that need none.
TRAINED = ("SSRead", "global readout", "TopKPool", "DiffPool")
NO_MODEL = "no model"

FOLDS = 5

#: The method of each part of the table that all others are tested against.
REFERENCE = {"agreement": "SSRead positions", "localisation": "SSRead activation"}


@dataclass(frozen=True)
class Study:
    """The settings of a study.

    Attributes:
        positions: The number of positions K, and of clusters of the poolings.
        seeds: The number of repetitions, each with its own folds, weights and order of graphs.
        explained: The largest number of test graphs in which the motif is localised, drawn at random with the seed.
            GNNExplainer takes about a second for each.
        training: How models are trained.
        model: Further arguments of the GCN, such as ``hidden_channels``.
    """

    positions: int = 4
    seeds: int = 5
    explained: int = 100
    training: Training = field(default_factory=Training)
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Experiment(positions=self.positions, seeds=self.seeds, training=self.training)  # checks them
        if self.explained < 1:
            raise InputError(f"explained must be 1 or more, but {self.explained} was given.")

    def run(self, model: str, seed: int) -> Run:
        """The training of one model; the first of five folds is the test part."""
        arguments: dict[str, dict[str, Any]] = {
            "SSRead": {"name": "gcn", "readout": "ssread", "num_positions": self.positions, **self.model},
            "global readout": {"name": "gcn", "readout": "global", **self.model},
            "TopKPool": {"name": "gunet", "readout": "global"},
            "DiffPool": {"name": "diffpool", "readout": "global", "num_clusters": self.positions},
        }
        return Run(arguments.get(model, {}), seed, 0, FOLDS)


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
