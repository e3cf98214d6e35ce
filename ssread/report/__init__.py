"""The report: verdict, learning curves, the meaning of positions and all graphs, on one page that needs no network."""

from ssread.report.curves import summarize_curves
from ssread.report.explained_graphs import ExplainedGraphs, explain_graphs
from ssread.report.graph_records import graph_records
from ssread.report.page import drawing_assets, render_page, write_page

__all__ = [
    "ExplainedGraphs",
    "drawing_assets",
    "explain_graphs",
    "graph_records",
    "render_page",
    "summarize_curves",
    "write_page",
]
