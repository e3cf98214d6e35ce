"""Figure 5: the same molecules divided by SSRead's positions, by spectral clustering, by TopKPool and by DiffPool."""

from pathlib import Path

from ssread.draw import Panel, draw_panels, drawings, position_colours
from ssread.explain import diffpool_clusters, poolings_survived, positions, spectral_clusters
from ssread.paper.mutag_models import POSITIONS, is_there, model_of, mutag, page_text
from ssread.paper.registry import Context, Progress

__all__ = ["progress", "run"]

NAME = "figure5"
MOLECULES, LEAST_NODES = 3, 16


def progress(context: Context) -> Progress:
    """Whether it has been drawn."""
    return is_there(context, NAME)


def run(context: Context) -> list[Path]:
    """Trains the three models on MUTAG and draws three molecules of the test part."""
    if not context.train:
        return []
    graphs, fold = mutag()
    large = fold.test[graphs.node_counts[fold.test] >= LEAST_NODES]
    few = graphs[large[:MOLECULES]]
    ssread = model_of(context, graphs, name="gcn", readout="ssread", num_positions=POSITIONS)
    topk = model_of(context, graphs, name="gunet", readout="global")
    diffpool = model_of(context, graphs, name="diffpool", readout="global", num_clusters=POSITIONS)
    divisions = {
        "SSRead": positions(ssread, few).position,
        "EigenPool (spectral)": spectral_clusters(few, POSITIONS),
        "TopKPool": poolings_survived(topk, few),
        "DiffPool": diffpool_clusters(diffpool, few),
    }
    colours = position_colours(POSITIONS)
    columns = []
    for name, division in divisions.items():
        parts = division.split(few.node_counts.tolist())
        painted = [[colours[k] for k in part.tolist()] for part in parts]
        columns.append([Panel(plan, paint, name) for plan, paint in zip(drawings(few), painted, strict=True)])
    legend = {f"part {k}": colour for k, colour in enumerate(colours)}
    files = draw_panels(list(zip(*columns, strict=True)), context.folder(NAME) / NAME, legend)
    text = (
        f"The first {MOLECULES} molecules of at least {LEAST_NODES} atoms in the test part (seed 0, fold 0). SSRead: "
        f"positions (K = {POSITIONS}). EigenPool: spectral clusters, numbered within each molecule. TopKPool: how many "
        "of the three poolings keep a node. DiffPool: the largest cluster. All trained under the same settings."
    )
    return [*files, page_text(context, NAME, text)]
