"""Figures 1, 5 and 6: pictures of models that are trained on MUTAG with the first seed and fold."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssread.common.files import write_text
from ssread.data.load import load
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.runners import local_device
from ssread.explain.retrain import trained_models
from ssread.models import GraphClassifier
from ssread.paper.registry import Context, Progress, heading
from ssread.train.fit import fold_of_run
from ssread.train.runs import Run

__all__ = ["MEMBERS", "POSITIONS", "Ensemble", "MutagFigure", "MutagModels"]

#: Section V-C shows MUTAG with four positions.
DATASET, POSITIONS = "MUTAG", 4
FOLDS = 10

#: The members of an ensemble.
MEMBERS = 5


@dataclass(frozen=True)
class Ensemble:
    """Models that are explained together."""

    models: list[GraphClassifier]


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
        return self.ensemble(1, **model).models[0]

    def ensemble(self, size: int = MEMBERS, **model: Any) -> Ensemble:
        """Trains several models like :meth:`train`, on the same fold, with seeds from 0."""
        first = self._experiment.dropouts()[0]
        runs = [Run({**first.model_of(model["name"]), **model}, seed, 0, FOLDS) for seed in range(size)]
        trained = trained_models(self.graphs, runs, first.training, self._device, self.fold)
        return Ensemble([member for member, _ in trained])


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
