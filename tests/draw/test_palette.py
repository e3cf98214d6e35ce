"""Colours of positions and activations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssread.draw.palette import AGAINST, FOR, activation_colours, position_colours, relative_activations

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
