import dataclasses

import pytest
import torch
from helpers.planted_runs import runs
from torch import nn

from ssread.data import GraphSet, load
from ssread.train.graphcl import GraphCL
from ssread.train.infograph import InfoGraph
from ssread.train.make_objective import make_objective, model_of
from ssread.train.objective import Supervised


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=24, seed=1)


def test_a_run_that_does_not_mention_normalize_does_not_normalise(graphs):
    silent, without, with_it = (
        {name: value.shape for name, value in model_of(graphs, runs(1, **model)[0]).state_dict().items()}
        for model in ({}, {"normalize": False}, {"normalize": True})
    )
    assert silent == without != with_it


@pytest.mark.parametrize(
    ("learn", "kind"), [("supervised", Supervised), ("graphcl", GraphCL), ("infograph", InfoGraph)]
)
def test_a_run_gets_the_objective_it_names(graphs, learn, kind):
    objective = make_objective(graphs, dataclasses.replace(runs(1)[0], learn=learn))
    assert type(objective) is kind
    assert isinstance(objective.model.head, nn.Identity) == (learn != "supervised")


def test_classes_are_weighted_only_in_a_balanced_run(graphs):
    (run,) = runs(1)
    assert make_objective(graphs, run).class_weights is None
    weights = make_objective(graphs, dataclasses.replace(run, balanced=True)).class_weights
    assert float(weights[graphs.y].mean()) == pytest.approx(1, rel=1e-5)
    assert torch.isfinite(weights).all()
