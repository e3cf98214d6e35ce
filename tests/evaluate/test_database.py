"""Real processes on one file: writers killed at any moment, several at once, and places that cannot be written."""

import multiprocessing
import multiprocessing.connection
import os
import random
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from helpers.run_results import DATASET, assert_same, make_result

from ssread import InputError
from ssread.evaluate import Store, run_key
from ssread.train.runs import Training

TRAINING = Training()
NUM_RUNS = 60
SUMMARY = "key, dataset, seed, fold, valid_accuracy, valid_loss, test_accuracy, best_epoch, epochs, failed, curves"


def write_what_is_missing(path: Path, seeds: range) -> None:
    """What a started job does."""
    with Store(path) as store:
        runs = {run_key(DATASET, make_result(seed).run, TRAINING): seed for seed in seeds}
        done = store.has(runs)
        for key, seed in runs.items():
            if key not in done:
                store.add(DATASET, make_result(seed), TRAINING, "cpu")


def start(*arguments: object, target: Callable[..., None] = write_what_is_missing) -> BaseProcess:
    context = multiprocessing.get_context("forkserver")  # forks a process without threads: quick, and safe with torch
    context.set_forkserver_preload(["ssread.evaluate.store", "helpers.run_results"])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def content(path: Path) -> list[tuple]:
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(f"SELECT {SUMMARY} FROM runs ORDER BY key").fetchall()
    connection.close()
    return rows


def wait_for_results(path: Path, number: int, writer: BaseProcess) -> None:
    """Waits until the file has so many results; for none, until there is a file. Or until the writer has ended."""
    while writer.is_alive() and not path.exists():
        time.sleep(0.001)
    if number > 0:
        with Store(path) as store:
            while writer.is_alive() and len(store) < number:
                time.sleep(0.001)


def test_a_writer_killed_at_any_moment_leaves_a_valid_file_and_the_next_goes_on(tmp_path: Path) -> None:
    write_what_is_missing(tmp_path / "whole.db", range(NUM_RUNS))
    chance = random.Random(0)
    for trial in range(3):
        path, before, exit_code = tmp_path / f"{trial}.db", 0, None
        while exit_code != 0:
            process = start(path, range(NUM_RUNS))
            more = 0 if exit_code is None else chance.randint(1, 40)  # the first is killed while it makes the file
            wait_for_results(path, before + more, process)
            process.kill()
            process.join()
            exit_code = process.exitcode
            assert exit_code in (0, -signal.SIGKILL)
            with Store(path) as store:  # valid, nothing that was there is lost, nothing is half there
                assert len(store) >= before + more or exit_code == 0
                before = len(store)
                found = store.results(store.table()["key"])
            for key, result in found.items():
                assert key == run_key(DATASET, result.run, TRAINING)
                assert_same(result, make_result(result.run.seed))
        assert content(path) == content(tmp_path / "whole.db")


def test_processes_that_start_and_write_at_once_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    ranges = [range(0, 60), range(30, 90), range(60, 120), range(0, 120, 2)]  # overlapping
    processes = [start(path, seeds) for seeds in ranges]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    write_what_is_missing(tmp_path / "alone.db", range(120))
    assert content(path) == content(tmp_path / "alone.db")


def test_a_reader_sees_whole_results_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "growing.db"
    with Store(path) as reader:
        process = start(path, range(NUM_RUNS))
        seen = 0
        while process.is_alive():
            found = reader.results(reader.table()["key"])
            assert len(found) >= seen
            seen = len(found)
            time.sleep(0.01)
        assert process.exitcode == 0
        assert len(reader) == NUM_RUNS


def error_on_writing(folder: Path, answer: multiprocessing.connection.Connection) -> None:
    os.chdir(folder)  # the folders above may be shut to others
    if os.geteuid() == 0:
        os.setuid(65534)  # permissions do not bind root
    try:
        write_what_is_missing(Path("results.db"), range(9))
        answer.send("written")
    except InputError as error:
        answer.send(str(error))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o666, 0o555), (0o000, 0o777)])
def test_a_file_or_folder_that_cannot_be_written_is_named(tmp_path: Path, file_mode: int, folder_mode: int) -> None:
    folder = tmp_path / "shut"
    folder.mkdir()
    path = folder / "results.db"
    write_what_is_missing(path, range(2))
    path.chmod(file_mode)
    folder.chmod(folder_mode)
    here, there = multiprocessing.Pipe()
    start(folder, there, target=error_on_writing).join()
    folder.chmod(0o777)
    assert re.match("results.db cannot be .* folder .* use another file", here.recv())
    assert len(Store(path)) == 2
