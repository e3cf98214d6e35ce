"""Trainings whose models are kept."""

import pytest
import torch

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import probabilities
from ssread.explain.retrain import fold_of_run, trained_model, trained_models
from ssread.train import Run, Training, train

GRAPHS = planted(40, nodes=13, seed=0)
RUNS = [Run({"name": "gcn", "hidden_channels": 8}, seed, 0, 4) for seed in range(2)]
FEW = Training(epochs=4, batch_size=16)


def test_the_models_are_those_that_were_judged(device):
    for run, (model, result) in zip(RUNS, trained_models(GRAPHS, RUNS, FEW, device), strict=True):
        found = probabilities(model, GRAPHS[fold_of_run(GRAPHS, run).test])
        assert torch.allclose(found, torch.from_numpy(result.test_probabilities), atol=1e-4)


def test_a_run_trained_again_is_the_run_of_the_protocol():
    state = torch.get_rng_state()
    _, result = trained_model(GRAPHS, RUNS[0], FEW)
    assert torch.equal(torch.get_rng_state(), state)
    assert result.curves == train(GRAPHS, [RUNS[0]], FEW)[0].curves


def test_a_training_that_fails_gets_a_sentence():
    with pytest.raises(InputError, match="The training of gcn failed"):
        trained_model(GRAPHS, RUNS[0], Training(epochs=2, learning_rate=float("inf")))
