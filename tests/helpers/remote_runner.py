"""A runner whose trainings have a GPU that this machine lacks."""

from collections.abc import Iterator, Sequence

from ssread.data import GraphSet
from ssread.evaluate.runners import CPURunner
from ssread.train.runs import Run, RunResult, Training


class RemoteRunner:
    """Stands for a Ray cluster with GPUs; the trainings run here on the CPU."""

    device = "cuda"

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        return CPURunner(1).train(graphs, runs, training)
