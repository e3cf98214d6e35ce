"""On real clusters of this machine: Ray's own processes, nodes that die, addresses that nobody answers."""

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import GraphSet, load
from ssread.errors import InputError, MissingExtraError
from ssread.evaluate.ray_runner import RayRunner, import_ray, shares
from ssread.evaluate.runners import CPURunner
from ssread.train import Run, RunResult, Training

SHORT = Training(epochs=8, patience=4, batch_size=16)
ENDLESS = Training(epochs=10**6, patience=10**6, batch_size=16)

# One after another: a cluster would join the one of another test.
pytestmark = pytest.mark.xdist_group("ray")

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
needs_client = pytest.mark.skipif(find_spec("ray") is None or find_spec("grpc") is None, reason="no ray[client]")


@given(st.lists(st.tuples(st.sampled_from([2, 4, 8]), st.integers(0, 99)), unique=True), st.integers(1, 9))
def test_gpus_get_even_shares_of_runs_of_equal_shape(chosen, gpus):
    runs = [Run({"num_positions": positions}, seed, fold=0) for positions, seed in chosen]
    parts = shares(runs, gpus)
    assert sorted(repr(run) for part in parts for run in part) == sorted(map(repr, runs))
    assert all(len({repr(run.model) for run in part}) == 1 for part in parts)
    assert all(gpus * (len(part) - 1) < len(runs) for part in parts)


@needs_client
@pytest.mark.parametrize("address", ["auto", "localhost:6379", "ray://", "ray://host:port", "http://localhost"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InputError, match="is not a valid address of a Ray cluster; use ray or ray://host:port"):
        RayRunner(address)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"needs Ray: pip install 'ssread\[ray\]'"):
        RayRunner()


@needs_ray
def test_without_the_client_of_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ssread.evaluate.ray_runner.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"needs Ray's client \(grpcio\): pip install 'ssread\[ray\]'"):
        RayRunner("ray://127.0.0.1:10001")


@needs_client
@pytest.mark.parametrize("scheme", ["ray://", ""])
def test_an_address_that_nobody_answers_is_named_within_seconds(scheme, monkeypatch):
    with socket.socket() as taken:  # bound but not listening: nobody else can answer there
        taken.bind(("127.0.0.1", 0))
        target = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
        if not scheme:
            monkeypatch.setenv("RAY_ADDRESS", target)
        started = time.monotonic()
        with pytest.raises(InputError, match=f"No Ray cluster answers at {target} .*ray start --head"):
            RayRunner(target if scheme else "ray")
        assert time.monotonic() - started < 10


# -- on real clusters --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each, whose death is noticed soon."""
    import_ray()
    from ray.cluster_utils import Cluster

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cluster = Cluster()
    size = {"num_cpus": 1, "object_store_memory": 80_000_000}
    client = {"ray_client_server_port": port} if find_spec("grpc") else {}
    watch = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 5}
    try:
        cluster.add_node(**size, **client, include_dashboard=False, _system_config=watch)
        cluster.node = cluster.add_node(**size)
        cluster.client_address = f"ray://127.0.0.1:{port}"
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture
def ray() -> Iterator[Any]:
    """Ray without a connection, before and after; no test waits for ever."""

    def give_up(*_: object) -> None:
        raise TimeoutError("three minutes have passed")

    ray = import_ray()
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(180)
    try:
        yield ray
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        ray.shutdown()


@pytest.fixture
def on_cluster(cluster: Any, ray: Any, monkeypatch: pytest.MonkeyPatch) -> RayRunner:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    return RayRunner()


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=90, seed=3)


def run(fold: int = 0, **model: Any) -> Run:
    arguments = {"name": "gcn", "hidden_channels": 12, "num_positions": 3, **model}
    return Run(arguments, seed=fold % 2, fold=fold % 5, num_folds=5)


def assert_same(some: list[RunResult], others: list[RunResult]) -> None:
    """The same runs with the same outcome in any order; the seconds differ."""
    assert len(some) == len(others)
    by_run = {repr(result.run): result for result in others}
    for one in some:
        other = by_run.pop(repr(one.run))
        assert (one.best_epoch, one.epochs, one.failed) == (other.best_epoch, other.epochs, other.failed)
        assert (one.valid_accuracy, one.valid_loss) == (other.valid_accuracy, other.valid_loss)
        assert one.curves == other.curves
        for name in ("test_ids", "test_targets", "test_predictions"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)


def wait_for_free_cores(ray: Any, count: int) -> None:
    while ray.available_resources().get("CPU", 0) != count:
        time.sleep(0.1)


@needs_ray
@pytest.mark.slow
def test_without_a_cluster_one_is_started_here_and_gives_what_cores_give(ray, graphs, capfd):
    runs = [run(fold, readout=readout) for fold in range(2) for readout in ("ssread", "global")]
    runner = RayRunner()
    assert runner.device == "cpu"
    assert re.fullmatch(r"Ray cluster of \d+ cores?", repr(runner))
    results = list(runner.train(graphs, runs, SHORT))
    assert capfd.readouterr() == ("", "")
    assert_same(results, list(CPURunner(1).train(graphs, runs, SHORT)))


@needs_ray
@pytest.mark.slow
def test_a_cluster_without_cores_is_refused_and_so_is_a_second_one(ray):
    ray.init(num_cpus=0, num_gpus=0, include_dashboard=False, object_store_memory=80_000_000, logging_level="ERROR")
    with pytest.raises(InputError, match=r"The Ray cluster \(ray\) has no node with a CPU"):
        RayRunner()
    with pytest.raises(InputError, match="This process is already connected to a Ray cluster"):
        RayRunner("ray://127.0.0.1:10001")


@needs_ray
@pytest.mark.slow
def test_what_is_raised_in_a_task_is_raised_as_itself_and_ends_the_others(on_cluster, ray, graphs):
    with pytest.raises(InputError, match="There is no model 'transformer'") as caught:
        list(on_cluster.train(graphs, [run(0), run(1, name="transformer"), run(2)], ENDLESS))
    assert type(caught.value) is InputError
    wait_for_free_cores(ray, 2)


@needs_ray
@pytest.mark.slow
def test_closing_the_iterator_ends_what_runs_and_what_waits(on_cluster, ray, graphs):
    slow = [run(fold, hidden_channels=1024) for fold in range(4)]
    stream = on_cluster.train(graphs, [run(0), *slow], Training(epochs=200, patience=200))
    assert next(stream).run == run(0)
    stream.close()
    wait_for_free_cores(ray, 2)
    assert len(list(on_cluster.train(graphs, [run(3)], SHORT))) == 1


@needs_ray
@pytest.mark.slow
def test_a_training_that_ends_its_worker_every_time_is_given_up(on_cluster, ray):
    task = ray.remote(max_retries=0)(lambda: os._exit(1)).remote()
    with pytest.raises(InputError, match=r"lost the training of .*\(seed 1 fold 3\) .* gave up"):
        on_cluster._results(task, [run(3)])


@needs_client
@pytest.mark.slow
def test_a_cluster_elsewhere_is_reached_through_its_client_port(cluster, ray, graphs):
    runner = RayRunner(cluster.client_address)
    assert_same(list(runner.train(graphs, [run(1)], SHORT)), list(CPURunner(1).train(graphs, [run(1)], SHORT)))
    with pytest.raises(InputError, match="There is no model 'transformer'"):
        list(runner.train(graphs, [run(1, name="transformer")], SHORT))


@needs_ray
@pytest.mark.slow
def test_a_node_that_dies_costs_a_retry_and_nothing_else(on_cluster, cluster, ray, graphs, capfd):
    """The last test of the cluster, which has one node less after it."""
    assert repr(on_cluster) == "Ray cluster of 2 cores"
    runs, training = [run(fold, hidden_channels=16 + fold) for fold in range(6)], Training(40, 40, 16)
    stream = on_cluster.train(graphs, runs, training)
    results = [next(stream)]
    wait_for_free_cores(ray, 0)  # both nodes are at work, so that one of them has something to lose
    cluster.remove_node(cluster.node, allow_graceful=False)
    results += stream
    deadline = time.monotonic() + 30  # Ray takes a while to notice
    while repr(on_cluster) != "Ray cluster of 1 core" and time.monotonic() < deadline:
        time.sleep(0.2)
    assert repr(on_cluster) == "Ray cluster of 1 core"
    assert capfd.readouterr().out == ""
    assert_same(results, list(CPURunner(1).train(graphs, runs, training)))
