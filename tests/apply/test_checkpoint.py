"""Checkpoints: a training stopped at any epoch ends in the same bits."""

import pytest
import torch
from helpers.small_models import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply.checkpoint import CheckpointFile
from ssread.apply.final_training import hold_out
from ssread.errors import InputError
from ssread.train.cohort import Cohort
from ssread.train.fit import fit
from ssread.train.runs import Run, Training
from ssread.train.single import Single

EPOCHS = 6
TRAINING = Training(epochs=EPOCHS, patience=EPOCHS, batch_size=16)
RUN = Run({"name": "gcn", "hidden_channels": 8, "num_positions": 2}, 0, 0, 1)
DATA = graphs(40)


class StoppedError(Exception):
    """Stands for Ctrl-C."""


def trained(path, every=0.0, stop=None):
    """The result of a training and its weights; it is stopped after an epoch, before that epoch's checkpoint."""

    def progress(run, epoch, accuracy):
        if epoch == stop:
            raise StoppedError

    engine = Single(DATA, RUN, TRAINING)
    weights: dict[str, torch.Tensor] = {}
    (result,) = fit(
        engine,
        DATA,
        [RUN],
        [hold_out(DATA, 0.1, 0)],
        TRAINING,
        progress,
        weights=lambda _, state: weights.update(state),
        checkpoint=CheckpointFile(path, engine, every),
    )
    return result, weights


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("undisturbed") / "checkpoint")


@settings(max_examples=5)
@given(st.lists(st.integers(1, EPOCHS), max_size=3).map(sorted))
def test_a_training_stopped_anywhere_ends_in_the_same_bits(undisturbed, tmp_path_factory, stops):
    path = tmp_path_factory.mktemp("stopped") / "checkpoint"
    for stop in stops:
        with pytest.raises(StoppedError):
            trained(path, stop=stop)
        torch.manual_seed(stop)  # what happens in between does not matter
    result, weights = trained(path)
    expected, expected_weights = undisturbed
    assert result.curves == expected.curves
    assert (result.best_epoch, result.valid_accuracy) == (expected.best_epoch, expected.valid_accuracy)
    assert all(torch.equal(weights[name], value) for name, value in expected_weights.items())


STACK = [Run(RUN.model, seed, 0, 1) for seed in range(3)]
AVERAGED = Training(epochs=EPOCHS, patience=2, batch_size=16, averaging=0.5, schedule="cosine")


def stack_trained(path, device, stop=None):
    """As :func:`trained`, for a stack of models that stop at different epochs; stopped when its last model is."""
    weights: dict[int, dict[str, torch.Tensor]] = {}

    def progress(run, epoch, accuracy):
        if epoch == stop:
            raise StoppedError

    engine = Cohort(DATA, STACK, AVERAGED, device)
    results = fit(
        engine,
        DATA,
        STACK,
        [hold_out(DATA, 0.1, run.seed) for run in STACK],
        AVERAGED,
        progress,
        weights=lambda run, state: weights.update({run.seed: state}),
        checkpoint=CheckpointFile(path, engine, every=0),
    )
    return results, weights


@pytest.mark.parametrize("stops", [[2], [3, 3, 5], [4, 6]])
def test_a_stack_stopped_anywhere_ends_in_the_same_bits(device, tmp_path, stops):
    expected, expected_weights = stack_trained(tmp_path / "undisturbed", device)
    assert len({result.epochs for result in expected}) > 1, "models that have stopped are kept, too"
    for stop in stops:
        try:
            stack_trained(tmp_path / "checkpoint", device, stop)
        except StoppedError:
            torch.manual_seed(stop)
    results, weights = stack_trained(tmp_path / "checkpoint", device)
    for result, other in zip(results, expected, strict=True):
        assert result.curves == other.curves
        assert (result.best_epoch, result.valid_accuracy) == (other.best_epoch, other.valid_accuracy)
        for name, value in expected_weights[result.run.seed].items():
            assert torch.equal(weights[result.run.seed][name], value)


def test_a_checkpoint_is_written_no_more_often_than_it_should(tmp_path):
    trained(tmp_path / "checkpoint", every=1000)
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.parametrize("content", [b"", b"not a checkpoint" * 8])
def test_a_damaged_file_gets_a_sentence(tmp_path, content):
    (tmp_path / "checkpoint").write_bytes(content)
    with pytest.raises(InputError, match=r"checkpoint is damaged .* remove it to start the training again"):
        trained(tmp_path / "checkpoint")
