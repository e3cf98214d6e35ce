"""Figure 6: class activation of test molecules, with SSRead and with the global readout."""

from pathlib import Path

import torch

from ssread.draw import Panel, activation_colours, draw_panels, drawings
from ssread.draw.palette import AGAINST, FOR
from ssread.explain import activation, probabilities
from ssread.paper.mutag_models import POSITIONS, is_there, model_of, mutag, page_text
from ssread.paper.registry import Context, Progress

__all__ = ["progress", "run"]

NAME = "figure6"
PER_CLASS = 2
SURE = 0.9  # as in the paper


def progress(context: Context) -> Progress:
    """Whether it has been drawn."""
    return is_there(context, NAME)


def run(context: Context) -> list[Path]:
    """Trains both readouts on MUTAG and draws test molecules that both classify rightly and surely."""
    if not context.train:
        return []
    graphs, fold = mutag()
    test = graphs[fold.test]
    assert test.y is not None
    models = {
        "SSRead": model_of(context, graphs, name="gcn", readout="ssread", num_positions=POSITIONS),
        "GRead": model_of(context, graphs, name="gcn", readout="global"),
    }
    told = torch.stack([probabilities(model, test) for model in models.values()])
    least = told.gather(2, test.y.expand(2, -1).unsqueeze(2)).squeeze(2).amin(dim=0)  # of the right class, by either
    chosen: list[int] = []
    for number in range(test.num_classes):
        members = (test.y == number).nonzero().squeeze(1)
        chosen += members[least[members].argsort(descending=True, stable=True)[:PER_CLASS]].tolist()
    few = test[chosen]
    assert few.y is not None
    rows = []
    for name, model in models.items():
        parts = activation(model, few, few.y).split(few.node_counts.tolist())
        titles = [f"{name}, class {few.class_names[y]}" for y in few.y.tolist()]
        painted = [activation_colours(part.tolist()) for part in parts]
        rows.append([Panel(*panel) for panel in zip(drawings(few), painted, titles, strict=True)])
    files = draw_panels(rows, context.folder(NAME) / NAME, {"for the class": FOR, "against it": AGAINST})
    sure = int((least[chosen] > SURE).sum())
    text = (
        f"Of each class, the {PER_CLASS} test molecules (seed 0, fold 0) of which the less sure of both models is "
        f"surest; of {sure} of these {len(chosen)} both give the right class more than {SURE:.0%}, as the paper asks. "
        "Colours are activations for the molecule's own class, relative to its largest."
    )
    return [*files, page_text(context, NAME, text)]
