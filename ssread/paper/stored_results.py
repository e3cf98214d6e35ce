"""The results of experiments, as far as they are among stored trainings. Nothing is trained or loaded here."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.plain_json import canonical_json
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.keys import aggregation_name, run_settings, selection
from ssread.evaluate.protocol import Aggr, best_dropout, best_positions, trainings
from ssread.evaluate.report import Cell, TableCell
from ssread.evaluate.statistics import compare
from ssread.evaluate.stored_settings import stored_training
from ssread.published.results import paper_result
from ssread.train.runs import Run, Training

__all__ = ["MissingCell", "StoredResults", "all_results"]

MISSING = -1


@dataclass(frozen=True)
class MissingCell(TableCell):
    """A cell without a seed whose folds were all trained with both readouts.

    Attributes:
        done: The number of trainings of the cell that are stored.
        total: The number of trainings that it needs.
    """

    done: int
    total: int


class StoredResults:
    """The stored trainings of an experiment on one dataset.

    A seed counts once all of its folds are trained: K is chosen over the seeds that all candidates have, and a cell is
    compared over the seeds that both readouts have. If nothing is missing, the cells are those that
    :func:`ssread.evaluate.protocol.compare_readouts` reports.

    Args:
        rows: Trainings as :meth:`ssread.evaluate.Store.table` returns them, of any datasets and settings. If a training
            occurs twice, the first row counts; of two datasets of one name, the one with more trainings.
        dataset: The name of the dataset.
        experiment: The experiment; its metric is the accuracy.

    Attributes:
        dataset: The name of the dataset.
        experiment: The experiment, with its dropout as soon as that can be chosen.
        dropout_chosen: Whether its dropout is given or could be chosen.
        rows: The stored trainings on this dataset with these training settings, also those of other classifiers.
    """

    def __init__(self, rows: pd.DataFrame, dataset: str, experiment: Experiment):
        self.dataset = dataset
        rule = selection(experiment.training, experiment.learn, experiment.task)
        rows = rows[(rows["dataset"] == dataset) & (rows["selection"] == rule)]
        training = canonical_json(dataclasses.asdict(experiment.training))
        equal = [text for text in rows["training"].unique() if _with_defaults(text) == training]
        rows = rows[rows["training"].isin(equal)]
        if rows["fingerprint"].nunique() > 1:
            rows = rows[rows["fingerprint"] == rows["fingerprint"].value_counts(sort=True).index[0]]
        self.rows = rows.drop_duplicates("run")
        self._row_of = {text: row for row, text in enumerate(self.rows["run"])}
        self._candidates = experiment.dropouts()
        self.experiment = self._candidates[0]
        self.dropout_chosen = len(self._candidates) == 1
        if not self.dropout_chosen:
            groups = [self._rows_of(*candidate.base, None, candidate) for candidate in self._candidates]
            if (seeds := _complete(*groups)).any():
                self.experiment = best_dropout(self._candidates, self._valid_accuracies(groups, seeds))
                self.dropout_chosen = True

    @cached_property
    def positions(self) -> int | None:
        """The K of SSRead: given, or of the best validation accuracy; None while it cannot be chosen."""
        if not self.dropout_chosen:
            return None
        if self.experiment.positions is not None:
            return self.experiment.positions
        groups = [self._rows_of(*self.experiment.base, k) for k in POSITIONS]
        seeds = _complete(*groups)
        return best_positions(self._valid_accuracies(groups, seeds), self.experiment.base) if seeds.any() else None

    def progress(self) -> tuple[int, int]:
        """The number of stored trainings, and of all trainings."""
        needed = self._needed()
        return len(needed.keys() & self._row_of.keys()), len(needed) + len(self._later())

    def to_come(self) -> list[Run]:
        """The trainings that are missing; those whose K is not chosen yet have the smallest."""
        return [run for text, run in self._needed().items() if text not in self._row_of] + self._later()

    def used(self) -> pd.DataFrame:
        """The rows of these trainings."""
        return self.rows[self.rows["run"].isin(self._needed().keys())]

    def cells(self) -> list[Cell | MissingCell]:
        """Every cell of the experiment."""
        return [self._cell(arch, aggr) for arch, aggr in self.experiment.cells()]

    def _cell(self, arch: str, aggr: Aggr) -> Cell | MissingCell:
        name, learn, task = aggregation_name(arch, aggr), self.experiment.learn, self.experiment.task
        common: dict[str, Any] = {"learn": learn, "task": task}
        if task == "class":
            for readout in ("global", "ssread"):
                common[f"paper_{readout}"] = paper_result(self.dataset, arch, aggr, readout, learn)
        before = self._rows_of(arch, aggr, None)
        after = np.full_like(before, MISSING) if self.positions is None else self._rows_of(arch, aggr, self.positions)
        seeds = _complete(before, after)
        if self.positions is None or not seeds.any():
            done = int((before != MISSING).sum() + (after != MISSING).sum())
            return MissingCell(self.dataset, arch, name, done, before.size + after.size, **common)
        scores = np.full((2, *before.shape), np.nan)
        scores[:, seeds] = [self._values("test_accuracy", rows[seeds]) for rows in (before, after)]
        ratio, margin = self.experiment.test_to_train, self.experiment.margin / 100
        comparison = compare(*scores[:, seeds], test_to_train=ratio, margin=margin)
        comparison = dataclasses.replace(comparison, scores=scores)  # those of other cells may be of other seeds
        return Cell(self.dataset, arch, name, self.positions, comparison, **common)

    def _later(self) -> list[Run]:
        """Trainings with SSRead while K or dropout is not chosen, without those that choose K."""
        if self.positions is not None:
            return []
        given = self.experiment.positions
        cells = [cell for cell in self.experiment.cells() if given is not None or cell != self.experiment.base]
        return [run for cell in cells for run in trainings(self.experiment, *cell, given or POSITIONS[0])]

    def _needed(self) -> dict[str, Run]:
        """All trainings of the experiment as they are stored, without those with SSRead while K is not chosen."""
        groups: list[tuple[str, Aggr, int | None]] = [(arch, aggr, None) for arch, aggr in self.experiment.cells()]
        if self.experiment.positions is None:
            groups += [(*self.experiment.base, k) for k in POSITIONS]
        if self.positions is not None:
            groups += [(arch, aggr, self.positions) for arch, aggr in self.experiment.cells()]
        runs = [run for group in groups for run in trainings(self.experiment, *group)]
        if len(self._candidates) > 1:
            runs += [run for candidate in self._candidates for run in trainings(candidate, *candidate.base, None)]
        return {_as_text(run): run for run in runs}

    def _rows_of(
        self, arch: str, aggr: Aggr, positions: int | None, experiment: Experiment | None = None
    ) -> np.ndarray:
        """The row of every training of a classifier, [seeds, folds]; MISSING where there is none."""
        runs = trainings(experiment or self.experiment, arch, aggr, positions)
        rows = [self._row_of.get(_as_text(run), MISSING) for run in runs]
        return np.array(rows).reshape(self.experiment.seeds, self.experiment.folds)

    def _valid_accuracies(self, groups: Iterable[np.ndarray], seeds: np.ndarray) -> list[list[float]]:
        """The validation accuracies of every group of rows for these seeds, without failed trainings."""
        values = [self._values("valid_accuracy", rows[seeds]) for rows in groups]
        return [accuracies[np.isfinite(accuracies)].tolist() for accuracies in values]

    def _values(self, column: str, rows: np.ndarray) -> np.ndarray:
        return self.rows[column].to_numpy(dtype=float)[rows]


def all_results(rows: pd.DataFrame, datasets: Iterable[str], experiments: Iterable[Experiment]) -> list[StoredResults]:
    """The stored results of every experiment on every dataset."""
    experiments = list(experiments)
    return [StoredResults(rows, dataset, experiment) for dataset in datasets for experiment in experiments]


def _complete(*groups: np.ndarray) -> np.ndarray:
    """Which seeds have all folds in all groups of rows, [seeds]."""
    return np.all([(rows != MISSING).all(axis=1) for rows in groups], axis=0)


def _with_defaults(training: str) -> str:
    """The training settings of a row; those that did not exist yet when it was written have their defaults."""
    return canonical_json({**dataclasses.asdict(Training()), **stored_training(training)})


def _as_text(run: Run) -> str:
    """A run as it is written in the column ``run``."""
    return canonical_json(run_settings(run))
