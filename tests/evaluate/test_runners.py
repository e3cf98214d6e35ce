import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
import torch

from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate.runners import CPURunner, GPURunner
from ssread.train import Run, Training, train

SHORT = Training(epochs=3, patience=3, batch_size=16)
RUNS = [Run({"name": "gcn", "hidden_channels": 8, "num_positions": k}, 0, fold, 4) for k in (2, 3) for fold in range(3)]


def by_run(results):
    return {(r.run.model["num_positions"], r.run.fold): r for r in results}


def test_results_do_not_depend_on_the_number_of_workers():
    graphs = load("planted", num_graphs=40, seed=1)
    expected = by_run(train(graphs, RUNS, SHORT))
    for workers in (1, 2):
        found = by_run(CPURunner(workers).train(graphs, RUNS, SHORT))
        assert found.keys() == expected.keys()
        for key, result in found.items():
            np.testing.assert_array_equal(result.test_predictions, expected[key].test_predictions)
            assert result.curves == expected[key].curves


def test_no_run_is_no_work():
    assert list(CPURunner(2).train(load("planted", num_graphs=40), [], SHORT)) == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_a_sentence():
    with pytest.raises(InputError, match="no GPU that torch can use"):
        GPURunner()


def test_wrong_number_of_workers_is_a_sentence():
    with pytest.raises(InputError, match="workers must be 1 or more, but 0"):
        CPURunner(0)


SCRIPT = """
from ssread.data import load
from ssread.evaluate.runners import CPURunner
from ssread.train import Run, Training

runs = [Run({"name": "gcn"}, 0, fold, 10) for fold in range(10)]
for result in CPURunner(2).train(load("planted", num_graphs=300), runs, Training(epochs=10_000, patience=10_000)):
    pass
"""


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed():
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT])
    workers: list[psutil.Process] = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and sum(w.is_running() and w.cpu_times().user > 5 for w in workers) < 2:
        time.sleep(0.5)
        workers = psutil.Process(parent.pid).children(recursive=True)
    assert len(workers) >= 2
    parent.kill()
    parent.wait()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
