"""The final models: the same bits whether trained here, in worker processes, or in two attempts."""

import dataclasses

import pytest
import torch
from helpers.small_models import graphs
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply.checkpoint import CheckpointFile
from ssread.apply.final_training import hold_out, train_members
from ssread.data.cross_validation import with_split
from ssread.errors import InputError
from ssread.train.engine import initial_objective
from ssread.train.runs import Run, Training

MODEL = {"name": "gcn", "hidden_channels": 8, "num_positions": 2}
SHORT = Training(epochs=9, patience=9, batch_size=16)


def run(seed: int = 0, **settings: object) -> Run:
    return Run(MODEL, seed, 0, 1, **settings)


def weights(member) -> list[torch.Tensor]:
    return list(member.model.state_dict().values())


def assert_same(ours, others) -> None:
    for one, other in zip(ours, others, strict=True):
        assert one.curves == other.curves
        assert one.best_epoch == other.best_epoch
        assert all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


@pytest.fixture(scope="module")
def data():
    return graphs(40)


@pytest.fixture(scope="module")
def undisturbed(data):
    return train_members(data, [run(0), run(1)], SHORT)


class StoppedError(Exception):
    """Stands for Ctrl-C."""


def test_a_stopped_training_continues_and_trains_no_finished_member_again(data, undisturbed, tmp_path):
    def stop(member, epoch):
        if (member, epoch) == (1, 3):
            raise StoppedError

    with pytest.raises(StoppedError):
        train_members(data, [run(0), run(1)], SHORT, folder=tmp_path, progress=stop)
    calls = []
    members = train_members(data, [run(0), run(1)], SHORT, folder=tmp_path, progress=lambda *call: calls.append(call))
    assert {member for member, _ in calls} == {1}
    assert_same(members, undisturbed)


@pytest.mark.slow
def test_worker_processes_give_the_same_bits(data, undisturbed):
    assert_same(train_members(data, [run(0), run(1)], SHORT, workers=2), undisturbed)


def test_a_cohort_trains_as_the_members_do_alone(data, device, tmp_path):
    """As on a GPU; without dropout the numbers agree."""
    from ssread.apply.final_training import _Task, _train_cohort

    runs = [Run({**MODEL, "dropout": 0.0}, seed, 0, 1) for seed in (0, 1)]
    tasks = [_Task(tmp_path, n, run, hold_out(data, 0.1, run.seed), SHORT) for n, run in enumerate(runs)]
    calls = []
    _train_cohort(data, tasks, device, lambda member, epoch: calls.append((member, epoch)))
    alone = train_members(data, runs, SHORT)
    assert sorted(calls) == [(member, epoch) for member in (0, 1) for epoch in range(1, 10)]
    for one, other in zip((task.read(data) for task in tasks), alone, strict=True):
        assert one.curves["train_loss"] == pytest.approx(other.curves["train_loss"], abs=1e-3)


def test_a_stopped_cohort_continues_in_the_same_bits(data, device, tmp_path, monkeypatch):
    from ssread.apply import final_training
    from ssread.apply.final_training import _Task, _train_cohort

    monkeypatch.setattr(final_training, "CheckpointFile", lambda path, engine: CheckpointFile(path, engine, every=0))

    def trained(folder, stop=None):
        def progress(member, epoch):
            if (member, epoch) == stop:
                raise StoppedError

        folder.mkdir(exist_ok=True)
        tasks = [_Task(folder, n, run(n), hold_out(data, 0.1, n), SHORT) for n in (0, 1)]
        torch.manual_seed(5)
        _train_cohort(data, tasks, device, progress)
        assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(5)))
        return [task.read(data) for task in tasks]

    undisturbed = trained(tmp_path / "undisturbed")
    with pytest.raises(StoppedError):
        trained(tmp_path / "stopped", stop=(1, 4))
    assert (tmp_path / "stopped" / "checkpoint.safetensors").is_file()
    assert_same(trained(tmp_path / "stopped"), undisturbed)
    assert not (tmp_path / "stopped" / "checkpoint.safetensors").exists()


def test_members_differ_and_the_rest_of_the_program_keeps_its_random_numbers(data, undisturbed):
    assert not torch.equal(weights(undisturbed[0])[0], weights(undisturbed[1])[0])
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train_members(data, [run(0)], Training(epochs=1))
    assert torch.equal(torch.rand(3), expected)


def test_a_loss_that_is_not_a_number_gets_a_sentence(data):
    training = Training(epochs=3, learning_rate=1e30)
    with pytest.raises(InputError, match="the loss was not a number at epoch"):
        train_members(data, [run(0)], training)


@given(st.floats(0.01, 0.6), st.integers(0, 100))
def test_every_graph_is_either_trained_on_or_held_out(share, seed):
    data = graphs(40)
    fold = hold_out(data, share, seed)
    assert sorted([*fold.train.tolist(), *fold.validation.tolist()]) == list(range(40))
    assert set(data.y[fold.validation].tolist()) == {0, 1}
    assert len(fold.validation) == max(2, round(share * 40))


def test_balanced_classes_count_the_same(data):
    uneven = data[[*range(4), *(data.y == 1).nonzero().squeeze(1).tolist()]]
    uneven = uneven[sorted(set(range(len(uneven))))]
    objective = initial_objective(uneven, run(balanced=True))
    objective.class_weights.copy_(objective.learnt_from(uneven.y)["class_weights"])
    counts = torch.bincount(uneven.y, minlength=2)
    torch.testing.assert_close(objective.class_weights * counts, torch.full((2,), len(uneven) / 2))
    plain = initial_objective(uneven, run())
    assert plain.class_weights is None
    batch = uneven.batch(slice(None))
    for one in (objective, plain):
        one.eval()
    per_graph = torch.nn.functional.cross_entropy(plain.model(batch), batch.y, reduction="none")
    expected = (per_graph[batch.y == 0].mean() + per_graph[batch.y == 1].mean()) / 2
    torch.testing.assert_close(objective(batch.y, None, batch)[0], expected)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [([0] * 40, "one class only"), ([0] * 39 + [1], "Class 'cycle' of planted has one graph only")],
)
def test_too_few_of_a_class_get_a_sentence(data, labels, sentence):
    with pytest.raises(InputError, match=sentence):
        hold_out(dataclasses.replace(data, y=torch.tensor(labels)), 0.1, 0)


def test_the_split_also_decides_what_is_held_out_for_early_stopping():
    data = graphs(40)
    grouped, _ = with_split(
        dataclasses.replace(data, graph_texts={"kind": tuple(str(n % 10) for n in range(40))}), "groups:kind"
    )
    fold = hold_out(grouped, 0.2, seed=0)
    assert not {int(n) % 10 for n in fold.train} & {int(n) % 10 for n in fold.validation}
    ordered, _ = with_split(
        dataclasses.replace(data, graph_texts={"when": tuple(str(-n) for n in range(40))}), "time:when"
    )
    assert sorted(hold_out(ordered, 0.1, seed=0).validation.tolist()) == [0, 1, 2, 3]


def test_a_group_too_large_to_hold_out_is_learnt_from():
    """A frequent scaffold, of which every member would otherwise see nothing."""
    data = dataclasses.replace(graphs(120), y=torch.tensor([int(n % 4 == 0) for n in range(120)]))
    kinds = tuple("frequent" if n < 60 else str(n // 2) for n in range(120))
    grouped, _ = with_split(dataclasses.replace(data, graph_texts={"kind": kinds}), "groups:kind")
    parts = [hold_out(grouped, 0.1, seed).validation.tolist() for seed in range(3)]
    assert all(min(part) >= 60 and 6 <= len(part) <= 18 for part in parts)
    assert parts[0] != parts[1]
