"""Draws the README's picture: molecules of MUTAG, every atom coloured by the structural position SSRead gave it.

    python docs/pictures.py [FILE]

Trains one GCN + SSRead(sum, K = 4) on all of MUTAG for 100 passes (seed 0) and draws six molecules. Nobody tells the
model what a position is: the prototypes learn from node vectors alone.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import torch
import torch.nn.functional as F
from torch_geometric.utils import to_networkx

from ssread.data import load
from ssread.models import model_for

COLOURS = ["#d1495b", "#2e86ab", "#edae49", "#66a182"]  # as in the paper's figure 5: four positions
MOLECULES = (0, 4, 9, 12, 30, 141)


def main(path: Path) -> None:
    """Trains, draws, writes the file."""
    torch.set_num_threads(1)  # the same picture on every run: two threads add up in another order
    torch.manual_seed(0)
    graphs = load("MUTAG")
    model = model_for(graphs, "gcn", num_positions=len(COLOURS))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    shuffle = torch.Generator().manual_seed(0)
    for _ in range(100):
        for batch in graphs.batches(64, generator=shuffle):
            output = model.run(batch)
            optimizer.zero_grad()
            (F.cross_entropy(output.logits, batch.y) + output.alignment_loss()).backward()
            optimizer.step()
    model.eval()
    figure, axes = plt.subplots(2, 3, figsize=(11, 7))
    for axis, number in zip(axes.flat, MOLECULES, strict=True):
        batch = graphs.batch([number])
        positions = model.run(batch).reading.positions.tolist()
        molecule = to_networkx(graphs[number], to_undirected=True)
        places = nx.kamada_kawai_layout(molecule)
        nx.draw_networkx_edges(molecule, places, ax=axis, width=2, edge_color="#9aa0a6")
        nx.draw_networkx_nodes(
            molecule, places, ax=axis, node_size=170, node_color=[COLOURS[k] for k in positions], edgecolors="white"
        )
        atoms = [graphs.node_feature_names[column].split("=")[-1] for column in batch.x.argmax(dim=1)]
        nx.draw_networkx_labels(molecule, places, dict(enumerate(atoms)), ax=axis, font_size=8, font_color="white")
        axis.margins(0.07)
        axis.set_axis_off()
        axis.set_aspect("equal")
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=c, label=f"position {k}") for k, c in enumerate(COLOURS)
    ]
    figure.legend(handles=handles, loc="lower center", ncols=len(COLOURS), frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, dpi=100)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images" / "positions.png")
