"""Parts on a real Ray cluster of this machine: through its client, and when a node is killed."""

import socket
import threading
import time
from importlib.util import find_spec

import pandas as pd
import pytest
from helpers.small_models import AROMATIC, SMILES, untrained

from ssread.apply import chunks, predict, screening
from ssread.apply.screening import screen
from ssread.data import from_smiles
from ssread.errors import InputError
from ssread.evaluate import ray_runner
from ssread.evaluate.ray_runner import import_ray

pytest.importorskip("rdkit")
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")  # imported, it would be loud
pytestmark = [needs_ray, pytest.mark.slow, pytest.mark.xdist_group("ray")]


#: The death of a node is noticed soon.
WATCH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 5}
SIZE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each, and the address that clients connect to."""
    import_ray()
    from ray.cluster_utils import Cluster

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cluster = Cluster()
    try:
        cluster.add_node(**SIZE, ray_client_server_port=port, include_dashboard=False, _system_config=WATCH)
        cluster.node = cluster.add_node(**SIZE)
        cluster.client_address = f"ray://127.0.0.1:{port}"
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture
def coreless():
    """A cluster of one node, which has no cores."""
    import_ray()
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(**{**SIZE, "num_cpus": 0}, include_dashboard=False, _system_config=WATCH)
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A function that writes a model and a library of so many rows."""
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 500)
    monkeypatch.setattr(screening, "PART_CHUNKS", 4)

    def write(rows):
        untrained(from_smiles(SMILES, AROMATIC)).save(tmp_path / "model")
        (tmp_path / "many.smi").write_text("".join(f"{SMILES[n % 32]} m{n}\n" for n in range(rows)))
        return tmp_path / "model", tmp_path / "many.smi"

    yield write
    import_ray().shutdown()


def rows_of(folder):
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))], ignore_index=True)


@pytest.mark.skipif(find_spec("grpc") is None, reason="Ray's client is not installed")
def test_a_client_of_the_cluster_writes_what_this_machine_predicts(cluster, library, tmp_path):
    model, path = library(3000)
    done = screen(model, path, tmp_path / "out", on=cluster.client_address)
    assert (done.rows, done.parts, done.problems) == (3000, 2, 0)
    found, expected = rows_of(tmp_path / "out"), predict(model, path, workers=1)
    assert found["id"].tolist() == expected["id"].tolist()
    probability = next(name for name in found if name.startswith("p("))
    assert (found[probability] - expected[probability]).abs().max() < 1e-6


def test_a_node_is_killed_and_no_row_is_lost_or_doubled(cluster, library, tmp_path, monkeypatch):
    model, path = library(40_000)
    out, killed = tmp_path / "out", threading.Event()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)

    def kill_later():
        while len(list(out.glob("part-*.parquet"))) < 3:
            time.sleep(0.05)
        cluster.remove_node(cluster.node, allow_graceful=False)
        killed.set()

    threading.Thread(target=kill_later, daemon=True).start()
    done = screen(model, path, out, on="ray")
    assert killed.is_set(), "all was done before the node was killed"
    assert (done.rows, done.parts) == (40_000, 20)
    assert rows_of(out)["id"].tolist() == [f"m{n}" for n in range(40_000)]


def test_a_cluster_without_cores_is_a_sentence_and_the_same_call_continues(coreless, library, tmp_path, monkeypatch):
    """Whether it never had any, or has lost the last node that had."""
    model, path = library(20_000)
    out = tmp_path / "out"
    monkeypatch.setenv("RAY_ADDRESS", coreless.address)
    monkeypatch.setattr(ray_runner, "LOOK_SECONDS", 1)
    with pytest.raises(InputError, match=r"The Ray cluster \(ray\) has no node with a CPU left to work on"):
        screen(model, path, out, on="ray")
    node = coreless.add_node(**SIZE)

    def lose_the_node(_: int) -> None:
        if node in coreless.worker_nodes:  # a part that was finished before may be told after
            coreless.remove_node(node, allow_graceful=False)

    with pytest.raises(InputError, match="has no node with a CPU left"):
        screen(model, path, out, on="ray", progress=lose_the_node)
    assert 0 < len(list(out.glob("part-*.parquet"))) < 10
    coreless.add_node(**SIZE)
    assert screen(model, path, out, on="ray").rows == 20_000
    assert rows_of(out)["id"].tolist() == [f"m{n}" for n in range(20_000)]
