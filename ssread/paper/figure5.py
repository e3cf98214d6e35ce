"""Figure 5: the same molecules divided by SSRead's positions, by spectral clustering, by TopKPool and by DiffPool."""

from pathlib import Path

import torch

from ssread.draw import Panel, draw_panels, drawings, position_colours
from ssread.draw.palette import faded
from ssread.explain import consensus, diffpool_clusters, poolings_survived, spectral_clusters
from ssread.paper.mutag_figure import MEMBERS, POSITIONS, MutagFigure, MutagModels

__all__ = ["FIGURE_5"]

MOLECULES, LEAST_NODES = 3, 16


def _draw(models: MutagModels, stem: Path) -> tuple[list[Path], str]:
    """Draws three molecules of the test part, a column per division."""
    graphs, test = models.graphs, models.fold.test
    large = test[graphs.node_counts[test] >= LEAST_NODES]
    shown = graphs[large[:MOLECULES]]
    ssread = models.ensemble(name="gcn", readout="ssread", num_positions=POSITIONS)
    agreed = consensus(ssread, graphs)
    assert agreed.stability is not None
    ours = consensus(ssread, shown, agreed.matching)
    topk = models.train(name="gunet", readout="global")
    diffpool = models.train(name="diffpool", readout="global", num_clusters=POSITIONS)
    divisions = {
        "SSRead": ours.position,
        "EigenPool (spectral)": spectral_clusters(shown, POSITIONS),
        "TopKPool": poolings_survived(topk, shown),
        "DiffPool": diffpool_clusters(diffpool, shown),
    }
    colours = position_colours(POSITIONS)
    columns = []
    for name, division in divisions.items():
        parts = division.split(shown.node_counts.tolist())
        sure = ours.certainty if name == "SSRead" else torch.ones(len(division))
        certain = sure.split(shown.node_counts.tolist())
        node_colours = [
            [faded(colours[k], share) for k, share in zip(part.tolist(), shares.tolist(), strict=True)]
            for part, shares in zip(parts, certain, strict=True)
        ]
        columns.append([Panel(*panel, name) for panel in zip(drawings(shown), node_colours, strict=True)])
    legend = {f"part {k}": colour for k, colour in enumerate(colours)}
    caption = (
        f"The first {MOLECULES} molecules of at least {LEAST_NODES} atoms in the test part (seed 0, fold 0). SSRead: "
        f"consensus positions (K = {POSITIONS}) of {MEMBERS} trainings with different weights and order; the fewer of "
        f"them agree, the paler the atom. Over all atoms {agreed.certainty.mean():.0%} of the trainings agree with the "
        f"consensus (adjusted mutual information of pairs: {agreed.stability.mutual_information:.2f}). EigenPool: "
        "spectral clusters, numbered within each molecule. TopKPool: how many "
        "of the three poolings keep a node. DiffPool: the largest cluster. All trained under the same settings."
    )
    return draw_panels(list(zip(*columns, strict=True)), stem, legend), caption


FIGURE_5 = MutagFigure("figure5", _draw)
