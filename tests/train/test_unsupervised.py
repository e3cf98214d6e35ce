import dataclasses
import functools

import numpy as np
import pytest
import torch

from ssread.data import GraphSet, assemble, load
from ssread.errors import InputError
from ssread.train import Run, Training, make_objective
from ssread.train.cohort import Cohort
from ssread.train.graphcl import GraphCL
from ssread.train.unsupervised import Learnt, _fit, learn, unlabelled

SHORT = Training(epochs=3, batch_size=16)
WAYS = ["graphcl", "infograph"]


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=45, seed=3)


def encoder(how: str, seed: int = 0, **model: object) -> Run:
    arguments = {"name": "gin", "hidden_channels": 8, "num_layers": 2, "num_positions": 3, "dropout": 0.0, **model}
    return Run(arguments, seed=seed, fold=0, learn=how)


def assert_same(one: Learnt, other: Learnt, **tolerance: float) -> None:
    for name in one.curves:
        np.testing.assert_allclose(one.curves[name], other.curves[name], **tolerance)
    torch.testing.assert_close(one.vectors.cpu(), other.vectors.cpu(), **(tolerance or {"atol": 0, "rtol": 0}))


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_run_in_a_cohort_equals_the_run_alone(graphs, how, readout, device, monkeypatch):
    """Of views only the identity: the others draw numbers of their own. (Their lifting: test_views.)"""
    torch.set_default_dtype(torch.float64)
    try:
        monkeypatch.setattr(make_objective, "GraphCL", functools.partial(GraphCL, augmentations=["identity"]))
        x = torch.randn(len(graphs.x), 5)  # constant channels: see the supervised test
        graphs = unlabelled(dataclasses.replace(graphs, x=x, node_feature_names=tuple("abcde")))
        which = [encoder(how, seed, readout=readout, jumping=True) for seed in range(3)]
        together = _fit(Cohort(graphs, which, SHORT, device), graphs, which, SHORT, lambda _: None)
        for run, learnt in zip(which, together, strict=True):
            assert_same(learnt, learn(graphs, [run], SHORT)[0], rtol=1e-6, atol=1e-6)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("how", WAYS)
def test_a_cohort_with_all_views_learns_like_single_runs(graphs, how):
    """Other random numbers, the same course."""
    which = [encoder(how, seed) for seed in range(4)]
    training = dataclasses.replace(SHORT, epochs=8)
    unknown = unlabelled(graphs)
    together = _fit(Cohort(unknown, which, training, "cpu"), unknown, which, training, lambda _: None)
    alone = learn(graphs, which, training)
    means = [np.mean([one.curves["train_loss"] for one in group], axis=0) for group in (together, alone)]
    assert means[0] == pytest.approx(means[1], rel=0.25, abs=0.1)


@pytest.mark.parametrize("how", WAYS)
def test_no_label_is_read(graphs, how):
    """Without labels, and with other ones, every number is the same."""
    without = dataclasses.replace(graphs, y=None, class_names=())
    others = dataclasses.replace(graphs, y=1 - graphs.y)
    first, *rest = (learn(which, [encoder(how)], SHORT)[0] for which in (graphs, without, others))
    for other in rest:
        assert_same(first, other)
    assert first.best_epoch == len(first.curves["train_loss"]) == 3
    assert not first.failed


@pytest.mark.parametrize("how", WAYS)
def test_training_learns_and_the_fold_says_nothing(graphs, how):
    training = dataclasses.replace(SHORT, epochs=30)
    (learnt,) = learn(graphs, [encoder(how)], training)
    assert np.mean(learnt.curves["train_loss"][-5:]) < learnt.curves["train_loss"][0] - 0.2
    assert learnt.curves["alignment_loss"][-1] < learnt.curves["alignment_loss"][0]
    (again,) = learn(graphs, [dataclasses.replace(encoder(how), fold=4)], training)
    assert_same(learnt, again)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["gcn", "dgcnn", "diffpool", "sagpool", "gunet", "structure_blind"])
def test_every_encoder_learns_without_labels(graphs, how, name):
    (learnt,) = learn(graphs, [encoder(how, name=name, num_layers=None)], dataclasses.replace(SHORT, epochs=1))
    assert not learnt.failed
    assert learnt.vectors.shape[0] == len(graphs)


@pytest.mark.parametrize("how", WAYS)
def test_graphs_of_one_node_and_of_none_survive(how):
    sizes = [1, 0, 1, 3, 1, 2]
    graphs = assemble(
        name="tiny", num_nodes=sizes, x=np.random.default_rng(0).random((sum(sizes), 2), dtype=np.float32),
        graph_of_edge=np.array([3, 3]), edges=np.array([[0, 1], [1, 2]]),
    )  # fmt: skip
    (learnt,) = learn(graphs, [encoder(how)], SHORT)
    assert not learnt.failed
    edgeless = dataclasses.replace(
        graphs, edge_index=graphs.edge_index[:, :0], edge_ptr=torch.zeros_like(graphs.edge_ptr)
    )
    assert not learn(edgeless, [encoder(how)], SHORT)[0].failed


def test_one_graph_or_batches_of_one_get_a_sentence(graphs):
    with pytest.raises(InputError, match="planted has 1, but learning without labels"):
        learn(graphs[:1], [encoder("graphcl")], SHORT)
    with pytest.raises(InputError, match="batch_size is 1, but learning without labels"):
        learn(graphs, [encoder("infograph")], Training(batch_size=1))


def test_an_unknown_way_gets_a_sentence(graphs):
    with pytest.raises(InputError, match=r"no way to learn called 'magic'. Choose from supervised, graphcl, infograph"):
        learn(graphs, [encoder("magic")], SHORT)


def test_a_loss_that_is_not_a_number_is_said(graphs):
    broken = dataclasses.replace(graphs, x=graphs.x * float("nan"))
    (learnt,) = learn(broken, [encoder("infograph")], SHORT)
    assert learnt.failed == "the loss was not a number at epoch 1"
