"""Pictures of graphs: coordinates of nodes, colours, and files for papers."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.draw.drawing import Drawing
    from ssread.draw.geometry import drawings
    from ssread.draw.molecule_drawing import draw_molecule
    from ssread.draw.palette import activation_colours, meaning_colours, position_colours
    from ssread.draw.panels import Panel, draw_panels, graph_svg

__all__ = [
    "Drawing",
    "Panel",
    "activation_colours",
    "draw_molecule",
    "draw_panels",
    "drawings",
    "graph_svg",
    "meaning_colours",
    "position_colours",
]

lazy_exports(
    __name__,
    {
        "drawing": ["Drawing"],
        "geometry": ["drawings"],
        "molecule_drawing": ["draw_molecule"],
        "palette": ["activation_colours", "meaning_colours", "position_colours"],
        "panels": ["Panel", "draw_panels", "graph_svg"],
    },
)
