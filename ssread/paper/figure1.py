"""Figure 1: t-SNE of node vectors, coloured by structural position."""

from pathlib import Path

from ssread.paper.mutag_figure import POSITIONS, MutagFigure, MutagModels
from ssread.report.figures import draw_map

__all__ = ["FIGURE_1"]


def _draw(models: MutagModels, stem: Path) -> tuple[list[Path], str]:
    """Draws the node vectors and prototypes of GCN + SSRead(sum)."""
    graphs = models.graphs
    model = models.train(name="gcn", readout="ssread", num_positions=POSITIONS)
    caption = (
        f"Vectors of 1,000 nodes of {graphs.name} by t-SNE (cosine distance, seed 0), coloured by their position in "
        f"SSRead (K = {POSITIONS}, sum, GCN, seed 0, fold 0); diamonds are the prototypes."
    )
    return draw_map(model, graphs, stem), caption


FIGURE_1 = MutagFigure("figure1", _draw)
