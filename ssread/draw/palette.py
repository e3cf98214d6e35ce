"""Colours that people with any kind of colour vision can tell apart, the same on the page and in print."""

from collections.abc import Sequence

import numpy as np

from ssread.common.figure_style import PALETTE

__all__ = ["AGAINST", "FOR", "NOTHING", "activation_colours", "position_colours", "strength"]

#: Nodes without a position.
NOTHING = "#BBBBBB"

#: What speaks for a class and what speaks against it.
FOR, AGAINST = "#D55E00", "#0072B2"

#: Further colours (Tol's muted scheme) for more positions than Okabe and Ito's palette has; numbers go with them.
_MORE = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499")


def position_colours(num_positions: int) -> list[str]:
    """One colour per position; from the seventeenth on they repeat.

    >>> position_colours(2)
    ['#0072B2', '#D55E00']
    """
    every = [*PALETTE[:-1], *_MORE]
    return [every[number % len(every)] for number in range(num_positions)]


def strength(activations: Sequence[float]) -> np.ndarray:
    """Activations of one graph between -1 and 1, by the largest of them; 0 everywhere where all are 0."""
    values = np.asarray(activations, dtype=float)
    most = np.abs(values).max(initial=0)
    return values / most if most > 0 else values


def activation_colours(activations: Sequence[float]) -> list[str]:
    """From white (nothing) to orange (for the class) or blue (against it), by the graph's largest activation.

    >>> activation_colours([1.0, 0.0, -0.5])
    ['#d55e00', '#ffffff', '#80b8d8']
    """
    colours = []
    for value in strength(activations):
        end = FOR if value > 0 else AGAINST
        parts = (int(end[place : place + 2], 16) for place in (1, 3, 5))
        colours.append("#" + "".join(f"{round(255 + (part - 255) * abs(value)):02x}" for part in parts))
    return colours
