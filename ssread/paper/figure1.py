"""Figure 1: graphs in the space of node vectors, by t-SNE, coloured by structural position."""

from pathlib import Path

from ssread.paper.mutag_models import POSITIONS, is_there, model_of, mutag, page_text
from ssread.paper.registry import Context, Progress
from ssread.report.figures import draw_map

__all__ = ["progress", "run"]

NAME = "figure1"


def progress(context: Context) -> Progress:
    """Whether it has been drawn."""
    return is_there(context, NAME)


def run(context: Context) -> list[Path]:
    """Trains GCN + SSRead(sum) on MUTAG and draws node vectors and prototypes."""
    if not context.train:
        return []
    graphs, _ = mutag()
    model = model_of(context, graphs, name="gcn", readout="ssread", num_positions=POSITIONS)
    text = (
        f"Vectors of 1,000 nodes of {graphs.name} by t-SNE (cosine distance, seed 0), coloured by the position that "
        f"SSRead (K = {POSITIONS}, sum, GCN, seed 0, fold 0) gives them; diamonds are the prototypes."
    )
    return [*draw_map(model, graphs, context.folder(NAME) / NAME), page_text(context, NAME, text)]
