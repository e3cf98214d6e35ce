"""Seconds per epoch, measured by short trainings."""

import pytest

from ssread.data import planted
from ssread.paper.timing import COLUMNS, GLOBAL, device_name, time_epochs
from ssread.train.runs import Training


@pytest.mark.parametrize(("number", "order"), [(0, [GLOBAL, 1, 4]), (1, [4, 1, GLOBAL])])
def test_a_round_times_either_readout_and_odd_rounds_in_reverse(device, number, order):
    times = time_epochs(planted(40, seed=0), "gcn", number, Training(batch_size=16), device, positions=(1, 4))
    assert list(times.columns) == COLUMNS
    assert times["num_positions"].tolist() == order
    assert (times["seconds"] > 0).all()
    assert set(times["arch"]) == {"gcn"}
    assert set(times["round"]) == {number}
    assert set(times["device"]) == {device_name(device)}


def test_cpu_timings_are_those_of_one_thread():
    assert device_name("cpu") == "one CPU thread"
