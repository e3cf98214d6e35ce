"""The scores of explanations over several rules: how good the models are, then how well each method finds the atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from ssread.common.markdown import markdown_table
from ssread.evaluate.bootstrap import crossed_interval
from ssread.evaluate.significance import fold_ratio
from ssread.evaluate.statistics import compare, format_p
from ssread.explain.scores import REFERENCE, Scores
from ssread.explain.study import FOLDS

__all__ = ["ACCURATE", "RuleScores", "RuleSize"]

#: A model that is less accurate than this has not found the rule: where it looks says nothing.
ACCURATE = 0.95
#: The models that must have found a rule for it to count.
COMPARED = ("SSRead", "global readout")
MEASURES = ("AUC", "AP", "bond AUC", "fidelity+", "fidelity-", "sufficiency", "ms per graph")


class RuleSize(NamedTuple):
    """The text of a rule, how many molecules were labelled by it, and how many of the negatives are decoys."""

    text: str
    molecules: int
    decoys: int


@dataclass(frozen=True)
class RuleScores:
    """The scores of a study for several rules.

    Attributes:
        dataset: The name of the dataset that the molecules are from.
        sizes: The sample of every rule, by name.
        scores: The scores of every rule, by name.
    """

    dataset: str
    sizes: dict[str, RuleSize]
    scores: dict[str, Scores]

    @property
    def table(self) -> pd.DataFrame:
        """A row for every rule, seed, method and measure: columns ``rule seed part method measure value``."""
        parts = [scores.table.assign(rule=name) for name, scores in self.scores.items()]
        columns = ["rule", "seed", "part", "method", "measure", "value"]
        return pd.concat(parts, ignore_index=True)[columns]

    def accuracies(self) -> pd.DataFrame:
        """Mean test accuracy by rule (rows) and model."""
        table = self.table[self.table["part"] == "models"]
        return table.pivot_table("value", "rule", "method", sort=False)

    def counted(self) -> list[str]:
        """The rules that SSRead and the global readout have found, by their mean test accuracy."""
        accuracies = self.accuracies()
        models = [model for model in COMPARED if model in accuracies]
        return [str(rule) for rule in accuracies.index[(accuracies[models] >= ACCURATE).all(axis=1)]]

    def summary(self) -> pd.DataFrame:
        """By method and measure, over the counted rules: mean, its interval over rules and seeds, paired tests."""
        table = self.table[(self.table["part"] == "localisation") & self.table["rule"].isin(self.counted())]
        by_seed = table.groupby(["method", "measure", "seed"], sort=False)["value"].mean().unstack("seed")
        rows = []
        for (method, measure), values in by_seed.iterrows():
            own = values.to_numpy()[:, None]
            cells = table[(table["method"] == method) & (table["measure"] == measure)]
            low, high = crossed_interval(cells.pivot_table("value", "rule", "seed").to_numpy())
            row = {"method": method, "measure": measure, "mean": float(np.nanmean(own)), "low": low, "high": high}
            reference = (REFERENCE["localisation"], measure)
            row["corrected p"] = float("nan")
            if method != reference[0] and reference in by_seed.index and len(own) > 1:
                pair = own, by_seed.loc[reference].to_numpy()[:, None]
                row["corrected p"] = compare(*pair, test_to_train=fold_ratio(FOLDS)).corrected_p
            rows.append(row)
        return pd.DataFrame(rows, columns=["method", "measure", "mean", "low", "high", "corrected p"])

    def markdown(self) -> str:
        """Models by rule, methods over all counted rules, and the AUC of every method by rule."""
        first = next(iter(self.scores.values()))
        study, counted = first.study, self.counted()
        texts = [
            f"{self.dataset}: molecules labelled by rules; the atoms that decide are known. K = {study.positions}; "
            f"{study.seeds} seeds; test parts, the first of {FOLDS} folds; at most {study.explained} positives "
            f"explained for each rule and seed. A rule counts where SSRead and the global readout both reach "
            f"{ACCURATE:.0%} test accuracy: a model that has not found the rule cannot be asked for it.",
            f"**Models**\n\n{self._models(counted)}",
        ]
        if counted:
            texts.append(
                f"**Methods**, means over {len(counted)} of {len(self.scores)} rules (95 % interval: rules and seeds "
                "drawn with replacement), and p of the AUC's difference from SSRead's decomposition, paired over "
                f"seeds, corrected for overlapping training parts\n\n{self._methods()}"
            )
        texts.append(f"**AUC by rule**; in brackets where the rule does not count\n\n{self._by_rule(counted)}")
        return "\n\n".join(text.strip() for text in texts) + "\n"

    def _models(self, counted: list[str]) -> str:
        accuracies = self.accuracies()
        rows = []
        for rule, values in accuracies.iterrows():
            size = self.sizes[str(rule)]
            cells = [f"{value:.3f}{'' if value >= ACCURATE else ' (!)'}" for value in values]
            says = "" if str(rule) in counted else "says nothing"
            rows.append([str(rule), size.text, size.molecules, size.decoys, *cells, says])
        return markdown_table(["rule", "it says", "molecules", "decoys", *accuracies.columns, "score"], rows)

    def _methods(self) -> str:
        summary = self.summary().set_index(["method", "measure"])
        means = summary["mean"].unstack("measure")
        order = means.sort_values("AUC", ascending=False).index
        rows = []
        for method in order:
            cells = [_interval(summary.loc[(method, measure)], measure) for measure in MEASURES]
            rows.append([method, *cells, format_p(summary.loc[(method, "AUC"), "corrected p"])])
        return markdown_table(["method", *MEASURES, "p"], rows)

    def _by_rule(self, counted: list[str]) -> str:
        table = self.table[(self.table["part"] == "localisation") & (self.table["measure"] == "AUC")]
        means = table.pivot_table("value", "method", "rule", sort=False)
        rows = [
            [method, *(f"{v:.3f}" if rule in counted else f"({v:.3f})" for rule, v in values.items())]
            for method, values in means.iterrows()
        ]
        return markdown_table(["method", *means.columns], rows)


def _interval(cell: pd.Series, measure: str) -> str:
    if measure == "ms per graph":
        return f"{cell['mean']:.2g}" if cell["mean"] < 100 else f"{cell['mean']:.0f}"
    if measure not in ("AUC", "AP") or not np.isfinite(cell["low"]):
        return f"{cell['mean']:.3f}"
    return f"{cell['mean']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})"
