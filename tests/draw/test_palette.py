"""Colours of positions and activations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssread.draw.palette import (
    AGAINST,
    FOR,
    activation_colours,
    colour_difference,
    meaning_colours,
    position_colours,
    relative_activations,
)

activations = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), max_size=8)


def test_sixteen_positions_have_different_colours():
    assert len(set(position_colours(16))) == 16
    assert position_colours(20)[16:] == position_colours(4)


@given(activations, st.floats(0.01, 100))
def test_relative_activations_keep_their_sign_and_do_not_depend_on_the_scale(values, scale):
    relative = relative_activations(values)
    assert np.abs(relative).max(initial=0) <= 1
    assert np.array_equal(np.sign(relative), np.sign(values))
    assert np.allclose(relative, relative_activations([scale * value for value in values]))


@given(activations)
def test_the_largest_activation_has_the_full_colour_of_its_sign_and_zero_is_white(values):
    colours = activation_colours([*values, 0.0])
    assert colours[-1] == "#ffffff"
    largest = max(values, key=abs, default=0.0)
    if largest:
        assert colours[values.index(largest)] == (FOR if largest > 0 else AGAINST).lower()


MEANINGS = st.lists(
    st.sampled_from(["nitro group", "aromatic CH", "hub", "end of a chain", "x", "y", "z", "w"]),
    unique=True,
    max_size=8,
)


@given(MEANINGS, st.randoms())
def test_meanings_have_different_colours_whatever_their_order(names, random):
    colours = meaning_colours(names)
    assert len(set(colours)) == len(names)
    weights = [random.random() for _ in names]
    order = sorted(range(len(names)), key=lambda _: random.random())
    found = meaning_colours(names, weights)
    again = meaning_colours([names[k] for k in order], [weights[k] for k in order])
    assert [found[k] for k in order] == again


def test_a_meaning_has_the_same_colour_beside_others():
    alone = [meaning_colours([name])[0] for name in ("nitro group", "aromatic ring", "end of a chain", "hub")]
    assert alone == meaning_colours(["nitro group", "aromatic ring", "end of a chain", "hub"])
    assert meaning_colours(["aromatic ring", "in a ring"], [1, 2])[1] == alone[1]


def test_up_to_seven_meanings_can_be_told_apart_by_everybody():
    colours = meaning_colours([f"position {k}" for k in range(7)])
    assert min(colour_difference(a, b) for a in colours for b in colours if a != b) > 12
    assert colour_difference("#ff0000", "#00ff00") < colour_difference("#ffffff", "#000000")
