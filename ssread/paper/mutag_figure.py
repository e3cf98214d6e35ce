"""Figures 1, 5 and 6: pictures of models that are trained on MUTAG with the first seed and fold."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssread.common.files import write_text
from ssread.data.load import load
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.runners import local_device
from ssread.explain.retrain import trained_model
from ssread.models import GraphClassifier
from ssread.paper.registry import Context, Progress, heading
from ssread.train.fit import fold_of_run
from ssread.train.runs import Run

__all__ = ["POSITIONS", "MutagFigure", "MutagModels"]

#: Section V-C shows MUTAG with four positions.
DATASET, POSITIONS = "MUTAG", 4
FOLDS = 10


class MutagModels:
    """MUTAG, its first fold, and models trained on that fold under the protocol's settings.

    Attributes:
        graphs: The dataset.
        fold: Its parts for seed 0 and fold 0.
    """

    def __init__(self, context: Context):
        self.graphs = load(DATASET)
        self.fold = fold_of_run(self.graphs, Run({}, 0, 0, FOLDS))
        self._device = local_device(context.runner)
        self._experiment = Experiment.of(context.settings)

    def train(self, **model: Any) -> GraphClassifier:
        """Trains a model with these arguments, and otherwise as the recipe says; without choosing a dropout."""
        first = self._experiment.dropouts()[0]
        run = Run({**first.model_of(model["name"]), **model}, 0, 0, FOLDS)
        return trained_model(self.graphs, run, first.training, self._device)[0]


@dataclass(frozen=True)
class MutagFigure:
    """A figure of models trained on MUTAG.

    Attributes:
        name: Its name in the registry.
        draw: Called with the models and the path of the picture without ending; returns the files and a caption.
    """

    name: str
    draw: Callable[[MutagModels, Path], tuple[list[Path], str]]

    def progress(self, context: Context) -> Progress:
        """Whether the figure has been drawn."""
        return Progress(int((context.folder_of(self.name) / f"{self.name}.svg").is_file()), 1, "pictures")

    def run(self, context: Context) -> list[Path]:
        """Trains the models and draws them."""
        if not context.train:
            return []
        folder = context.folder(self.name)
        files, caption = self.draw(MutagModels(context), folder / self.name)
        page = f"## {heading(self.name)}\n\n![{self.name}]({self.name}.svg)\n\n{caption}\n"
        return [*files, write_text(folder / f"{self.name}.md", page)]
