"""Servers in processes of their own, with small models, and one to ask within the test."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import networkx as nx

from helpers.small_models import AROMATIC, SMILES, untrained
from ssread.apply.calibration import Calibration
from ssread.apply.features import Features
from ssread.apply.reference import Reference
from ssread.data import from_networkx, from_smiles

ROOT = Path(__file__).parents[2]


def save_models(folder: Path) -> list[Path]:
    """An ensemble for molecules with calibration and training molecules, and a model of other graphs for numbers."""
    data = from_smiles(SMILES, AROMATIC)
    model = untrained(data, members=2)
    model.reference = Reference.of(model, data)
    model.calibration = Calibration.fit("classification", data.y.numpy(), model.predictions(data).numpy())
    about = {
        "name": "rings",
        "graphs": len(data),
        "mean_nodes": 8.0,
        "max_nodes": 9,
        "class_counts": {"no": 16, "yes": 16},
    }
    model.summary = {"data": about}
    graphs = from_networkx(
        networks(), [float(len(graph)) for graph in networks()], node_label="type", task="regression"
    )
    plain = untrained(graphs)
    plain.features = Features.of(graphs, {"node_label": "type"})
    model.save(folder / "rings")
    plain.save(folder / "graphs")
    return [folder / "rings", folder / "graphs"]


def networks() -> list[nx.Graph]:
    """Rings and stars whose nodes have a type."""
    found = [make(size) for size in range(4, 12) for make in (nx.cycle_graph, nx.star_graph)]
    for graph in found:
        nx.set_node_attributes(graph, {node: "end" if graph.degree[node] == 1 else "inner" for node in graph}, "type")
    return found


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen, address: str, token: str | None):
        self.process, self.address, self.token = process, address, token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = httpx.Client(base_url=address, headers=headers, timeout=60)

    def ask(self, what: str, model: str = "rings", **body: object) -> httpx.Response:
        return self.client.post(f"/api/models/{model}/{what}", json=body)


@contextmanager
def served(models: list[Path], *options: str, token: str | None = None) -> Iterator[Server]:
    """Starts ``ssread serve`` on a free port and waits until it is ready."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    environment.pop("SSREAD_TOKEN", None)
    if token is not None:
        environment["SSREAD_TOKEN"] = token
    command = [sys.executable, "-m", "ssread", "serve", *map(str, models), "--port", "0", "--workers", "1", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            line = process.stdout.readline()
            address = re.search(r"http://[^/]+", line)[0]
            token = token or (line.strip().split("#token=")[1] if "#token=" in line else None)
            server = Server(process, address, token)
            for _ in range(600):
                if server.client.get("/ready").status_code == 200:
                    break
                if process.poll() is not None:
                    raise RuntimeError("the server ended")
                time.sleep(0.1)
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(30)
