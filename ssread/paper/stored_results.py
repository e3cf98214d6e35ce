"""What a list of trainings says of an experiment, also while some are missing; nothing is trained or loaded here."""

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.plain_json import canonical_json
from ssread.errors import InputError
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.keys import run_settings, selection
from ssread.evaluate.protocol import Aggr, best_dropout, best_positions, trainings
from ssread.evaluate.report import Cell, TableCell
from ssread.evaluate.statistics import compare
from ssread.evaluate.store import aggregation_name
from ssread.published.results import paper_result
from ssread.train.runs import Run, Training

__all__ = ["MissingCell", "StoredResults"]

ABSENT = -1


@dataclass(frozen=True)
class MissingCell(TableCell):
    """A cell without one seed whose folds were all trained with both readouts.

    Attributes:
        done: Trainings of the cell that are there.
        total: Those it needs.
    """

    done: int
    total: int


class StoredResults:
    """The trainings of one dataset that belong to an experiment.

    A seed counts when all of its folds are there: K is chosen over the seeds that every candidate has, a cell is
    compared over those that both readouts have. When nothing is missing this is what
    :func:`ssread.evaluate.protocol.compare_readouts` reports.

    Args:
        rows: Trainings as :meth:`ssread.evaluate.Store.table` gives them, of any datasets and settings. Of two for the
            same training the first counts; of two datasets of one name the one with more trainings.
        dataset: The name of the dataset.
        experiment: What is compared, and how; its metric is the accuracy.
    """

    def __init__(self, rows: pd.DataFrame, dataset: str, experiment: Experiment):
        self.dataset = dataset
        rule = selection(experiment.training, experiment.learn, experiment.task)
        rows = rows[(rows["dataset"] == dataset) & (rows["selection"] == rule)]
        wanted = canonical_json(dataclasses.asdict(experiment.training))
        same = [text for text in rows["training"].unique() if _with_defaults(text) == wanted]
        rows = rows[rows["training"].isin(same)]
        if rows["fingerprint"].nunique() > 1:
            rows = rows[rows["fingerprint"] == rows["fingerprint"].value_counts(sort=True).index[0]]
        self._rows = rows.drop_duplicates("run")
        self._places = {text: place for place, text in enumerate(self._rows["run"])}
        self._dropouts = experiment.dropouts()
        self.experiment = self._dropouts[0]
        self.settled = len(self._dropouts) == 1
        groups = [self._rows_of(*choice.base, None, choice) for choice in self._dropouts]
        if not self.settled and (seeds := _complete(*groups)).any():
            accuracies = [self._values("valid_accuracy", places[seeds]) for places in groups]
            self.experiment = best_dropout(self._dropouts, [v[np.isfinite(v)].tolist() for v in accuracies])
            self.settled = True

    @cached_property
    def positions(self) -> int | None:
        """The K of SSRead: the one given, or that of the best validation accuracy, or None while that is not known."""
        if not self.settled:
            return None
        if self.experiment.positions is not None:
            return self.experiment.positions
        candidates = [self._rows_of(*self.experiment.base, k) for k in POSITIONS]
        seeds = _complete(*candidates)
        if not seeds.any():
            return None
        accuracies = [self._values("valid_accuracy", places[seeds]) for places in candidates]
        return best_positions([values[np.isfinite(values)].tolist() for values in accuracies], self.experiment.base)

    def progress(self) -> tuple[int, int]:
        """How many of the trainings there are, of how many."""
        texts = self._texts()
        unknown = 0  # with SSRead, while K is not known; those of the base classifier are among the candidates
        if self.positions is None:
            others = [cell for cell in self.experiment.cells() if cell != self.experiment.base]
            unknown = len(others) * self.experiment.seeds * self.experiment.folds
        return len(texts & self._places.keys()), len(texts) + unknown

    def used(self) -> pd.DataFrame:
        """The rows of these trainings."""
        return self._rows[self._rows["run"].isin(self._texts())]

    def cells(self) -> list[Cell | MissingCell]:
        """Every cell of the experiment."""
        return [self._cell(arch, aggr) for arch, aggr in self.experiment.cells()]

    def _cell(self, arch: str, aggr: Aggr) -> Cell | MissingCell:
        name, learn, task = aggregation_name(arch, aggr), self.experiment.learn, self.experiment.task
        known: dict[str, Any] = {"learn": learn, "task": task}
        if task == "class":
            for readout in ("global", "ssread"):
                known[f"paper_{readout}"] = paper_result(self.dataset, arch, aggr, readout, learn)
        before = self._rows_of(arch, aggr, None)
        after = np.full_like(before, ABSENT) if self.positions is None else self._rows_of(arch, aggr, self.positions)
        seeds = _complete(before, after)
        if self.positions is None or not seeds.any():
            done = int((before != ABSENT).sum() + (after != ABSENT).sum())
            return MissingCell(self.dataset, arch, name, done, before.size + after.size, **known)
        scores = [self._values("test_accuracy", places[seeds]) for places in (before, after)]
        found = compare(*scores, test_to_train=self.experiment.test_to_train, margin=self.experiment.margin / 100)
        return Cell(self.dataset, arch, name, self.positions, found, **known)

    def _texts(self) -> set[str]:
        """All trainings of the experiment, as far as K is known."""
        groups: list[tuple[str, Aggr, int | None]] = [(arch, aggr, None) for arch, aggr in self.experiment.cells()]
        if self.experiment.positions is None:
            groups += [(*self.experiment.base, k) for k in POSITIONS]
        if self.positions is not None:
            groups += [(arch, aggr, self.positions) for arch, aggr in self.experiment.cells()]
        texts = {_text(run) for group in groups for run in trainings(self.experiment, *group)}
        chosen_from = self._dropouts if len(self._dropouts) > 1 else []
        return texts | {_text(run) for choice in chosen_from for run in trainings(choice, *choice.base, None)}

    def _rows_of(
        self, arch: str, aggr: Aggr, positions: int | None, experiment: Experiment | None = None
    ) -> np.ndarray:
        """The places of a classifier's trainings among the rows, [seeds, folds]; ABSENT where there is none."""
        runs = trainings(experiment or self.experiment, arch, aggr, positions)
        places = [self._places.get(_text(run), ABSENT) for run in runs]
        return np.array(places).reshape(self.experiment.seeds, self.experiment.folds)

    def _values(self, column: str, places: np.ndarray) -> np.ndarray:
        return self._rows[column].to_numpy(dtype=float)[places]


def _complete(*places: np.ndarray) -> np.ndarray:
    """Which seeds have all folds everywhere, [seeds]."""
    return np.all([(group != ABSENT).all(axis=1) for group in places], axis=0)


def _with_defaults(training: str) -> str:
    """A row's settings of training; what it does not say, as rows written before a setting existed, is the default."""
    try:
        return canonical_json({**dataclasses.asdict(Training()), **json.loads(training)})
    except (ValueError, TypeError):
        raise InputError(
            f"A training has settings that are no JSON: {training!r}. Restore a copy of the file."
        ) from None


def _text(run: Run) -> str:
    """A run as rows have it."""
    return canonical_json(run_settings(run))
