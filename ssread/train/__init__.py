"""Training: a single model or a stack of models, with early stopping on held-out graphs."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.train.fit import train
    from ssread.train.runs import Run, RunResult, Training

__all__ = ["Run", "RunResult", "Training", "train"]

lazy_exports(
    __name__,
    {
        "fit": ["train"],
        "runs": ["Run", "RunResult", "Training"],
    },
)
