"""Pages with everything on them, and the data of a page."""

import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ssread.data import GraphSet, planted
from ssread.evaluate import Cell, Report, compare
from ssread.models import model_for
from ssread.report import explain_graphs, render_page, summarize_curves

NASTY = "<script>alert(1)</script>&\"'"


def renamed(graphs: GraphSet) -> GraphSet:
    """The same graphs with names that a careless page would run as a script."""
    names = tuple(f"{NASTY} {number}" for number in range(len(graphs)))
    return replace(graphs, ids=names, class_names=(NASTY, "</script>"), name=NASTY)


@lru_cache
def whole_page(num_graphs: int = 40, readout: str = "ssread") -> str:
    """A page with every section, of graphs with nasty names and an untrained model."""
    graphs = renamed(planted(num_graphs, nodes=13, seed=0, feature_noise=0.2))
    model = model_for(graphs, "gcn", readout=readout, num_positions=4, hidden_channels=16).eval()
    half = num_graphs // 2
    parts = {"training": torch.arange(half), "test": torch.arange(half, num_graphs)}
    scores = np.linspace(0.6, 0.8, 10)[None]
    cells = [Cell(NASTY, "gcn", aggr, 4, compare(scores, scores + 0.01)) for aggr in ("sum", "mean")]
    report = Report(cells, "a rule", "accuracy")
    curve = {"valid_accuracy": [0.5, 0.6, 0.7], "train_loss": [1.0, 0.7, float("nan")]}
    return render_page(
        f"A page about {NASTY}",
        explained=explain_graphs(model, graphs, parts=parts),
        comparison=report,
        curves=[summarize_curves(NASTY, [curve, curve])],
        settings={NASTY: NASTY},
    )


def page_data(text: str) -> dict[str, Any]:
    """The data that the scripts of a page read."""
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def written(folder: Path, **options: object) -> Path:
    """:func:`whole_page` as a file."""
    path = folder / "page.html"
    path.write_text(whole_page(**options), encoding="utf-8")  # type: ignore[arg-type]
    return path
