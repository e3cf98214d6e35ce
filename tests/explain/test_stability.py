"""Agreement of the positions of several trainings."""

import pytest
import torch

from ssread.errors import InputError
from ssread.explain import stability

COUNT = 4


def test_trainings_that_differ_by_numbers_alone_agree_fully_and_random_ones_by_chance():
    position = torch.randint(COUNT, (2000,), generator=torch.Generator().manual_seed(0))
    other = torch.randint(COUNT, (2000,), generator=torch.Generator().manual_seed(1))
    same = stability([position, (position + 1) % COUNT, 3 - position], COUNT)
    assert same.mutual_information == pytest.approx(1)
    assert same.share == 1
    chance = stability([position, other], COUNT)
    assert abs(chance.mutual_information) < 0.01
    assert 1 / COUNT <= chance.share < 0.35


def test_nodes_without_a_position_do_not_count():
    assert stability([torch.tensor([0, 1, -1]), torch.tensor([1, 0, 1])], 2).share == 1
    assert stability([torch.tensor([-1]), torch.tensor([0])], 2).share != 1  # nothing to compare: NaN


def test_one_training_is_refused():
    with pytest.raises(InputError, match="two trainings or more, but 1 was given"):
        stability([torch.tensor([0])], 2)
