"""What positions mean, as it is kept with a model."""

import json

import pytest
from helpers.explained_models import trained
from helpers.small_models import untrained

from ssread.errors import InputError
from ssread.explain import meanings, prototype_atlas
from ssread.explain.meanings import SUMMARY, describe_positions, with_stored_meanings


def test_meanings_are_those_of_the_cards_and_survive_a_file(tmp_path):
    _, graphs = trained()
    model = untrained(graphs)
    cards = prototype_atlas(model, graphs)
    assert with_stored_meanings(model, cards) is None
    model.summary[SUMMARY] = describe_positions(model, graphs)
    json.dumps(model.summary, allow_nan=False)
    model.save(tmp_path / "model")
    others = prototype_atlas(model, graphs[:3])
    found = with_stored_meanings(tmp_path / "model", others)
    for card, here, everywhere in zip(found, others, cards, strict=True):
        assert card.traits == everywhere.traits
        assert card.activations == pytest.approx(everywhere.activations)
        assert (card.share, card.exemplars) == (here.share, here.exemplars)


def test_many_graphs_are_sampled(monkeypatch):
    _, graphs = trained()
    model = untrained(graphs)
    whole = describe_positions(model, graphs)
    monkeypatch.setattr(meanings, "MAX_GRAPHS", 10)
    sample = describe_positions(model, graphs)
    assert len(sample) == len(whole) == 3
    assert sample != whole


def test_without_positions_or_graphs_there_is_nothing_to_describe():
    _, graphs = trained()
    assert describe_positions(untrained(graphs, readout="global"), graphs) == []
    assert describe_positions(untrained(graphs), graphs[:0]) == []


@pytest.mark.parametrize("stored", [[{}], [{"traits": [{"x": 1}], "activations": [1]}] * 3])
def test_damaged_meanings_give_a_sentence(stored):
    _, graphs = trained()
    model = untrained(graphs)
    model.summary[SUMMARY] = stored
    with pytest.raises(InputError, match="The positions in the summary of the model are damaged"):
        with_stored_meanings(model, prototype_atlas(model, graphs[:3]))
