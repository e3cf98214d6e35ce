"""Figure 6: class activation of test molecules, with SSRead and with the global readout."""

from pathlib import Path

import torch

from ssread.draw import Panel, activation_colours, draw_panels, drawings
from ssread.draw.palette import AGAINST, FOR
from ssread.explain import activation, predictions
from ssread.paper.mutag_figure import MEMBERS, POSITIONS, MutagFigure, MutagModels

__all__ = ["FIGURE_6"]

PER_CLASS = 2
CONFIDENT = 0.9  # as in the paper


def _draw(models: MutagModels, stem: Path) -> tuple[list[Path], str]:
    """Draws the test molecules that both models classify correctly with the most confidence, a row per readout."""
    test = models.graphs[models.fold.test]
    assert test.y is not None
    readouts = {
        "SSRead": models.ensemble(name="gcn", readout="ssread", num_positions=POSITIONS),
        "GRead": models.ensemble(name="gcn", readout="global"),
    }
    by_model = torch.stack(
        [torch.stack([predictions(member, test) for member in model.models]).mean(dim=0) for model in readouts.values()]
    )
    of_own_class = by_model.gather(2, test.y.expand(2, -1).unsqueeze(2)).squeeze(2)
    confidence = of_own_class.amin(dim=0)
    chosen: list[int] = []
    for number in range(test.num_classes):
        members = (test.y == number).nonzero().squeeze(1)
        chosen += members[confidence[members].argsort(descending=True, stable=True)[:PER_CLASS]].tolist()
    shown = test[chosen]
    assert shown.y is not None
    rows = []
    for name, model in readouts.items():
        parts = activation(model, shown, shown.y).split(shown.node_counts.tolist())
        titles = [f"{name}, class {shown.class_names[y]}" for y in shown.y.tolist()]
        node_colours = [activation_colours(part.tolist()) for part in parts]
        rows.append([Panel(*panel) for panel in zip(drawings(shown), node_colours, titles, strict=True)])
    files = draw_panels(rows, stem, {"for the class": FOR, "against it": AGAINST})
    confident = int((confidence[chosen] > CONFIDENT).sum())
    caption = (
        f"The {PER_CLASS} test molecules of each class (seed 0, fold 0) for which the lower of both models' "
        f"probabilities of the right class is highest; for {confident} of these {len(chosen)} it is above "
        f"{CONFIDENT:.0%}, as the paper requires. Each readout is an ensemble of {MEMBERS} trainings; colours are what "
        "atoms add to the mean score of the molecule's own class, relative to the largest."
    )
    return files, caption


FIGURE_6 = MutagFigure("figure6", _draw)
