"""A trained model and the folder it is saved in: weights, description, card. No pickle anywhere."""

import copy
import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from ssread import kernels
from ssread.apply.calibration import Calibration
from ssread.apply.features import Features
from ssread.apply.model_card import model_card
from ssread.apply.model_folder import CARD, CONFIG, FORMAT, FORMAT_VERSION, WEIGHTS, position_names, read_config
from ssread.apply.reference import PREFIX, Reference
from ssread.common.files import new_folder
from ssread.common.plain_json import indented_json
from ssread.common.versions import versions
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.models.consensus import consensus_of, match_members
from ssread.models.factory import make_model
from ssread.models.predictions import predictions

__all__ = ["TrainedModel"]

#: Graphs per batch; on a CPU so few that their messages fit into its cache.
BATCH, GPU_BATCH = 64, 1024

#: The most nodes of a batch on a GPU, if it has more than one graph; that takes a few gigabytes of its memory.
GPU_NODES = 500_000

#: The largest number of training graphs that decide which positions of the members correspond.
MATCHED_BY = 2000


@dataclass(eq=False)
class TrainedModel:
    """One model, or an ensemble of equal shapes, with everything needed to use it on new graphs.

    Attributes:
        models: The members, in evaluation mode.
        output_names: The name of each class, label or number, in the order of the predictions.
        features: The features of the graphs.
        summary: Plain data about the training: ``data``, ``settings``, ``cross_validation``, ``curves``, ``versions``;
            of an ensemble ``matching``, see :meth:`match_members`.
        task: What it predicts: see :data:`ssread.data.task_names.TASKS`.
        calibration: What corrects its probabilities and says how often they are right; ``None`` if nothing is known.
        reference: Training graphs to measure the distance of new graphs from; ``None`` if none are kept.
    """

    models: list[GraphClassifier]
    output_names: list[str]
    features: Features
    summary: dict[str, Any] = field(default_factory=dict)
    task: str = CLASSIFICATION
    calibration: Calibration | None = None
    reference: Reference | None = None

    def __post_init__(self) -> None:
        for model in self.models:
            model.eval().requires_grad_(False)

    def read(self, data: Any, **options: Any) -> GraphSet:
        """Reads graphs with features exactly as in training.

        A category (an element, a node label) that does not occur in the new graphs becomes a column of zeros, as it was
        for training graphs without it. An unknown category, or any other difference, raises an error that names it.

        Args:
            data: A ``GraphSet``; anything :func:`ssread.data.load` takes; or a list of SMILES, NetworkX or PyG graphs.
            options: Where to find things in the data: ``smiles``, ``id``, ``label``, ``on_error``, ... of the reader.
        """
        source = str(data) if isinstance(data, str | os.PathLike) else ""
        return self.features.arrange(self.features.load(data, **options), source)

    @property
    def device(self) -> torch.device:
        """Where the members are."""
        return next(self.models[0].parameters()).device

    def on(self, device: str | torch.device) -> "TrainedModel":
        """Returns the same model on a device; itself if it is there."""
        device = torch.device(device)
        if self.device.type == device.type and device.index in (None, self.device.index):
            return self
        return replace(self, models=[copy.deepcopy(model).to(device) for model in self.models])

    def run(self, graphs: GraphSet) -> Iterator[tuple[Tensor, list[Any]]]:
        """Yields batches of the graphs that :meth:`read` returned: their numbers, and every member's ``Output``."""
        device = self.device
        for ids in _batches(graphs, *((BATCH, math.inf) if device.type == "cpu" else (GPU_BATCH, GPU_NODES))):
            batch = graphs.batch(ids).to(device)
            with torch.inference_mode():
                try:
                    outputs = [model.run(batch) for model in self.models]
                except Exception as error:  # no compiler for the fused kernels: plain torch code does their work
                    if not kernels.give_up(error):
                        raise
                    outputs = [model.run(batch) for model in self.models]
            yield ids, outputs

    def predictions(self, graphs: GraphSet) -> Tensor:
        """Predictions for the graphs that :meth:`read` returned: the mean over the members, calibrated.

        Probabilities of the classes, [n, C], or of the labels, [n, T], or numbers, [n, T].
        """
        return torch.cat([self.together(self.of_members(outputs)).cpu() for _, outputs in self.run(graphs)])

    def of_members(self, outputs: Sequence[Any]) -> Tensor:
        """Every member's predictions, [members, n, outputs], from the outputs that :meth:`run` yields."""
        return torch.stack([predictions(self.task, output.logits) for output in outputs])

    def together(self, of_members: Tensor) -> Tensor:
        """The predictions of all members together, [n, outputs], from what :meth:`of_members` returned."""
        mean = of_members.mean(dim=0)
        return mean if self.calibration is None else self.calibration.calibrated(mean)

    def match_members(self, graphs: GraphSet) -> None:
        """Finds out which positions of the members correspond, by the positions of the nodes of the training graphs.

        Of more than :data:`MATCHED_BY` graphs, a random sample decides.
        """
        if len(self.models) < 2 or not self.num_positions:
            return
        order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:MATCHED_BY]
        found = [[o.node_positions().cpu() for o in outputs] for _, outputs in self.run(graphs[order.sort().values])]
        if found:
            members = [torch.cat(parts) for parts in zip(*found, strict=True)]
            self.summary["matching"] = match_members(members, self.num_positions).tolist()

    @property
    def matching(self) -> Tensor | None:
        """For every member, the common number of each of its positions, [M, K]; None for an ensemble where that is not
        known, and with the global readout."""
        if len(self.models) == 1:
            return torch.arange(self.num_positions).unsqueeze(0) if self.num_positions else None
        stored = self.summary.get("matching")
        return None if stored is None else torch.tensor(stored)

    def node_positions(self, outputs: Sequence[Any]) -> Tensor:
        """The structural position of every node, [N], from the outputs that :meth:`run` yields; -1 for a dropped node.

        Of an ensemble it is the one that most members give the node (:func:`ssread.models.consensus.agreed`), or that
        of the first member if it is not known which positions of the members correspond.
        """
        return consensus_of([output.node_positions() for output in outputs], self.matching, self.num_positions)

    @property
    def num_positions(self) -> int:
        """The number of structural positions K; 0 with the global readout."""
        return getattr(self.models[0].readout, "num_positions", 0)

    @property
    def position_names(self) -> list[str]:
        """The name of each structural position: what it means, or ``position 0``; empty with the global readout."""
        return position_names(self.summary, self.num_positions)

    def save(self, folder: str | os.PathLike[str], files: Mapping[str, str] | None = None) -> None:
        """Writes the model into a new folder, all or nothing, with further text ``files`` by name."""
        weights = {
            f"{number}.{name}": value.detach().cpu().contiguous()
            for number, model in enumerate(self.models)
            for name, value in model.state_dict().items()
        }
        if self.reference is not None:
            weights |= self.reference.tensors()
        if self.models[0].hyperparameters is None:
            raise InputError(
                "Only a model made by ssread.models.make_model can be saved; this one was built from modules."
            )
        config = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "model": self.models[0].hyperparameters,
            "members": len(self.models),
            "task": self.task,
            "output_names": self.output_names,
            "features": self.features.as_dict(),
            "reference": None if self.reference is None else self.reference.texts(),
            "calibration": None if self.calibration is None else self.calibration.as_dict(),
            "summary": self.summary,
            "written_with": versions(),
        }
        with new_folder(Path(folder)) as new:
            save_file(weights, new / WEIGHTS)
            config["weights_sha256"] = _sha256(new / WEIGHTS)
            try:
                text = indented_json(config)
            except TypeError as error:
                raise InputError(f"The summary of the model is not plain data ({error}); nothing was saved.") from None
            (new / CONFIG).write_text(text, encoding="utf-8")
            (new / CARD).write_text(model_card(config), encoding="utf-8")
            for name, text in (files or {}).items():
                (new / name).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "TrainedModel":
        """Reads a folder that :meth:`save` wrote, after checking its version, checksum and shapes."""
        folder = Path(folder)
        config = read_config(folder)
        path = folder / WEIGHTS
        if not path.is_file():
            raise InputError(f"{folder} has no {WEIGHTS}: the model is incomplete.")
        try:
            digest = _sha256(path)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
        if digest != config.get("weights_sha256"):
            raise InputError(f"{path} does not match the checksum in {CONFIG}: copy the model again.")
        try:
            features = Features.from_dict(config["features"])
            task = config.get("task", CLASSIFICATION)
            names = config["output_names" if "output_names" in config else "class_names"]
            shapes = {name: shape for name, shape in _shapes(path).items() if not name.startswith(PREFIX)}
            members, arguments = config["members"], {"normalize": False, **config["model"]}  # earlier: not asked
            _check_shapes(shapes, arguments, members)
            counts = arguments["num_classes"], arguments["in_channels"], arguments.get("graph_channels", 0)
            if counts != (len(names), features.node.count, features.graph.count):
                raise ValueError("the names of its outputs or its features do not match its weights")
            with torch.random.fork_rng(devices=[]):  # the initial weights are replaced
                models = [make_model(**arguments) for _ in range(members)]
            tensors = load_file(path)
            for number, model in enumerate(models):
                weights = {name: tensors[f"{number}.{name}"] for name in model.state_dict()}
                if not all(bool(value.isfinite().all()) for value in weights.values()):
                    raise ValueError("some weights are not finite")
                model.load_state_dict(weights)
            summary = config["summary"]
            _check_matching(summary.get("matching"), members, arguments.get("num_positions"))
            calibration = config.get("calibration")
            if calibration is not None:
                calibration = Calibration.from_dict(calibration, task, len(names))
            kept = {name: value for name, value in tensors.items() if name.startswith(PREFIX)}
            width, texts = models[0].readout.out_channels, config.get("reference")
            reference = Reference.from_tensors(kept, width, texts) if kept else None
        except (OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise InputError(f"{folder} cannot be used as a model: {_reason(error)}.") from None
        return cls(models, names, features, summary, task, calibration, reference)

    def __repr__(self) -> str:
        arguments = self.models[0].hyperparameters or {}
        members = f", {len(self.models)} members" if len(self.models) > 1 else ""
        readout = f"{arguments.get('readout')} readout"
        what = "classes" if self.task == CLASSIFICATION else self.task
        return f"TrainedModel({arguments.get('name')}, {readout}{members}, {what} {', '.join(self.output_names)})"


def _batches(graphs: GraphSet, most_graphs: int, most_nodes: float) -> Iterator[Tensor]:
    """Yields the numbers of consecutive graphs, at most so many, and of no more nodes if they are several."""
    for ids in torch.arange(len(graphs)).split(most_graphs):
        total = graphs.node_counts.cpu()[ids].cumsum(dim=0)
        while len(ids) and int(total[-1]) > most_nodes:
            fitting = max(1, int((total <= most_nodes).sum()))
            yield ids[:fitting]
            ids, total = ids[fitting:], total[fitting:] - total[fitting - 1]
        yield ids


def _shapes(path: Path) -> dict[str, list[int]]:
    with safe_open(path, "pt") as file:
        return {name: list(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a mapping


def _check_shapes(shapes: dict[str, list[int]], arguments: dict[str, Any], members: int) -> None:
    """Raises a ``ValueError`` unless the weights fit the described model, which is built without taking memory."""
    layers = arguments.get("num_layers") or 1
    if members > len(shapes) or layers > len(shapes):
        raise ValueError(f"{len(shapes)} tensors cannot be {members} models of {layers} layers")
    with torch.device("meta"):
        needed = {name: list(value.shape) for name, value in make_model(**arguments).state_dict().items()}
    expected = {f"{number}.{name}": shape for number in range(members) for name, shape in needed.items()}
    for name in sorted(expected.keys() | shapes.keys()):
        if expected.get(name) != shapes.get(name):
            raise ValueError(f"the weight {name!r} has the shape {shapes.get(name)}, expected {expected.get(name)}")


def _check_matching(matching: Any, members: int, num_positions: int | None) -> None:
    """Raises a ``ValueError`` unless the positions of every member are numbered once each, or nothing is known."""
    if matching is None:
        return
    if len(matching) != members or any(sorted(row) != list(range(num_positions or 0)) for row in matching):
        raise ValueError("the matching of its members' positions does not fit them")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _reason(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0][:300].rstrip(".")
    return f"{type(error).__name__}: {text}" if isinstance(error, LookupError | TypeError | AttributeError) else text
