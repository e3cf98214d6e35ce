import os
import time
from multiprocessing import current_process

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from joblib import delayed

from ssread.common.workers import worker_pool
from ssread.evaluate.gpu_sharing import LEAST_MEMORY, STACKS, Sharing, device_of_this_worker, most_workers, share_gpus
from ssread.evaluate.multi_process_service import CONTROL, multi_process_service

H200 = 140 << 30

#: In the place of the service's program: writes down how it is called; none is running before it is started.
STAND_IN = """#!/bin/sh
[ "$1" = -d ] || read line
echo "$1$line" >> {calls}
[ "$line" != get_server_list ]
"""


def test_four_stacks_share_a_large_gpu_and_small_ones_hold_fewer():
    assert most_workers(1, 16, H200, together=True) == STACKS == 4
    assert most_workers(1, 2, H200, together=True) == 2, "each needs a core"
    assert most_workers(1, 16, 11 << 30, together=True) == 2
    assert most_workers(2, 16, H200, together=True) == 8


def test_without_the_service_there_is_one_stack_per_gpu():
    assert most_workers(1, 16, H200, together=False) == 1
    assert most_workers(4, 16, H200, together=False) == 4


@given(st.integers(1, 8), st.integers(1, 64), st.integers(0, H200), st.booleans())
def test_stacks_side_by_side_never_get_more_memory_than_is_free(gpus, cores, free, together):
    workers = most_workers(gpus, cores, free, together)
    assert 1 <= workers <= cores
    sharing = Sharing([f"cuda:{number}" for number in range(gpus)], workers, free, {})
    for fewer in range(1, workers + 1):
        on_one_gpu = -(-fewer // gpus)
        assert on_one_gpu * sharing.memory(fewer) <= free
        assert on_one_gpu == 1 or free // on_one_gpu >= LEAST_MEMORY


def _where(devices):
    time.sleep(0.2)  # so that several workers get a task
    return int(current_process().name.rpartition("-")[2]), device_of_this_worker(devices)


@pytest.mark.slow
def test_workers_are_numbered_one_after_another_and_so_spread_over_the_gpus():
    with worker_pool(4) as pool:
        found = set(pool(delayed(_where)(["cuda:0", "cuda:1"]) for _ in range(12)))
    numbers = {number for number, _ in found}
    assert len(numbers) == len(found), "a worker stays on its GPU"
    assert max(numbers) - min(numbers) <= 3
    assert all(device == f"cuda:{number % 2}" for number, device in found)


def test_a_process_that_is_no_worker_takes_the_first_gpu():
    assert device_of_this_worker(["cuda:0", "cuda:1"]) == "cuda:0"


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_service_that_workers_cannot_use_is_stopped_and_they_try_without(tmp_path, monkeypatch):
    """Here they cannot use a GPU either way."""
    program = tmp_path / CONTROL
    program.write_text(STAND_IN.format(calls=tmp_path / "calls"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    multi_process_service.cache_clear()
    try:
        with pytest.raises(Exception, match=r"CUDA|NVIDIA"):
            share_gpus("cuda:0", 2, print)
        assert not multi_process_service().running
        assert "cannot be used" in multi_process_service().problem
    finally:
        multi_process_service.cache_clear()
    assert (tmp_path / "calls").read_text().split("\n")[:-1] == ["get_server_list", "-d", "quit -t 30"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_memory_is_measured_and_stacks_pay():
    said = []
    sharing = share_gpus("cuda:0", 2, said.append)
    assert sharing.devices == ["cuda:0"]
    assert sharing.workers == 2
    assert 0 < sharing.memory(2) < torch.cuda.get_device_properties(0).total_memory / 2
