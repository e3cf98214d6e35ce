"""The Multi-Process Service, by a small program that takes its place on the PATH and writes down how it is called."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ssread.evaluate.multi_process_service import CONTROL, multi_process_service

STAND_IN = """#!/bin/sh
folder=${{CUDA_MPS_PIPE_DIRECTORY:-{folder}}}
if [ "$1" = -d ]; then
    echo "start $folder $CUDA_VISIBLE_DEVICES" >> {folder}/calls
    {start}
    exit
fi
read line
[ -e "$folder/running" ] || {{ echo "Cannot find MPS control daemon process"; exit 1; }}
echo "$line" >> {folder}/calls
"""

SCRIPT = """
import os, sys, time
from ssread.evaluate.multi_process_service import multi_process_service
service = multi_process_service()
assert multi_process_service() is service and service.running
print(service.environment["CUDA_MPS_PIPE_DIRECTORY"], flush=True)
{then}
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts the program on the PATH; call it with what it does when it is started."""

    def put(start='touch "$folder/running"'):
        program = tmp_path / CONTROL
        program.write_text(STAND_IN.format(folder=tmp_path, start=start))
        program.chmod(0o755)
        return tmp_path / "calls"

    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    multi_process_service.cache_clear()
    yield put
    multi_process_service.cache_clear()


def started(then, **options):
    """A process that has started the service, and the service's folder."""
    command = [sys.executable, "-c", SCRIPT.format(then=then)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    return process, process.stdout.readline().strip()


def calls_at_the_end(calls, folder):
    deadline = time.monotonic() + 60
    while os.path.exists(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(folder)
    return calls.read_text().splitlines()


@pytest.mark.parametrize(
    ("then", "send"),
    [
        ("pass", None),
        ("raise ValueError", None),
        ("time.sleep(60)", signal.SIGINT),
        ("time.sleep(60)", signal.SIGTERM),
        ("time.sleep(60)", signal.SIGKILL),
    ],
)
def test_it_is_started_once_and_stopped_once_however_the_process_ends(stand_in, then, send, heeding_ctrl_c):
    calls = stand_in()
    process, folder = started(then, preexec_fn=heeding_ctrl_c)
    if send is not None:
        process.send_signal(send)
    process.wait(60)
    process.stdout.close()
    assert calls_at_the_end(calls, folder) == [f"start {folder} ", "quit -t 30"]


def test_one_that_is_running_already_is_used_and_left_alone(stand_in, tmp_path):
    calls = stand_in()
    (tmp_path / "running").touch()
    service = multi_process_service()
    assert (service.running, service.environment, service.problem) == (True, {}, "")
    service.give_up("for a test")
    assert calls.read_text().splitlines() == ["get_server_list"]


@pytest.mark.parametrize(
    ("start", "why"), [("echo no permission; exit 1", "no permission"), ("exit 3", f"{CONTROL} ended with 3")]
)
def test_one_that_cannot_be_started_gets_a_sentence(stand_in, start, why):
    stand_in(start)
    service = multi_process_service()
    assert (service.running, service.environment) == (False, {})
    assert service.problem == f"NVIDIA's Multi-Process Service cannot be used ({why}): stacks of models take turns."


def test_giving_up_stops_it(stand_in):
    calls = stand_in()
    service = multi_process_service()
    folder = service.environment["CUDA_MPS_PIPE_DIRECTORY"]
    service.give_up("no GPU")
    assert not service.running
    assert calls_at_the_end(calls, folder) == [f"start {folder} ", "quit -t 30"]


def test_a_machine_without_it_is_no_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    multi_process_service.cache_clear()
    service = multi_process_service()
    multi_process_service.cache_clear()
    assert (service.running, service.environment, service.problem) == (False, {}, "")
