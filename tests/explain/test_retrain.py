"""Trained models are those of the results."""

import pytest
import torch

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import predictions
from ssread.explain.retrain import trained_model, trained_models
from ssread.train import Run, Training, train
from ssread.train.fit import fold_of_run

GRAPHS = planted(40, nodes=13, seed=0)
RUNS = [Run({"name": "gcn", "hidden_channels": 8}, seed, 0, 4) for seed in range(2)]
SHORT = Training(epochs=4, batch_size=16)


def test_a_model_predicts_the_predictions_of_its_result(device):
    for run, (model, result) in zip(RUNS, trained_models(GRAPHS, RUNS, SHORT, device), strict=True):
        predicted = predictions(model, GRAPHS[fold_of_run(GRAPHS, run).test])
        assert torch.allclose(predicted, torch.from_numpy(result.test_predictions), atol=1e-4)


def test_training_again_gives_the_result_of_the_protocol():
    state = torch.get_rng_state()
    _, result = trained_model(GRAPHS, RUNS[0], SHORT)
    assert torch.equal(torch.get_rng_state(), state)
    assert result.curves == train(GRAPHS, [RUNS[0]], SHORT)[0].curves


def test_a_failed_training_is_reported_with_a_sentence():
    with pytest.raises(InputError, match="The training of gcn failed"):
        trained_model(GRAPHS, RUNS[0], Training(epochs=2, learning_rate=float("inf")))
