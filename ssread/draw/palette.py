"""Colours that people with any kind of colour vision can distinguish, the same on the page and in print."""

from collections.abc import Sequence

import numpy as np

from ssread.common.figure_style import PALETTE

__all__ = ["AGAINST", "FOR", "NO_POSITION", "activation_colours", "position_colours", "relative_activations"]

#: Nodes without a position.
NO_POSITION = "#BBBBBB"

#: Positive and negative class activation.
FOR, AGAINST = "#D55E00", "#0072B2"

#: Tol's muted colours, for more positions than Okabe and Ito's palette has.
_FURTHER_COLOURS = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499")


def position_colours(num_positions: int) -> list[str]:
    """One colour per position; from the seventeenth on they repeat.

    >>> position_colours(2)
    ['#0072B2', '#D55E00']
    """
    colours = [*PALETTE[:-1], *_FURTHER_COLOURS]
    return [colours[number % len(colours)] for number in range(num_positions)]


def relative_activations(activations: Sequence[float]) -> np.ndarray:
    """Activations of one graph divided by the largest absolute value, in [-1, 1]; zeros where all are 0."""
    values = np.asarray(activations, dtype=float)
    largest = np.abs(values).max(initial=0)
    return values / largest if largest > 0 else values


def activation_colours(activations: Sequence[float]) -> list[str]:
    """From white (0) to orange (for the class) or blue (against it), relative to the graph's largest activation.

    >>> activation_colours([1.0, 0.0, -0.5])
    ['#d55e00', '#ffffff', '#80b8d8']
    """
    colours = []
    for value in relative_activations(activations):
        end = FOR if value > 0 else AGAINST
        channels = (int(end[start : start + 2], 16) for start in (1, 3, 5))
        colours.append("#" + "".join(f"{round(255 + (channel - 255) * abs(value)):02x}" for channel in channels))
    return colours
