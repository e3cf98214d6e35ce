"""Worker processes: one thread each, and gone when the process they work for is."""

import os
import signal
import subprocess
import sys
import time

import psutil
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
