"""Names of positions: in words, each different, numbers only where nothing stands out."""

from hypothesis import given
from hypothesis import strategies as st

from ssread.explain.atlas import Trait
from ssread.explain.position_names import name_positions

FACTS = ["nitro group", "aromatic CH", "carbon", "in a ring", "end of a chain", "3 neighbours"]


def trait(fact, inside, effect, p=0.001):
    return Trait(fact, inside, 0.0, effect, p)


def test_a_position_is_called_by_its_strongest_fact():
    traits = [[trait("nitro group", 0.9, 2.0), trait("carbon", 0.6, 0.6)], [trait("end of a chain", 0.7, 1.0)]]
    assert name_positions(traits, FACTS) == ["nitro group", "end of a chain"]


def test_of_facts_that_are_nearly_as_strong_the_most_telling_names():
    assert name_positions([[trait("in a ring", 0.9, 2.0), trait("aromatic CH", 0.8, 1.9)]], FACTS) == ["aromatic CH"]


def test_counts_weak_rare_and_insignificant_facts_name_nothing():
    traits = [
        [trait("3 neighbours", 0.9, 2.0)],
        [trait("carbon", 0.9, 0.3)],
        [trait("carbon", 0.9, 2.0, p=0.2)],
        [trait("carbon", 0.9, 2.0, p=float("nan"))],
        [trait("nitro group", 0.3, 1.1)],
    ]
    expected = ["position 0", "position 1", "position 2", "position 3", "mixed, with nitro group"]
    assert name_positions(traits, FACTS) == expected


def test_two_positions_of_the_same_kind_are_told_apart():
    ring, chain = trait("in a ring", 0.9, 2.0), trait("carbon", 0.8, 0.6)
    assert name_positions([[ring], [trait("in a ring", 0.8, 1.5), chain]], FACTS) == ["in a ring", "in a ring, carbon"]
    assert name_positions([[ring], [ring]], FACTS) == ["in a ring", "in a ring (1)"]


def test_a_rare_fact_of_a_larger_effect_does_not_name_a_position():
    rare, held = trait("carbon", 0.2, 2.0), trait("nitro group", 0.9, 1.0)
    assert name_positions([[held, rare]], FACTS) == ["nitro group"]
    assert name_positions([[rare], [held, rare]], FACTS) == ["mixed, with carbon", "nitro group"]
    stronger = trait("nitro group", 0.9, 1.5)
    assert name_positions([[stronger], [held, rare]], FACTS) == ["nitro group", "nitro group, carbon"]
    assert name_positions([[held, rare], [stronger]], FACTS) == ["nitro group, carbon", "nitro group"]


some_traits = st.builds(Trait, st.sampled_from(FACTS), *[st.floats(0, 1)] * 2, st.floats(-3, 3), st.floats(0, 1))


@given(st.lists(st.lists(some_traits, max_size=6, unique_by=lambda trait: trait.fact), max_size=8))
def test_names_are_different_and_do_not_depend_on_the_order_of_the_facts_found(traits):
    names = name_positions(traits, FACTS)
    assert len(set(names)) == len(names) == len(traits)
    assert name_positions([sorted(of, key=lambda t: (-t.effect, t.fact)) for of in traits], FACTS) == name_positions(
        [sorted(of, key=lambda t: (-t.effect, t.fact)) for of in map(list, map(reversed, traits))], FACTS
    )
