"""Trainings of every task: one model as a stack of them, what is learnt, and by which metric the epoch is chosen."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.planted_runs import SHORT, assert_same, cohort_of, runs

from ssread import InputError
from ssread.data import GraphSet, from_smiles, load
from ssread.metrics import evaluate
from ssread.train import Run, Training, train
from ssread.train.fit import fold_of_run
from ssread.train.make_objective import make_objective

MODEL = {"name": "gcn", "readout": "ssread", "num_positions": 2, "normalize": True, "hidden_channels": 16}


def labelled(task: str) -> GraphSet:
    """Planted graphs whose labels follow from their structure, with gaps: the number of nodes and the class."""
    graphs = load("planted", num_graphs=90, nodes=(13, 30), seed=3)
    size, kind = graphs.node_counts.float(), graphs.y.float()
    both = torch.stack([kind, (size > size.median()).float()], dim=1)
    y = both if task == "multilabel" else torch.stack([100 + 5 * size, -kind], dim=1)
    y[torch.rand(y.shape, generator=torch.Generator().manual_seed(0)) < 0.2] = torch.nan
    x = torch.randn(len(graphs.x), 5, generator=torch.Generator().manual_seed(1))
    names = ("first", "second")
    return dataclasses.replace(
        graphs, x=x, node_feature_names=tuple("abcde"), y=y, task=task, class_names=(), target_names=names
    )


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_a_run_in_a_cohort_equals_the_run_alone(task, balanced, device):
    graphs = labelled(task)
    training = dataclasses.replace(SHORT, selection="roc_auc" if task == "multilabel" else "rmse")
    which = [dataclasses.replace(run, balanced=balanced) for run in runs(3)]
    for run, result in zip(which, cohort_of(graphs, which, training, device), strict=True):
        assert_same(result, train(graphs, [run], training)[0], exact=False)


@pytest.mark.parametrize("arch", ["gcn", "sagpool"])
def test_numbers_are_predicted_in_their_unit(arch):
    pytest.importorskip("rdkit")
    smiles = ["C" * (1 + number % 12) for number in range(120)]
    graphs = from_smiles(smiles, [1000.0 + 100 * len(text) for text in smiles], task="regression")
    training = Training(epochs=60, patience=60, batch_size=16, selection="rmse", schedule="cosine", averaging=0.1)
    (result,) = train(graphs, [Run({**MODEL, "name": arch}, 0, 0, 4)], training)
    spread = float(graphs.y.std())
    assert (
        evaluate("rmse", result.test_targets, result.test_predictions) < 0.5 * spread
    )  # guessing the mean gives the spread
    assert result.valid_score == min(result.curves["valid_score"])
    assert np.isnan(result.valid_accuracy)


def test_scale_and_weights_come_from_the_training_part_alone():
    graphs = labelled("regression")
    fold = fold_of_run(graphs, Run(MODEL, 0, 0, 3))
    objective = make_objective(graphs, Run(MODEL, 0, 0, 3))
    found = objective.learnt_from(graphs.y[fold.train])
    torch.testing.assert_close(found["model.head.1.mean"], graphs.y[fold.train].nanmean(dim=0))
    assert not torch.equal(found["model.head.1.mean"], graphs.y.nanmean(dim=0))


def test_the_metric_asked_for_chooses_the_epoch():
    """A rare class: accuracy is best where nothing is recognised, and would keep that epoch."""
    graphs = load("planted", num_graphs=120, seed=1)
    rare = graphs[torch.cat([(graphs.y == 0).nonzero().squeeze(1), (graphs.y == 1).nonzero().squeeze(1)[:24]])]
    run = Run(MODEL, 0, 0, 2, balanced=True)
    chosen = {}
    for selection in ("accuracy", "roc_auc", "balanced_accuracy"):
        training = Training(epochs=12, patience=12, batch_size=16, selection=selection)
        (result,) = train(rare, [run], training)
        chosen[selection] = result
        curve = result.curves["valid_accuracy" if selection == "accuracy" else "valid_score"]
        assert result.valid_score == max(curve) == curve[result.best_epoch - 1]
    assert "valid_score" not in chosen["accuracy"].curves
    assert chosen["roc_auc"].curves["train_loss"] == chosen["accuracy"].curves["train_loss"]


def test_a_metric_that_does_not_fit_is_refused_before_training():
    with pytest.raises(InputError, match="no metric 'accuracy' for regression"):
        train(labelled("regression"), [Run(MODEL, 0, 0, 3)], Training(epochs=1, selection="accuracy"))
    with pytest.raises(InputError, match="no metric 'rmse' for multilabel"):
        train(labelled("multilabel"), [Run(MODEL, 0, 0, 3)], Training(epochs=1, selection="rmse"))


def test_thousands_of_padding_edges_do_not_overflow():
    """A step with few real graphs in a large padded batch: deep sums over the loops of the padding node."""
    pytest.importorskip("rdkit")
    smiles = ["C" * (2 + number % 30) for number in range(260)]
    graphs = from_smiles(smiles, [len(text) % 2 for text in smiles])
    training = Training(epochs=2, patience=2, batch_size=200)
    which = [Run({**MODEL, "name": "gin", "num_layers": 5}, seed, 0, 10) for seed in range(2)]
    for result in cohort_of(graphs, which, training, "cpu"):
        assert not result.failed
