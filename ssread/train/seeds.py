"""The random numbers of a run: one stream for each purpose, all from its seed and fold."""

import numpy as np

from ssread.train.runs import Run

__all__ = ["Stream", "seeded"]


class Stream:
    """What a stream of random numbers is used for."""

    WEIGHTS, ORDER, DROPOUT = range(3)


def seeded(run: Run, stream: int) -> int:
    """Returns the seed of one stream of a run. Both readouts get the same seeds, so that nothing else differs."""
    return int(np.random.SeedSequence([run.seed, run.fold, stream]).generate_state(1, np.uint64)[0]) >> 1
