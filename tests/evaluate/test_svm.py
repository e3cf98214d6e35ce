import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ssread.evaluate.svm import svm_path

COSTS = torch.tensor([1e-3, 1e-1, 10.0])


def problem(seed: int, count: int, width: int, noise: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Correlated vectors, some far from 0, sides that depend on them, and the members of a fit."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, width)) @ rng.standard_normal((width, width)) + 10 * rng.standard_normal(width)
    sides = np.sign(x @ rng.standard_normal(width) - 1 + noise * np.sqrt(width) * rng.standard_normal(count))
    sides[:2] = 1, -1
    members = np.sort(np.r_[0, 1, rng.permutation(np.arange(2, count))[: count // 2]])
    return torch.from_numpy(x).float(), torch.from_numpy(members), torch.from_numpy(sides[members])


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(8, 60), st.integers(1, 20), st.sampled_from([0.0, 1.0, 5.0]))
def test_scores_are_those_of_scikit_learn(seed, count, width, noise):
    """More graphs than channels and fewer, separable and not."""
    x, members, sides = problem(seed, count, width, noise)
    scores = svm_path(x, members, sides, COSTS)
    data = x.double().numpy()
    data = StandardScaler().fit(data[members]).transform(data)
    for number, C in enumerate(COSTS.tolist()):
        machine = LinearSVC(C=C, dual=False, tol=1e-9, max_iter=100_000).fit(data[members], sides.numpy())
        theirs = machine.decision_function(data)
        assert scores[:, number].numpy() == pytest.approx(theirs, abs=2e-3 * (1 + np.abs(theirs).max()))


@given(st.integers(0, 2**32))
def test_the_minimum_is_a_minimum_for_every_cost(seed):
    """No gradient is left, whatever C: checked from the scores alone, on vectors that are standard already."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((30, 4))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    sides = np.sign(rng.standard_normal(30))
    with_constant = np.c_[x, np.ones(30)]
    for number, C in enumerate((1e-3, 1.0, 1e3)):
        scores = svm_path(
            torch.from_numpy(x), torch.arange(30), torch.from_numpy(sides), torch.tensor([1e-3, 1.0, 1e3])
        )
        found = scores[:, number].numpy()
        weights = np.linalg.lstsq(with_constant, found, rcond=None)[0]
        gradient = weights - 2 * C * with_constant.T @ (sides * np.maximum(0, 1 - sides * found))
        assert np.abs(gradient).max() < 1e-6 * C * 60


def test_constant_channels_change_nothing():
    x, members, sides = problem(0, 40, 5, 1.0)
    scores = svm_path(x, members, sides, COSTS)
    constant = torch.cat([x, torch.full((40, 2), 7.3)], dim=1)
    torch.testing.assert_close(svm_path(constant, members, sides, COSTS), scores)
    outside = torch.ones(40, dtype=torch.bool)
    outside[members] = False
    constant[outside, -1] = 9.0
    torch.testing.assert_close(svm_path(constant, members, sides, COSTS), scores)


def test_one_cost_alone_gives_what_the_path_gives():
    x, members, sides = problem(1, 50, 8, 1.0)
    path = svm_path(x, members, sides, COSTS)
    for number in range(len(COSTS)):
        alone = svm_path(x, members, sides, COSTS[number : number + 1])
        torch.testing.assert_close(alone[:, 0], path[:, number], atol=1e-6, rtol=1e-6)
