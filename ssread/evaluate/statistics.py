"""Statistics of a comparison: means, intervals, paired tests, and a verdict in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ssread.errors import InputError
from ssread.evaluate.significance import ALPHA, MARGIN, fold_ratio

__all__ = ["Comparison", "Summary", "compare", "holm", "pooled", "summarize"]

NOTHING = float("nan")


@dataclass(frozen=True)
class Summary:
    """One readout's result.

    Attributes:
        mean: The mean over seeds of the mean over folds.
        sd: The standard deviation of the seeds' means, as in the paper; of the folds if there is one seed.
        sd_over: What the deviation is over: ``seeds`` or ``folds``.
        interval: The 95 % t interval of the mean by this deviation; NaN if it is 0.
        runs: How many trainings succeeded.
        failed: How many failed, and are left out.
    """

    mean: float
    sd: float
    sd_over: str
    interval: tuple[float, float]
    runs: int
    failed: int


@dataclass(frozen=True)
class Comparison:
    """Two readouts on the same (seed, fold) pairs; all values in the unit of the metric, larger is better.

    Attributes:
        baseline: The global readout's result.
        candidate: SSRead's result.
        difference: Mean over the pairs of candidate minus baseline.
        interval: Its 95 % interval, by the corrected test; NaN if the pairs show no spread.
        p: The p-value of the paired t-test, as in the paper. It is too small in general, as training parts overlap.
        corrected_p: The p-value of the corrected resampled t-test, which allows for that.
        pairs: For how many (seed, fold) pairs both trainings succeeded.
        wins: In how many the candidate is better.
        ties: In how many both are equal.
        names: What baseline and candidate are called.
        margin: Differences up to this one count as equal.
        equal_p: The p-value of two one-sided tests (Schuirmann 1987) with the variance of the corrected test. The null
            hypothesis is a difference beyond the margin; a small p shows that both are equal within the margin.
        test_to_train: The ratio of test graphs to training graphs that the corrected test went by.
        scores: The metric of baseline and candidate [2, seeds, folds]; NaN if a training failed or does not count.
    """

    baseline: Summary
    candidate: Summary
    difference: float
    interval: tuple[float, float]
    p: float
    corrected_p: float
    pairs: int
    wins: int
    ties: int
    names: tuple[str, str] = ("GRead", "SSRead")
    margin: float = MARGIN
    equal_p: float = NOTHING
    test_to_train: float = NOTHING
    scores: np.ndarray = field(default_factory=lambda: np.empty((2, 0, 0)), repr=False, compare=False)

    @property
    def finding(self) -> str:
        """The result in a few words: ``better`` or ``worse`` by the corrected test; else ``equal within`` the margin if
        that is shown; else ``perhaps better`` or ``perhaps worse`` by the paired test alone; else ``undecided``."""
        if self.pairs < 2:
            return "too few pairs"
        direction = "better" if self.difference > 0 else "worse"
        if self.corrected_p <= ALPHA:
            return direction
        if self.equal_p <= ALPHA:
            return f"equal within {_in_points(self.margin)}"
        return f"perhaps {direction}" if self.p <= ALPHA else "undecided"

    @property
    def verdict(self) -> str:
        """The finding as a sentence with its numbers, in points (hundredths of the metric)."""
        name, points = self.names[1], f"{round(100 * self.difference, 1) + 0.0:+.1f} points"  # never -0.0
        tests = f"p {_equals(self.p)} (corrected {format_p(self.corrected_p)})"
        if self.pairs == 0:
            return "no (seed, fold) pair was finished by both readouts"
        if self.pairs == 1:
            return f"{points}, but one pair shows nothing"
        if self.finding.startswith("perhaps"):
            corrected = f"but corrected for shared training graphs p {_equals(self.corrected_p)}"
            return f"{name} is {self.finding}: {points}, p {_equals(self.p)}, {corrected}"
        if self.finding.startswith("equal"):
            low, high = (f"{100 * end:+.1f}" for end in self.interval)
            interval = f" (95 % interval {low} to {high})" if np.isfinite(self.interval).all() else ""
            return f"{' and '.join(self.names)} are {self.finding}: {points}{interval}"
        if self.finding == "undecided":
            return f"undecided after {self.pairs} pairs: {points}, {tests}"
        return f"{name} is {self.finding}: {points}, {tests}"


def _in_points(margin: float) -> str:
    return "1 point" if margin == 0.01 else f"{100 * margin:g} points"


def format_p(p: float) -> str:
    """Formats a p-value: without the leading zero, with one or two significant digits.

    >>> format_p(0.0312), format_p(0.00421), format_p(1e-9), format_p(1.0)
    ('.03', '.004', '< .001', '1')
    """
    if not np.isfinite(p):
        return "-"
    if p < 0.001:
        return "< .001"
    text = f"{p:.3f}" if p < 0.01 else f"{p:.2f}"
    return "1" if float(text) == 1 else text.removeprefix("0")


def _equals(p: float) -> str:
    text = format_p(p)
    return text if text.startswith("<") else f"= {text}"


def summarize(scores: ArrayLike) -> Summary:
    """Summarises the results of one readout.

    Args:
        scores: The metric of each training [seeds, folds]; NaN if it failed.
    """
    values = _matrix(scores)
    finished = np.isfinite(values)
    by_seed = np.array([row[ended].mean() for row, ended in zip(values, finished, strict=True) if ended.any()])
    several = len(by_seed) > 1
    spread_over = by_seed if several else values[finished]
    mean = float(by_seed.mean()) if len(by_seed) else NOTHING
    sd = _deviation(spread_over)
    interval = _interval(mean, sd / np.sqrt(len(spread_over)) if len(spread_over) else NOTHING, len(spread_over))
    runs = int(finished.sum())
    return Summary(mean, sd, "seeds" if several else "folds", interval, runs, values.size - runs)


def compare(
    baseline: ArrayLike,
    candidate: ArrayLike,
    *,
    test_to_train: float | None = None,
    names: tuple[str, str] = ("GRead", "SSRead"),
    margin: float = MARGIN,
) -> Comparison:
    """Compares two readouts that were trained on the same folds with the same seeds.

    Args:
        baseline: The metric of the global readout [seeds, folds]; NaN if a training failed.
        candidate: The metric of SSRead, of the same shape.
        test_to_train: The ratio of test graphs to training graphs, by default :func:`fold_ratio` with a
            validation part of a tenth. The corrected resampled t-test (Nadeau and Bengio 2003; for repeated
            cross-validation Bouckaert and Frank 2004) takes the variance of the mean of n differences as
            (1/n + this ratio) times theirs.
        names: What the two are called in the verdict.
        margin: Differences up to this one count as equal.

    >>> print(compare([[0.80, 0.82, 0.78, 0.81]], [[0.84, 0.85, 0.83, 0.84]]).verdict)
    SSRead is better: +3.7 points, p = .004 (corrected .02)
    """
    before, after = _matrix(baseline), _matrix(candidate)
    if before.shape != after.shape:
        raise InputError(
            f"Paired results must have the same shape [seeds, folds]; found {before.shape} and {after.shape}."
        )
    ratio = fold_ratio(before.shape[1]) if test_to_train is None else test_to_train
    differences = (after - before)[np.isfinite(before) & np.isfinite(after)]
    pairs = len(differences)
    mean = float(differences.mean()) if pairs else NOTHING
    sd = _deviation(differences)
    own_variance = 1 / pairs if pairs else NOTHING
    corrected_error = sd * float(np.sqrt(own_variance + ratio))
    return Comparison(
        summarize(before),
        summarize(after),
        difference=mean,
        interval=_interval(mean, corrected_error, pairs),
        p=_p_value(mean, sd * float(np.sqrt(own_variance)), pairs),
        corrected_p=_p_value(mean, corrected_error, pairs),
        pairs=pairs,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        names=names,
        margin=margin,
        equal_p=_equal_p(mean, corrected_error, pairs, margin),
        test_to_train=ratio,
        scores=np.stack([before, after]),
    )


def pooled(comparisons: Sequence[Comparison]) -> Comparison:
    """Compares the means of several models, such as one with every aggregation, over the same (seed, fold) pairs.

    The mean of several differences varies less than each of them, so it can show what none of them shows alone. A pair
    counts if it was finished by all models.

    >>> one = compare([[0.80, 0.82, 0.78, 0.81]], [[0.86, 0.82, 0.86, 0.82]])
    >>> other = compare([[0.71, 0.70, 0.72, 0.70]], [[0.73, 0.76, 0.72, 0.77]])
    >>> together = pooled([one, other])
    >>> round(together.difference, 3), one.finding, other.finding, together.finding
    (0.037, 'undecided', 'undecided', 'better')
    """
    shapes = sorted({found.scores.shape[1:] for found in comparisons})
    if len(shapes) > 1:
        shown = " and ".join(map(str, shapes))
        raise InputError(f"Results to be averaged must have the same shape [seeds, folds]; found {shown}.")
    means = np.mean([found.scores for found in comparisons], axis=0)
    before, after = means[:, np.isfinite(means).any(axis=(0, 2))]  # a seed that a model does not have has not failed
    first = comparisons[0]
    return compare(before, after, test_to_train=first.test_to_train, names=first.names, margin=first.margin)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values after Holm's step-down correction for the number of tests (NaN is not a test).

    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, dtype=float)
    ascending = [index for index in np.argsort(p, kind="stable") if np.isfinite(p[index])]
    adjusted, largest = np.full(len(p), NOTHING), 0.0
    for rank, index in enumerate(ascending):
        largest = max(largest, min(1.0, (len(ascending) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted.tolist()


def _matrix(scores: ArrayLike) -> np.ndarray:
    values = np.asarray(scores, dtype=float)
    if values.ndim != 2:
        raise InputError(f"Results must have the shape [seeds, folds]; found an array of shape {values.shape}.")
    return values


def _deviation(values: np.ndarray) -> float:
    """Returns the sample standard deviation; exactly 0 if all values are equal up to rounding."""
    if len(values) < 2:
        return NOTHING
    sd = float(values.std(ddof=1))
    return 0.0 if sd <= 1e-12 * np.abs(values).max() else sd


def _p_value(mean: float, error: float, count: int) -> float:
    """Returns the two-sided p of a t statistic; without spread, the probability that all signs are equal by chance."""
    if count < 2 or not np.isfinite(error):
        return NOTHING
    if error == 0:
        return 1.0 if mean == 0 else 0.5 ** (count - 1)
    from scipy import stats  # takes a second to import

    return float(2 * stats.t.sf(abs(mean) / error, count - 1))


def _equal_p(mean: float, error: float, count: int, margin: float) -> float:
    """Returns the larger p of two one-sided t-tests; without spread, the probability of equal signs by chance."""
    from scipy import stats

    if count < 2 or not np.isfinite(error):
        return NOTHING
    if error == 0:
        return 0.5 ** (count - 1) if abs(mean) < margin else 1.0
    return float(stats.t.sf((margin - abs(mean)) / error, count - 1))


def _interval(mean: float, error: float, count: int) -> tuple[float, float]:
    if count < 2 or not np.isfinite(error) or error == 0:  # a t interval without spread would claim certainty
        return NOTHING, NOTHING
    from scipy import stats

    reach = float(stats.t.ppf(1 - ALPHA / 2, count - 1)) * error
    return mean - reach, mean + reach
