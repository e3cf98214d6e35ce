"""Colours that people with any kind of colour vision can distinguish, the same on the page and in print."""

import zlib
from collections.abc import Sequence

import numpy as np

from ssread.common.figure_style import PALETTE

__all__ = [
    "AGAINST",
    "FOR",
    "NO_POSITION",
    "activation_colours",
    "colour_difference",
    "faded",
    "meaning_colours",
    "position_colours",
    "relative_activations",
]

#: Nodes without a position.
NO_POSITION = "#BBBBBB"

#: Positive and negative contributions. Positions have neither colour: the two are shown side by side.
FOR, AGAINST = "#8E3A97", "#2D7F3E"

#: Tol's muted colours, for more positions than Okabe and Ito's palette has.
_FURTHER_COLOURS = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499")

#: Words of meanings that have a colour of their own, in the order of the palette.
FAMILIES = (
    ("aromatic", "in a ring"),
    ("nitro", "oxygen"),
    ("halogen", "halide", "inside a chain", "aliphatic", "alkyl", "outside of rings"),
    ("amin", "nitrogen", "end of a chain"),
    ("aromatic CH", "hydrogen", "methyl"),
    ("fused", "branching", "hub"),
    ("sulfur", "phosphorus", "substituent", "triangle"),
)

#: Linear RGB as people without red, green or blue cones see it (Machado et al. 2009), and as others do.
_SIGHTS = (
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]),
)


def position_colours(num_positions: int) -> list[str]:
    """One colour per position; from the seventeenth on they repeat.

    >>> position_colours(2)
    ['#0072B2', '#D55E00']
    """
    colours = [*PALETTE[:-1], *_FURTHER_COLOURS]
    return [colours[number % len(colours)] for number in range(num_positions)]


def faded(colour: str, share: float) -> str:
    """A colour ``#rrggbb`` mixed with white: all of it for a share of 1, white for 0.

    >>> faded("#0072B2", 1.0), faded("#000000", 0.5)
    ('#0072B2', '#808080')
    """
    parts = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - share * (255 - part)):02X}" for part in parts)


def meaning_colours(names: Sequence[str], weights: Sequence[float] | None = None) -> list[str]:
    """A colour for every meaning, the same on every page where nothing else claims it; all are different.

    A meaning has a home in the palette: that of its family (:data:`FAMILIES`), or one computed from its text. Where two
    meanings share a home, the heavier one has it; the other takes the free colour that is easiest to tell from those in
    use, also for people who see no red, green or blue. From the seventeenth meaning on colours repeat.

    Args:
        names: The meanings.
        weights: What decides between two meanings of the same home, the larger first; by default their order.

    >>> meaning_colours(["nitro group", "aromatic ring"]) == meaning_colours(["aromatic ring", "nitro group"])[::-1]
    True
    """
    weights = weights if weights is not None else [-number for number in range(len(names))]
    order = sorted(range(len(names)), key=lambda number: (-weights[number], names[number]))
    colours: dict[int, str] = {}
    for wanting_home in (True, False):
        for number in order:
            home = PALETTE[_home(names[number])]
            if number in colours or (wanting_home and home in colours.values()):
                continue
            colours[number] = home if wanting_home else _most_different(list(colours.values()))
    return [colours[number] for number in range(len(names))]


def _home(name: str) -> int:
    """The index in the palette of the colour that a meaning has where it can."""
    fitting = [(len(word), index) for index, words in enumerate(FAMILIES) for word in words if word in name]
    if fitting:
        return max(fitting)[1]  # the most telling word
    return zlib.crc32(name.split(",")[0].encode()) % (len(PALETTE) - 1)


def _most_different(used: Sequence[str]) -> str:
    """The free colour farthest from its nearest in use, in the eyes of those who see it worst."""
    every = [*PALETTE[:-1], *_FURTHER_COLOURS]
    free = [colour for colour in every[: len(PALETTE) - 1] if colour not in used]
    free = free or [colour for colour in every if colour not in used]
    if not free:
        return every[len(used) % len(every)]
    return max(free, key=lambda colour: min((colour_difference(colour, other) for other in used), default=0.0))


def colour_difference(one: str, other: str) -> float:
    """How different two colours are, as distance in CIELAB, for normal, red-, green- or blue-blind sight: the least."""
    pair = np.array([[int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)] for colour in (one, other)])
    linear = np.where(pair <= 0.04045, pair / 12.92, ((pair + 0.055) / 1.055) ** 2.4)
    return min(float(np.linalg.norm(np.diff(_lab(np.clip(linear @ seen.T, 0, 1)), axis=0))) for seen in _SIGHTS)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def relative_activations(activations: Sequence[float]) -> np.ndarray:
    """Activations of one graph divided by the largest absolute value, in [-1, 1]; zeros where all are 0."""
    values = np.asarray(activations, dtype=float)
    largest = np.abs(values).max(initial=0)
    return values / largest if largest > 0 else values


def activation_colours(activations: Sequence[float]) -> list[str]:
    """From white (0) to purple (for the class) or green (against it), relative to the graph's largest activation.

    >>> activation_colours([1.0, 0.0, -0.5])
    ['#8e3a97', '#ffffff', '#96bf9e']
    """
    colours = []
    for value in relative_activations(activations):
        end = FOR if value > 0 else AGAINST
        channels = (int(end[start : start + 2], 16) for start in (1, 3, 5))
        colours.append("#" + "".join(f"{round(255 + (channel - 255) * abs(value)):02x}" for channel in channels))
    return colours
