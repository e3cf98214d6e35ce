"""How many trainings are still to come, and how long they will take, judged by the trainings so far."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ssread.common.plain_json import canonical_json
from ssread.evaluate.keys import run_settings
from ssread.evaluate.linear_evaluation import by_encoder
from ssread.evaluate.runners import Runner
from ssread.evaluate.stored_settings import stored_run
from ssread.paper.stored_results import StoredResults
from ssread.train.runs import Run

__all__ = ["Remaining", "duration", "remaining"]


@dataclass(frozen=True)
class Remaining:
    """What is left of some experiments; a training that several of them need counts once.

    Attributes:
        done: The number of stored trainings.
        to_come: The number of missing trainings.
        seconds: How long those will take; None if that is unknown.
        unmeasured: How many of them have no stored training of their dataset and architecture on such a device, and
            are taken to last as long as the average of all.
        unknown: Until when or where the time is unknown.
    """

    done: int
    to_come: int
    seconds: float | None
    unmeasured: int = 0
    unknown: str = "until some of this kind are trained on such a device"

    def __str__(self) -> str:
        counts = f"{self.done:,} trainings done, {self.to_come:,} to come"
        if not self.to_come:
            return counts
        if self.seconds is None:
            return f"{counts}, time unknown {self.unknown}"
        unmeasured = f", {self.unmeasured:,} of them by the average of all so far" if self.unmeasured else ""
        return f"{counts}, about {duration(self.seconds)}{unmeasured}"


def remaining(results: Sequence[StoredResults], runner: Runner, known: Sequence[StoredResults] = ()) -> Remaining:
    """What is left of experiments.

    The time is that of stored trainings with the same settings on the same kind of device: of the same dataset,
    architecture and objective if there are any, else of all. Encoders are counted, since only they take long.

    Args:
        results: The experiments, as far as they are stored.
        runner: Where the missing trainings would run.
        known: Further experiments whose stored trainings tell how long one takes.
    """
    missing: dict[str, dict[str, Run]] = {}
    for result in results:
        runs = {canonical_json(run_settings(run)): run for run in result.to_come()}
        missing.setdefault(result.dataset, {}).update(runs)
    to_come = sum(map(len, missing.values()))
    done = len({key for result in results for key in result.used()["key"]})
    if not to_come:
        return Remaining(done, 0, 0.0)
    workers = getattr(runner, "workers", None)
    if workers is None:
        return Remaining(done, to_come, None, unknown="on a cluster, whose size may change")
    measured = _measured([*results, *known], runner.device)
    if not measured:
        return Remaining(done, to_come, None)
    average = float(np.mean([second for seconds in measured.values() for second in seconds]))
    total, unmeasured = 0.0, 0
    for dataset, runs in missing.items():
        for group in by_encoder(list(runs.values())):
            seconds = measured.get((dataset, group[0].model["name"], group[0].learn))
            total += average if seconds is None else float(np.mean(seconds))
            unmeasured += len(group) * (seconds is None)
    return Remaining(done, to_come, total / workers, unmeasured)


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> duration(45), duration(600), duration(9000), duration(400000)
    ('45 seconds', '10 minutes', '2.5 hours', '4.6 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 86400:.1f} days"


def _measured(results: Sequence[StoredResults], device: str) -> dict[tuple[str, str, str], list[float]]:
    """The seconds of stored trainings by dataset, architecture and objective."""
    measured: dict[tuple[str, str, str], list[float]] = {}
    rows = pd.concat([result.rows for result in results]).drop_duplicates("key") if results else pd.DataFrame()
    if len(rows):
        rows = rows[(rows["device"] == device) & (rows["failed"] == "") & (rows["seconds"] > 0)]
    for row in rows.itertuples():
        learn = stored_run(row.run).get("learn", "supervised")
        measured.setdefault((row.dataset, row.arch, learn), []).append(row.seconds)
    return measured
