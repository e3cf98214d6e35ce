"""Graphs and models that several tests of explanations share; each model is trained once."""

from dataclasses import replace
from functools import lru_cache

from ssread.data import GraphSet, planted
from ssread.explain.retrain import trained_model
from ssread.models import GraphClassifier
from ssread.train.fit import fold_of_run
from ssread.train.runs import Run, Training

TRAINING = Training(epochs=60, patience=30, batch_size=64)


def in_double(graphs: GraphSet) -> GraphSet:
    """The same graphs with features in double precision."""
    return replace(graphs, x=graphs.x.double())


@lru_cache
def typed_graphs() -> GraphSet:
    """Planted graphs in which four of five nodes have the type of their role."""
    return planted(300, seed=1, feature_noise=0.2)


@lru_cache
def trained(readout: str = "ssread", seed: int = 0) -> tuple[GraphClassifier, GraphSet]:
    """A trained GCN and the graphs of its test part."""
    graphs = typed_graphs()
    run = Run({"name": "gcn", "readout": readout, "num_positions": 5, "hidden_channels": 64}, seed, 0, 5)
    model, _ = trained_model(graphs, run, TRAINING)
    return model, graphs[fold_of_run(graphs, run).test]
