"""Trainings of every task: one model as a stack of them, what is learnt, and by which metric the epoch is chosen."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.planted_runs import SHORT, assert_same, cohort_of, runs

from ssread import InputError
from ssread.data import GraphSet, from_smiles, load
from ssread.metrics import each, evaluate
from ssread.train import Run, Training, train
from ssread.train.fit import fit, fold_of_run
from ssread.train.make_objective import make_objective
from ssread.train.single import Single

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


def with_features(graphs: GraphSet) -> GraphSet:
    """The graphs with features of whole graphs: one of use, one with gaps, a bit, a constant, one too large."""
    generator = torch.Generator().manual_seed(2)
    size = graphs.node_counts.float()
    gaps = torch.where(torch.rand(len(graphs), generator=generator) < 0.3, torch.nan, size)
    bit = torch.rand(len(graphs), generator=generator).round()
    features = torch.stack([size, gaps, bit, torch.full_like(size, 7.0), 1e30 * (size == size[0])], dim=1)
    return dataclasses.replace(graphs, graph_attr=features, graph_feature_names=tuple("vwxyz"))


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("task", ["multilabel", "regression"])
@pytest.mark.parametrize("features", [False, True])
def test_a_run_in_a_cohort_equals_the_run_alone(task, balanced, features, device):
    graphs = with_features(labelled(task)) if features else labelled(task)
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


def test_features_of_whole_graphs_are_learnt_from_and_standardised_on_the_training_part_alone():
    """The number of nodes is a feature, and the numbers follow from it."""
    plain = labelled("regression")
    training = Training(epochs=15, patience=15, batch_size=8, learning_rate=5e-3, selection="rmse")
    error = {}
    for graphs in (plain, with_features(plain)):
        kept = {}
        run = Run({**MODEL, "name": "structure_blind", "dropout": 0.0}, 0, 0, 4)
        fold = fold_of_run(graphs, run)
        engine = Single(graphs, run, training)
        (result,) = fit(engine, graphs, [run], [fold], training, weights=lambda _, state, kept=kept: kept.update(state))
        error[graphs.num_graph_features] = each("rmse", result.test_targets, result.test_predictions)[0]
    assert error[5] < 0.7 * error[0]
    train_part = graphs.graph_attr[fold.train].double()
    torch.testing.assert_close(kept["graph_features.center"][0].double(), train_part[:, 0].mean())
    assert kept["graph_features.center"][2] == 0
    assert kept["graph_features.spread"][2:4].tolist() == [1, 1]


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
