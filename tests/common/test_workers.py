"""Worker processes: one thread each, and gone when the process they work for is."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
import torch

from ssread.common.workers import one_thread

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import os, time; from ssread.common.workers import as_worker; "
                          "as_worker(os.getppid()); print('ready', flush=True); time.sleep(99)"],
                         stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(100)
"""


def test_one_thread_is_for_a_while():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_a_worker_ends_soon_after_the_process_it_works_for_was_killed():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert psutil.pid_exists(worker)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 20
    while psutil.pid_exists(worker) and time.monotonic() < until:
        time.sleep(0.1)
    assert not psutil.pid_exists(worker)


POOL = """
import os, time
from joblib import delayed
from ssread.common.workers import worker_pool
with worker_pool(2) as pool:
    print(*pool(delayed(os.getpid)() for _ in range(2)), flush=True)
    time.sleep(100)
"""


@pytest.mark.slow
def test_workers_that_wait_for_a_task_end_with_their_parent_too():
    parent = subprocess.Popen([sys.executable, "-c", POOL], stdout=subprocess.PIPE, text=True)
    workers = {int(word) for word in parent.stdout.readline().split()}
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 30
    while any(map(psutil.pid_exists, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, workers))


KEEPING = """
import os, sys, time
from joblib import delayed
from ssread.common.workers import as_worker, worker_pool

def work(number, parent):
    as_worker(parent)
    if number > 1:
        sys.kept = b"x" * (400 << 20)
        time.sleep(1.1)  # leaks are looked for once a second
    return os.getpid()

with worker_pool(2) as pool:
    print(len(set(pool(delayed(work)(number, os.getpid()) for number in range(6)))))
"""


@pytest.mark.slow
def test_a_worker_that_keeps_memory_is_no_leak():
    done = subprocess.run([sys.executable, "-c", KEEPING], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() in ("1", "2"), "a third one has to be started"
    assert done.stderr == ""
