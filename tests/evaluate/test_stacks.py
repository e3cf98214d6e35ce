import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate import stacks
from ssread.evaluate.linear_evaluation import by_encoder
from ssread.evaluate.stacks import cohorts, parts_that_fit, surely_fit, train_cohort, train_stack
from ssread.train import Run, Training, train

SHORT = Training(epochs=3, patience=3, batch_size=16)
RUNS = [Run({"name": "gcn", "hidden_channels": 8, "num_positions": k}, 0, fold, 4) for k in (2, 3) for fold in range(3)]


def test_cohorts_hold_models_of_equal_shape():
    assert cohorts([RUNS[0], RUNS[3], RUNS[1]]) == [[RUNS[0], RUNS[1]], [RUNS[3]]]


def test_too_little_memory_means_smaller_cohorts(monkeypatch):
    graphs, said, tried = load("planted", num_graphs=40, seed=1), [], []

    def small_card(graphs, runs, training, device, say):
        tried.append(len(runs))
        if len(runs) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return train(graphs, runs, training, "cpu")

    monkeypatch.setattr(stacks, "train_and_judge", small_card)
    results = train_cohort(graphs, RUNS[:3], SHORT, "cuda", said.append)
    assert [result.run for result in results] == RUNS[:3]
    assert tried == [3, 2, 1, 1, 1]
    assert said[0] == "3 models do not fit into the memory of cuda at once; continuing with 2 at a time."


def test_too_little_memory_for_one_is_a_sentence(monkeypatch):
    def no_card(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(stacks, "train_and_judge", no_card)
    with pytest.raises(InputError, match="A single model does not fit into the memory of cuda"):
        train_cohort(load("planted", num_graphs=40), RUNS[:1], SHORT, "cuda", print)


def test_small_stacks_surely_fit_and_large_or_dense_ones_are_measured():
    graphs = load("planted", num_graphs=40)
    assert surely_fit(graphs, RUNS[:3], SHORT, 1 << 30)
    assert not surely_fit(graphs, RUNS[:3], SHORT, 1 << 20)
    for other in (Run({"name": "diffpool"}, 0, 0, 4), Run({"name": "gin"}, 0, 0, 4, learn="graphcl")):
        assert not surely_fit(graphs, [other], SHORT, 1 << 40)


@given(st.lists(st.integers(0, 12), min_size=1, unique=True), st.integers(-1, 15))
def test_parts_hold_every_run_once_and_are_of_about_equal_sizes(folds, most):
    runs = [Run({"name": "gcn"}, 0, fold, 13, task=task) for fold in folds for task in ("class", "atoms")]
    parts = parts_that_fit(runs, most)
    assert [run for part in parts for run in part] == runs
    sizes = [len(by_encoder(part)) for part in parts]
    assert sum(sizes) == len(folds), "tasks that share an encoder stay together"
    assert max(sizes) <= max(1, most)
    assert max(sizes) - min(sizes) <= 1
    assert len(parts) == -(-len(folds) // max(1, most))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("learn", ["supervised", "graphcl"])
def test_a_stack_that_does_not_fit_is_split_before_it_is_trained(learn):
    graphs, said = load("planted", num_graphs=200, seed=1), []
    runs = [Run({"name": "gcn", "hidden_channels": 64}, seed, 0, 10, learn=learn) for seed in range(8)]
    need = stacks.bytes_per_model(graphs, runs, SHORT, "cuda")
    results = train_stack(graphs, runs, SHORT, "cuda", said.append, memory=int(4 * stacks.GROWTH * need))
    assert [result.run for result in results] == runs
    assert not said
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_reserved()
    train_stack(graphs, runs, SHORT, "cuda", said.append)
    assert torch.cuda.max_memory_reserved() - before <= 8 * stacks.GROWTH * need
