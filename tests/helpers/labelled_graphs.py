"""Planted graphs with several labels or numbers, some of them unknown."""

from dataclasses import replace

import torch

from ssread.data import GraphSet, planted

NAMES = ("house", "weight in kg")


def labelled(task: str, number: int = 6) -> GraphSet:
    """Labels or numbers that follow from the class and the size; the second is unknown for every third graph."""
    graphs = planted(number, nodes=(13, 18), seed=3, feature_noise=0.3)
    size, kind = graphs.node_counts.float(), graphs.y.float()
    y = torch.stack([kind, (size > 15).float()] if task == "multilabel" else [-kind, 100 + 5 * size], dim=1)
    y[::3, 1] = torch.nan
    return replace(graphs, y=y, task=task, class_names=(), target_names=NAMES)
