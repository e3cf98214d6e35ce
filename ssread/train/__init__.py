"""Training: one model alone or many as one, with early stopping on held-out graphs."""

from ssread.train.fit import train
from ssread.train.runs import Run, RunResult, Training

__all__ = ["Run", "RunResult", "Training", "train"]
