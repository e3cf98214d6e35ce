"""What figures 1, 5 and 6 share: models of MUTAG trained with the first seed and fold, and pictures of them."""

from pathlib import Path
from typing import Any

from ssread.common.files import write_text
from ssread.data.graphset import GraphSet
from ssread.data.load import load
from ssread.data.splits import Fold
from ssread.evaluate.runners import local_device
from ssread.explain.retrain import fold_of_run, trained_model
from ssread.models import GraphClassifier
from ssread.paper.registry import Context, Progress, heading
from ssread.train.runs import Run, Training

__all__ = ["DATASET", "POSITIONS", "is_there", "model_of", "mutag", "page_text"]

#: Section V-C shows MUTAG with four positions.
DATASET, POSITIONS = "MUTAG", 4
FOLDS = 10


def is_there(context: Context, name: str) -> Progress:
    """Whether a picture has been drawn."""
    return Progress(int((context.folder(name) / f"{name}.svg").is_file()), 1, "pictures")


def mutag() -> tuple[GraphSet, Fold]:
    """The graphs, and the parts of them that every model here is trained and shown on."""
    graphs = load(DATASET)
    return graphs, fold_of_run(graphs, Run({}, 0, 0, FOLDS))


def model_of(context: Context, graphs: GraphSet, **model: Any) -> GraphClassifier:
    """A model trained under the protocol's settings with seed 0, fold 0."""
    known = {name: context.settings[name] for name in ("epochs",) if name in context.settings}
    device = local_device(context.runner)
    return trained_model(graphs, Run(model, 0, 0, FOLDS), Training(**known), device)[0]


def page_text(context: Context, name: str, text: str) -> Path:
    """Writes what stands under a picture."""
    page = f"## {heading(name)}\n\n![{name}]({name}.svg)\n\n{text}\n"
    return write_text(context.folder(name) / f"{name}.md", page)
