"""What positions mean, as it is kept with a model."""

import json

import pytest
from helpers.explained_models import trained
from helpers.small_models import untrained

from ssread.errors import InputError
from ssread.explain import meanings
from ssread.explain.atlas import atlas_levels
from ssread.explain.meanings import describe_positions, stored_groups, with_stored_meanings


@pytest.mark.parametrize("members", [1, 3])
def test_meanings_are_those_of_the_cards_and_survive_a_file(tmp_path, members):
    _, graphs = trained()
    model = untrained(graphs, members)
    levels = atlas_levels(model, graphs)
    assert with_stored_meanings(model, levels) is stored_groups(model) is None
    model.summary |= describe_positions(model, graphs)
    json.dumps(model.summary, allow_nan=False)
    model.save(tmp_path / "model")
    folder = tmp_path / "model"
    others = atlas_levels(model, graphs[:3], groups=stored_groups(folder))
    found = with_stored_meanings(folder, others)
    for level, here, everywhere in zip(found, others, levels, strict=True):
        assert level.groups == here.groups == everywhere.groups
        for card, shown, known in zip(level.cards, here.cards, everywhere.cards, strict=True):
            assert (card.name, card.traits) == (known.name, known.traits)
            assert card.activations == pytest.approx(known.activations)
            assert (card.share, card.exemplars) == (shown.share, shown.exemplars)


def test_a_position_without_a_name_keeps_its_number():
    _, graphs = trained()
    model = untrained(graphs, members=2)
    assert model.position_names == ["position 0", "position 1", "position 2"]
    model.summary["positions"] = [{"name": "hub"}, {}]
    assert model.position_names == ["hub", "position 1", "position 2"]


def test_many_graphs_are_sampled(monkeypatch):
    _, graphs = trained()
    model = untrained(graphs)
    whole = describe_positions(model, graphs)
    monkeypatch.setattr(meanings, "MAX_GRAPHS", 10)
    sample = describe_positions(model, graphs)
    assert len(sample["positions"]) == len(whole["positions"]) == 3
    assert sample != whole


def test_without_positions_or_graphs_there_is_nothing_to_describe():
    _, graphs = trained()
    assert describe_positions(untrained(graphs, readout="global"), graphs) == {}
    assert describe_positions(untrained(graphs), graphs[:0]) == {}


@pytest.mark.parametrize("stored", [[{}], [{"traits": [{"x": 1}], "activations": [1]}] * 3])
def test_damaged_meanings_give_a_sentence(stored):
    _, graphs = trained()
    model = untrained(graphs)
    model.summary["positions"] = stored
    with pytest.raises(InputError, match="The positions in the summary of the model are damaged"):
        with_stored_meanings(model, atlas_levels(model, graphs[:3]))
