"""Pictures of graphs: coordinates of nodes, colours, and files for papers."""

from ssread.draw.geometry import Drawing, drawings
from ssread.draw.palette import activation_colours, position_colours
from ssread.draw.panels import Panel, draw_panels, graph_svg

__all__ = ["Drawing", "Panel", "activation_colours", "draw_panels", "drawings", "graph_svg", "position_colours"]
