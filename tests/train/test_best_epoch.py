import pytest
import torch

from ssread.train.best_epoch import BestEpoch


class Weights:
    """An engine whose models have one weight: the number of the epoch."""

    epoch = 0

    def better_state(self, better, best):
        now = torch.full((len(better),), float(self.epoch))
        return {"w": torch.where(better, now, best["w"]) if best else now}


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [("accuracy", [3, 1]), ("loss", [2, 4])],  # a tie of accuracies is broken by the loss
)
def test_every_model_has_its_own_best_epoch(selection, chosen):
    accuracy = torch.tensor([[0.5, 0.9], [0.7, 0.8], [0.8, 0.9], [0.8, 0.7]])
    loss = torch.tensor([[0.6, 0.3], [0.2, 0.4], [0.4, 0.5], [0.5, 0.1]])
    best, engine = BestEpoch(2, selection), Weights()
    for epoch in range(1, 5):
        engine.epoch = epoch
        best.update(engine, epoch, accuracy[epoch - 1], loss[epoch - 1], torch.tensor([True, True]))
    assert best.epoch.tolist() == chosen
    assert best.state["w"].tolist() == chosen
    best.keep(torch.tensor([1]))
    assert best.epoch.tolist() == chosen[1:]


def test_an_epoch_that_is_not_valid_is_never_the_best():
    best, engine = BestEpoch(1), Weights()
    best.update(engine, 1, torch.tensor([1.0]), torch.tensor([0.0]), torch.tensor([False]))
    assert best.epoch.tolist() == [0]
    assert not best.state
