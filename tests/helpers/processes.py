"""Commands and scripts in processes of their own, which start at once: what they import is there already."""

import atexit
import multiprocessing
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["torch", "torch_geometric", "sklearn", "pandas", "matplotlib.pyplot", "ssread.cli", "ssread.commands.compare"]
)


def start(words: list[object], folder: Path) -> Any:
    """Starts ``ssread WORDS`` in a folder; its output is appended to ``log`` there, temporary files are in ``tmp``."""
    (folder / "tmp").mkdir(exist_ok=True)
    return _start(_command, folder, ["ssread", *map(str, words)], TMPDIR=f"{folder}/tmp")


def start_script(script: Path, words: list[str], folder: Path) -> Any:
    """Starts ``python SCRIPT WORDS`` in a folder; its output is appended to ``log`` there."""
    return _start(_script, folder, [str(script.resolve()), *words])


def finish(process: Any, folder: Path, exitcode: int = 0, seconds: float = 300) -> str:
    """Waits for the end of a process, and returns what it printed."""
    process.join(seconds)
    told = (folder / "log").read_text()
    if process.is_alive():
        end(process, signal.SIGKILL)
        raise AssertionError(f"not done after {seconds} s: {told[-3000:]}")
    assert process.exitcode == exitcode, told[-3000:]
    return told


def _start(target: Callable[[], None], folder: Path, words: list[str], **variables: str) -> Any:
    process = _CONTEXT.Process(target=_run, args=(target, str(folder), words, {**os.environ, **variables}))
    process.start()
    return process


def _run(target: Callable[[], None], folder: str, words: list[str], environment: dict[str, str]) -> None:
    os.chdir(folder)
    os.environ |= environment
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = words
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        target()
    finally:  # what such a process leaves out, or does too late for pools of processes
        threading._shutdown()
        atexit._run_exitfuncs()


def _command() -> None:
    from ssread.__main__ import main

    main()


def _script() -> None:
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


def end(process: Any, how: signal.Signals) -> bool:
    """Kills a process, and says whether it was still running; it leaves no worker behind."""
    try:
        workers = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        workers = []
    running = process.is_alive()
    if running:
        os.kill(process.pid, how)
    process.join(60)
    assert not process.is_alive()
    deadline = time.monotonic() + 60  # one that is just starting has to import torch first
    while any(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE for worker in workers):
        assert time.monotonic() < deadline, f"left running: {workers}"
        time.sleep(0.1)
    return running
