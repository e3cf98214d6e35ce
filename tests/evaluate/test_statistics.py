import itertools
import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ssread import InputError
from ssread.evaluate.significance import ALPHA
from ssread.evaluate.statistics import compare, format_p, holm, pooled, summarize

shapes = st.tuples(st.integers(1, 5), st.integers(1, 10))
shares = st.integers(0, 40).map(lambda hits: hits / 40)  # as accuracies are: few values, many ties
shares_or_failed = st.one_of(shares, st.just(math.nan))


@st.composite
def pairs(draw: st.DrawFn, values: st.SearchStrategy[float] = shares) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(shapes)
    return draw(arrays(float, shape, elements=values)), draw(arrays(float, shape, elements=values))


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@given(arrays(float, st.tuples(st.integers(2, 5), st.integers(1, 10)), elements=shares))
def test_the_mean_and_deviation_are_the_paper_s(scores: np.ndarray) -> None:
    by_seed = [sum(row) / len(row) for row in scores.tolist()]
    mean = sum(by_seed) / len(by_seed)
    variance = sum((value - mean) ** 2 for value in by_seed) / (len(by_seed) - 1)
    found = summarize(scores)
    assert found.mean == pytest.approx(mean)
    assert found.sd == pytest.approx(math.sqrt(variance), abs=1e-12)
    assert (found.sd_over, found.runs, found.failed) == ("seeds", scores.size, 0)


def test_one_seed_gives_the_deviation_over_folds_and_says_so() -> None:
    found = summarize([[0.7, 0.8, 0.9]])
    assert (found.sd_over, found.mean, found.sd) == ("folds", pytest.approx(0.8), pytest.approx(0.1))
    reach = 4.302653 * 0.1 / math.sqrt(3)  # the 97.5 % quantile of t with 2 degrees of freedom
    assert found.interval == pytest.approx((0.8 - reach, 0.8 + reach))


def test_failed_trainings_are_left_out_and_counted() -> None:
    found = summarize([[0.5, math.nan], [math.nan, math.nan], [0.7, 0.9]])
    assert (found.mean, found.runs, found.failed) == (pytest.approx(0.65), 3, 3)


@given(pairs())
def test_the_paired_test_is_scipy_s(data: tuple[np.ndarray, np.ndarray]) -> None:
    before, after = data
    differences = (after - before).ravel()
    assume(len(differences) > 1 and np.ptp(differences) > 1e-9)
    assert compare(before, after).p == pytest.approx(stats.ttest_rel(after.ravel(), before.ravel()).pvalue, rel=1e-6)


@given(pairs())
def test_the_corrected_test_is_its_formula(data: tuple[np.ndarray, np.ndarray]) -> None:
    before, after = data
    seeds, folds = before.shape
    d = (after - before).ravel().tolist()
    assume(folds > 1 and np.ptp(d) > 1e-9)
    mean = sum(d) / len(d)
    variance = sum((value - mean) ** 2 for value in d) / (len(d) - 1)
    error = math.sqrt((1 / (folds * seeds) + (1 / folds) / (0.9 * (1 - 1 / folds))) * variance)
    found = compare(before, after)
    assert found.corrected_p == pytest.approx(2 * stats.t.cdf(-abs(mean) / error, len(d) - 1), rel=1e-6)
    assert found.corrected_p >= found.p
    # the interval holds exactly the differences that the test would not reject
    low, high = found.interval
    for end, inside in itertools.product((low, high), (True, False)):
        tested = end + (1 if (end == low) == inside else -1) * 1e-6 * error
        shifted = compare(before + tested, after)
        assert (shifted.corrected_p > ALPHA) == inside


def test_the_paired_test_agrees_with_flipping_signs_on_average() -> None:
    """The exact permutation test of the same hypothesis, all 2^10 sign patterns.

    Two different tests: on one sample of ten they may be 0.1 apart, so only their average and their decisions compare.
    """
    samples = np.random.default_rng(0).normal(0.4, 1, (300, 10))
    signs = np.array(list(itertools.product((-1, 1), repeat=10)))
    exact = np.array([np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-12) for d in samples])
    ours = np.array([compare(np.zeros((1, 10)), d[None]).p for d in samples])
    assert abs(np.mean(ours - exact)) < 0.01
    assert np.mean((ours <= ALPHA) == (exact <= ALPHA)) > 0.95


@given(pairs(shares_or_failed))
@example((np.full((1, 1), math.nan), np.full((1, 1), math.nan)))
@example((np.zeros((2, 3)), np.zeros((2, 3))))
@example((np.zeros((2, 3)), np.full((2, 3), 0.1)))
@example((np.zeros((1, 0)), np.zeros((1, 0))))
def test_swapping_the_readouts_mirrors_everything(data: tuple[np.ndarray, np.ndarray]) -> None:
    """For any input, degenerate ones too, without a warning."""
    one, other = compare(*data), compare(*reversed(data))
    assert one.pairs == int((np.isfinite(data[0]) & np.isfinite(data[1])).sum()) == one.wins + one.ties + other.wins
    np.testing.assert_array_equal(one.difference, -other.difference)
    np.testing.assert_array_equal(one.interval, [-end for end in reversed(other.interval)])
    np.testing.assert_array_equal([one.p, one.corrected_p], [other.p, other.corrected_p])
    assert repr(one.baseline) == repr(other.candidate)  # NaN is not equal to itself
    swapped = {"better": "worse", "worse": "better"}
    assert other.finding == " ".join(swapped.get(word, word) for word in one.finding.split())
    assert one.verdict
    assert math.isnan(one.p) or 0 <= one.p <= 1


def test_equal_results_are_equal() -> None:
    found = compare(np.full((5, 10), 0.8), np.full((5, 10), 0.8))
    assert (found.p, found.corrected_p, found.ties) == (1.0, 1.0, 50)
    assert found.verdict == "GRead and SSRead are equal within 1 point: +0.0 points"
    assert compare(np.full((1, 2), 0.8), np.full((1, 2), 0.8)).finding == "undecided"  # two pairs show nothing


def test_equal_differences_convince_by_their_number_alone() -> None:
    few, many = (compare(np.zeros((1, count)), np.full((1, count), 0.1)) for count in (2, 10))
    assert (few.p, few.finding) == (0.5, "undecided")
    assert (many.p, many.finding) == (pytest.approx(1 / 512), "better")


@pytest.mark.parametrize(
    ("gain", "spread", "verdict"),
    [
        (0.05, 0.03, "SSRead is better: +5."),
        (-0.05, 0.03, "SSRead is worse: -"),
        (0.02, 0.05, "SSRead is perhaps better: +"),
        (0.0, 0.05, "undecided after 50 pairs: "),
        (0.001, 0.01, "GRead and SSRead are equal within 1 point: +0.1 points (95 % interval "),
    ],
)
def test_the_verdict_says_what_the_tests_say(gain: float, spread: float, verdict: str) -> None:
    noise = np.random.default_rng(0).normal(0, spread, (5, 10))
    found = compare(np.full((5, 10), 0.8), 0.8 + gain + noise - noise.mean())
    assert found.verdict.startswith(verdict), found.verdict


def test_one_pair_or_none_says_so() -> None:
    assert compare([[0.8]], [[0.9]]).verdict == "+10.0 points, but one pair shows nothing"
    assert compare([[math.nan]], [[0.9]]).verdict == "no (seed, fold) pair was finished by both readouts"


def test_results_of_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"found \(1, 3\) and \(1, 2\)"):
        compare([[0.1, 0.2, 0.3]], [[0.1, 0.2]])
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        summarize([0.1, 0.2, 0.3])


def test_holm_on_the_textbook_example() -> None:
    """Holm (1979) as in the usual worked example: the smallest times 4, the next times 3, ... never decreasing."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_its_procedure_rejects(p_values: list[float], level: float) -> None:
    tests = sorted(p for p in p_values if not math.isnan(p))
    num_rejected = 0
    while num_rejected < len(tests) and (len(tests) - num_rejected) * tests[num_rejected] <= level:
        num_rejected += 1
    adjusted = holm(p_values)
    assert sum(p <= level for p in adjusted) == num_rejected
    assert [math.isnan(p) for p in adjusted] == [math.isnan(p) for p in p_values]


@given(st.floats(0, 1))
def test_a_printed_p_value_is_near(p: float) -> None:
    text = format_p(p)
    assert p < 0.001 if text == "< .001" else abs(float(text) - p) <= 0.005


@given(
    st.integers(0, 2**20),
    st.sampled_from([0.0, 0.004, 0.02, -0.02]),
    st.sampled_from([0.001, 0.01, 0.05]),
    st.sampled_from([0.01, 0.03]),
)
def test_two_one_sided_tests_tell_what_is_equal(seed: int, shift: float, spread: float, margin: float) -> None:
    """By SciPy's one-sided tests with the corrected error; the interval at twice the level lies within the margin."""
    random = np.random.default_rng(seed)
    before = 0.8 + spread * random.standard_normal((3, 10))
    after = before + shift + spread * random.standard_normal((3, 10))
    found = compare(before, after, margin=margin)
    difference = (after - before).ravel()
    error = difference.std(ddof=1) * math.sqrt(1 / 30 + 0.1 / 0.81)
    above = stats.t.sf((difference.mean() + margin) / error, 29)
    below = stats.t.cdf((difference.mean() - margin) / error, 29)
    assert found.equal_p == pytest.approx(max(above, below), rel=1e-6)
    reach = stats.t.ppf(0.95, 29) * error
    within = abs(difference.mean()) + reach <= margin
    assert (found.equal_p <= ALPHA) == within
    if found.corrected_p <= ALPHA:
        assert found.finding in ("better", "worse")
    elif within:
        assert found.finding.startswith("equal within")
        assert "are equal within" in found.verdict
    else:
        assert found.finding in ("perhaps better", "perhaps worse", "undecided")


@given(st.integers(1, 4), st.data())
def test_several_models_together_are_the_comparison_of_their_means(models: int, data: st.DataObject) -> None:
    shape = data.draw(shapes)
    draw = st.tuples(*[arrays(float, shape, elements=shares_or_failed)] * 2)
    drawn = [data.draw(draw) for _ in range(models)]
    found = pooled([compare(before, after, test_to_train=0.2, margin=0.02) for before, after in drawn])
    means = [sum(pair[side] for pair in drawn) / models for side in (0, 1)]  # NaN if one of them failed
    expected = compare(*means, test_to_train=0.2, margin=0.02)
    assert found.pairs == expected.pairs
    assert (found.margin, found.test_to_train) == (0.02, 0.2)
    for name in ("difference", "p", "corrected_p", "equal_p"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), nan_ok=True)


def test_models_are_only_averaged_over_the_same_pairs() -> None:
    with pytest.raises(InputError, match=r"must have the same shape \[seeds, folds\]; found \(1, 2\) and \(2, 2\)"):
        pooled([compare(*[np.ones(shape)] * 2) for shape in ((2, 2), (1, 2), (2, 2))])
