"""The interval of a mean over a table by resampling its rows and its columns."""

import numpy as np
from numpy.typing import ArrayLike

from ssread.errors import InputError

__all__ = ["crossed_interval"]

#: How often rows and columns are drawn again.
DRAWS = 10_000


def crossed_interval(values: ArrayLike, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """Returns the bootstrap percentile interval of the mean over a table, such as scores by dataset and seed.

    Rows and columns are drawn with replacement, each on their own, because scores of one row go together, and so do
    those of one column (Owen 2007, "The pigeonhole bootstrap"). Every draw is a mean of the values themselves, so the
    interval never leaves their range: that of an accuracy or a ROC-AUC stays between 0 and 1, which a t interval
    does not. With a handful of rows and columns it is rather too narrow.

    Args:
        values: The table, [rows, columns]; NaN for what is missing.
        level: The probability that the interval covers.
        seed: Seed of the draws.

    Returns:
        Its two ends; NaN if there are fewer than two values or all are equal.

    >>> crossed_interval([[0.9, 1.0], [0.7, 0.8]])
    (0.7, 1.0)
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2:
        raise InputError(f"The values must have the shape [rows, columns]; found an array of shape {table.shape}.")
    known = np.isfinite(table)
    if known.sum() < 2 or np.ptp(table[known]) == 0:
        return float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    rows, columns = (
        generator.multinomial(size, np.full(size, 1 / size), size=DRAWS).astype(float) for size in table.shape
    )
    totals = np.einsum("dr,rc,dc->d", rows, np.where(known, table, 0.0), columns)
    counts = np.einsum("dr,rc,dc->d", rows, known.astype(float), columns)
    means = totals[counts > 0] / counts[counts > 0]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    smallest, largest = table[known].min(), table[known].max()  # sums of floats may be off by the last digit
    return float(np.clip(low, smallest, largest)), float(np.clip(high, smallest, largest))
