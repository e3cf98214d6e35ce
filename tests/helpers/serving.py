"""Servers in processes of their own, with small models, and one to ask within the test."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import networkx as nx
import pandas as pd

from helpers.small_models import AROMATIC, SMILES, untrained
from ssread.apply.calibration import Calibration
from ssread.apply.features import Features
from ssread.apply.reference import Reference
from ssread.data import from_networkx, from_smiles, load
from ssread.data.graph_features import with_graph_features

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


def save_model_with_columns(folder: Path) -> Path:
    """A model that needs the column ``length`` of a file, as ``ssread train --with descriptors,length`` makes them."""
    table = pd.DataFrame({"smiles": SMILES, "aromatic": AROMATIC, "length": [float(len(text)) for text in SMILES]})
    table.to_csv(folder / "lengths.csv", index=False)
    sources = ["descriptors", "length"]
    data, _ = with_graph_features(load(folder / "lengths.csv", label="aromatic", keep=["length"]), sources)
    model = untrained(data)
    model.features = Features.of(data, {"graph_features": sources})
    model.save(folder / "lengths")
    return folder / "lengths"


def save_model_of_labels(folder: Path) -> Path:
    """A model of two labels with calibration and training molecules."""
    rows = [(float("c" in smiles), float("N" in smiles)) for smiles in SMILES]
    data = replace(from_smiles(SMILES, rows, task="multilabel"), target_names=("aromatic", "amine"))
    model = untrained(data)
    model.reference = Reference.of(model, data)
    model.calibration = Calibration.fit("multilabel", data.y.numpy(), model.predictions(data).numpy())
    model.save(folder / "labels")
    return folder / "labels"


def networks() -> list[nx.Graph]:
    """Rings and stars whose nodes have a type."""
    found = [make(size) for size in range(4, 12) for make in (nx.cycle_graph, nx.star_graph)]
    for graph in found:
        nx.set_node_attributes(graph, {node: "end" if graph.degree[node] == 1 else "inner" for node in graph}, "type")
    return found


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen, said: str, token: str | None):
        self.process, self.said = process, said
        self.address = address = re.search(r"http://[^/]+", said)[0]
        self.token = token = token or (said.strip().split("#token=")[1] if "#token=" in said else None)
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
            server = Server(process, process.stdout.readline(), token)
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
