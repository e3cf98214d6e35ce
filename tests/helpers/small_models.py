"""Small trained models for tests; their training takes a second or so."""

from dataclasses import replace
from pathlib import Path

import torch

from ssread.apply import TrainedModel
from ssread.apply.features import Features
from ssread.data import GraphSet, planted
from ssread.models import model_for

RINGS = ("c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCNCC1")
SMILES = [ring + tail for ring in RINGS for tail in ("C", "N", "O", "F", "CC", "CN", "CO", "Cl")]
AROMATIC = ["yes" if "c" in smiles else "no" for smiles in SMILES]


def untrained(graphs: GraphSet, members: int = 1, **arguments: object) -> TrainedModel:
    """Models with random weights, and statistics that are not those of a new model, on the features of a set."""
    settings = {"name": "gcn", "hidden_channels": 8, "num_positions": 3, **arguments}
    models = []
    for seed in range(members):
        torch.manual_seed(seed)
        model = model_for(graphs, **settings)
        model.train()(graphs.batch(slice(None)))
        models.append(model)
    return TrainedModel(models, list(graphs.output_names), Features.of(graphs), task=graphs.task)


def graphs(number: int = 40) -> GraphSet:
    """Planted graphs with one-hot features."""
    return planted(number, nodes=(13, 18), feature_noise=0.2, seed=3)


def for_task(task: str, number: int = 40) -> GraphSet:
    """Planted graphs with two labels or numbers that follow from their structure, some unknown; or with classes."""
    data = graphs(number)
    if task == "classification":
        return data
    size, kind = data.node_counts.float(), data.y.float()
    large = (size > size.median()).float()
    y = torch.stack([kind, large] if task == "multilabel" else [100 + 5 * size, -kind], dim=1)
    y[::7, 0] = torch.nan
    return replace(data, y=y, task=task, class_names=(), target_names=("first", "second"))


def write_assay(path: Path) -> Path:
    """A CSV of molecules with classes."""
    rows = zip(SMILES, AROMATIC, strict=True)
    lines = [f"m{number},{smiles},{label}" for number, (smiles, label) in enumerate(rows)]
    path.write_text("\n".join(["name,smiles,label", *lines]) + "\n")
    return path
