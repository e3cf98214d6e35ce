import pytest

from ssread.train.runs import Training


def test_a_constant_learning_rate_never_changes():
    training = Training(epochs=9, learning_rate=0.3)
    assert {training.learning_rate_at(epoch) for epoch in range(1, 10)} == {0.3}


def test_a_cosine_learning_rate_falls_from_its_value_towards_0():
    training = Training(epochs=50, learning_rate=0.3, schedule="cosine")
    rates = [training.learning_rate_at(epoch) for epoch in range(1, 51)]
    assert rates[0] == 0.3
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < 0.001


def test_averaging_over_all_epochs_is_their_mean():
    training, mean = Training(averaging=1.0), 100.0
    for epoch, value in enumerate([4.0, 8.0, 3.0, 1.0], start=1):
        mean += training.averaging_weight(epoch) * (value - mean)
    assert mean == pytest.approx(4.0)


def test_averaging_over_a_share_starts_when_the_share_is_an_epoch():
    training = Training(averaging=0.1)
    assert [training.averaging_weight(epoch) for epoch in (1, 10, 20, 100)] == pytest.approx([1, 1, 0.5, 0.1])
