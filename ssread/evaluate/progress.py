"""The progress of a comparison: trainings done, time left, validation accuracies so far."""

from collections import defaultdict
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ssread.metrics import METRICS
from ssread.train.runs import RunResult

__all__ = ["TrainingProgress"]


class TrainingProgress:
    """Shows progress on a terminal as a bar, elsewhere as a line for every tenth of the work.

    Scores are those on validation parts: test folds are evaluated once, at the end.

    Args:
        title: What is trained.
        console: Where progress is shown.
        metric: What the scores are.
    """

    def __init__(self, title: str, console: Console, metric: str = "accuracy"):
        self._console, self._metric = console, METRICS[metric]
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._failed = 0
        self._tenth = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[scores]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._title = title
        self._task = self._bar.add_task(title, total=None, scores="")

    def __enter__(self) -> "TrainingProgress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def watch(self, done: int, total: int, result: RunResult | None) -> None:
        """Shows a new result; see :data:`ssread.evaluate.trainer.Watch`."""
        if result is not None and result.failed:
            self._failed += 1
        elif result is not None:
            name = "GRead" if result.run.model["readout"] == "global" else "SSRead"
            self._scores[name].append(result.valid_score)
        self._bar.update(self._task, completed=done, total=total, scores=self._so_far())
        tenth = 10 * done // total if total else 10
        if not self._console.is_terminal and tenth > self._tenth:
            self._tenth = tenth
            self._console.print(f"{self._title}: {done} of {total} trainings {self._so_far()}", highlight=False)

    def _so_far(self) -> str:
        """The mean validation scores of the trainings so far."""
        means = [f"{name} {self._metric.number(sum(v) / len(v))}" for name, v in sorted(self._scores.items())]
        failed = f", {self._failed} failed" if self._failed else ""
        return f"validation {', '.join(means)}{failed}" if means or failed else ""
