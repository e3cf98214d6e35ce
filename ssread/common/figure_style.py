"""The style of the figures: colours that everybody can tell apart, and the same bytes for the same data."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssread.common.checking import shorten
from ssread.common.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "as_label", "drawing", "save"]

#: Okabe and Ito's palette, which people with any kind of colour vision can tell apart; black comes last.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")

STYLE: dict[str, Any] = {
    "text.parse_math": False,  # names from data may hold dollar signs
    "svg.hashsalt": "ssread",  # without it the ids in an SVG are random
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 150,
}


@contextmanager
def drawing(width: float = 6.4, height: float = 4.0) -> Iterator["Figure"]:
    """Yields a new figure of this size in inches, in the common style; needs no display."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {**mpl.rcParamsDefault, **STYLE, "backend": mpl.rcParams["backend"]}  # ignores the user's settings
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def as_label(text: str, most: int = 60) -> str:
    r"""Returns a text from data as one short line that every format can hold.

    >>> as_label("a\nb\0"), len(as_label("x" * 100_000))
    ('a b?', 59)
    """
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "?" for c in shorten(line, most))


def save(figure: "Figure", stem: Path, endings: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Writes ``stem.svg`` and ``stem.png`` atomically, without dates or versions; returns the paths.

    Call it within :func:`drawing`, because Matplotlib applies the style only when it saves.
    """
    files = []
    for ending in endings:
        metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[ending]
        path = stem.with_name(f"{stem.name}.{ending}")
        with replacing(path) as new:
            figure.savefig(new, format=ending, metadata=metadata)
        files.append(path)
    return files
