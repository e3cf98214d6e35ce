"""``ssread export``: a trained model as one file that runs without ssread, its output checked against ours."""

import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.export import Dim

from ssread.apply.checks import export_path
from ssread.apply.streaming import Model, as_model
from ssread.apply.trained_model import TrainedModel
from ssread.common.files import replacing
from ssread.data.task_names import REGRESSION
from ssread.errors import InputError, missing_extra
from ssread.models.classifier import GraphClassifier

__all__ = ["Exportable", "example_inputs", "export"]

TOLERANCE = 1e-4

#: Nodes, edges and graphs of the batches that an exported file is checked with; it is traced with the first.
CHECKED_SIZES = ((12, 20, 4), (40, 90, 7), (3, 2, 2), (1, 0, 1))


class Exportable(nn.Module):
    """A trained model as a plain function of tensors.

    Inputs: ``x`` [N, F]; ``edge_index`` [2, E]; ``edge_attr`` [E, D] if the model was trained with edge features;
    ``batch`` [N], the graph of every node; ``graphs`` [B], the numbers 0, 1, ... (its length is the number of graphs);
    ``graph_attr`` [B, G] if the model was trained with features of whole graphs, NaN where one is not known.
    Outputs: ``probabilities`` [B, outputs] of classes or labels, or ``numbers`` [B, outputs], which is what
    :meth:`ssread.apply.TrainedModel.predictions` returns, calibration included; and ``positions`` [N], the
    structural position of every node, -1 for one that pooling dropped: of an ensemble the one that most members give it
    (:meth:`ssread.apply.TrainedModel.node_positions`).
    """

    def __init__(self, model: TrainedModel):
        super().__init__()
        self.members = nn.ModuleList(model.models)
        self.model = model
        self.output_names = ("numbers" if model.task == REGRESSION else "probabilities", "positions")

    def forward(self, x: Tensor, edge_index: Tensor, *rest: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        given = dict(zip(input_names(self.model)[2:], rest, strict=True))
        members = cast("list[GraphClassifier]", self.members)
        size = given.pop("graphs").numel()
        outputs = [member.run(x, edge_index, batch_size=size, **given) for member in members]
        return self.model.together(self.model.of_members(outputs)), self.model.node_positions(outputs)


def export(model: Model, format: str = "onnx", out: str | os.PathLike[str] | None = None) -> Path:
    """Writes a model as ONNX or as a torch.export program, for batches of any size; returns the file.

    The file is run with batches of several sizes first. If its output differs from ours, an error is raised and no file
    is left.

    Args:
        model: A trained model, or its folder.
        format: ``onnx``, or ``torch`` for ``torch.export`` (loaded with ``torch.export.load``).
        out: The file; by default next to the model's folder, with its name and the format's ending.
    """
    path = export_path(None if isinstance(model, TrainedModel) else model, format, out)
    trained = as_model(model)
    module = Exportable(trained).eval()
    with replacing(path) as new, _quiet(), _failures_as_sentences(trained, format):
        run = _write_onnx(trained, module, new) if format == "onnx" else _write_torch(trained, module, new)
        _check(trained, module, run)
    return path


def example_inputs(model: TrainedModel, nodes: int, edges: int, graphs: int, seed: int = 0) -> dict[str, Tensor]:
    """Inputs of an exported model: random graphs of these sizes; of several graphs the last is empty."""
    generator = torch.Generator().manual_seed(seed)
    batch = torch.arange(nodes) * max(graphs - 1, 1) // nodes
    source = torch.randint(nodes, (edges,), generator=generator)
    inputs = {
        "x": torch.randint(2, (nodes, model.features.node.count), generator=generator).float(),
        "edge_index": torch.stack([source, (source + 1) % nodes]),
        "edge_attr": torch.randint(2, (edges, model.features.edge.count), generator=generator).float(),
        "batch": batch,
        "graphs": torch.arange(graphs),
        "graph_attr": torch.randn(graphs, model.features.graph.count, generator=generator),
    }
    return {name: inputs[name] for name in input_names(model)}


def input_names(model: TrainedModel) -> list[str]:
    """The inputs of an exported model, in order."""
    edge, graph = model.features.edge.count > 0, model.features.graph.count > 0
    return ["x", "edge_index", *["edge_attr"] * edge, "batch", "graphs", *["graph_attr"] * graph]


def _shapes(inputs: dict[str, Tensor]) -> tuple[Any, ...]:
    nodes, edges, graphs = Dim("nodes"), Dim("edges"), Dim("graphs")
    dims: dict[str, Any] = {
        "x": {0: nodes},
        "edge_index": {1: edges},
        "edge_attr": {0: edges},
        "batch": {0: nodes},
        "graphs": {0: graphs},
        "graph_attr": {0: graphs},
    }
    x, edge_index, *rest = [dims[name] for name in inputs]
    return x, edge_index, tuple(rest)


#: Runs an exported file: from inputs by name to its outputs.
RunFile = Callable[[dict[str, Tensor]], list[Tensor]]


def _write_torch(model: TrainedModel, module: Exportable, path: Path) -> RunFile:
    content = io.BytesIO()  # torch aborts the whole process when it writes to a disk that is full
    torch.export.save(_program(model, module), content)
    path.write_bytes(content.getbuffer())
    with path.open("rb") as file:
        loaded = torch.export.load(file).module()
    return lambda inputs: list(loaded(*inputs.values()))


def _write_onnx(model: TrainedModel, module: Exportable, path: Path) -> RunFile:
    try:
        import onnxruntime
        import onnxscript  # noqa: F401 - torch's exporter needs it
    except ImportError as error:
        raise missing_extra((error.name or "onnx").split(".")[0], "export", "Exporting to ONNX") from error
    names = list(example_inputs(model, *CHECKED_SIZES[0]))
    program = _program(model, module)
    torch.onnx.export(
        program,
        (),
        path,
        dynamo=True,
        external_data=False,
        verbose=False,
        input_names=names,
        custom_translation_table={torch.ops.aten.sort.stable: _stable_sort},
        output_names=list(module.output_names),
    )
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def run(inputs: dict[str, Tensor]) -> list[Tensor]:
        found = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        return [torch.from_numpy(value) for value in found]

    return run


def _stable_sort(self: Any, stable: bool = True, dim: int = -1, descending: bool = False) -> Any:
    """Torch's stable sort, which torch's ONNX exporter lacks: TopK keeps equal values in order."""
    from onnxscript import opset18 as op

    size = op.Shape(self, start=dim, end=dim + 1 if dim != -1 else None)
    return op.TopK(self, size, axis=dim, largest=int(descending), sorted=1)


def _program(model: TrainedModel, module: Exportable) -> Any:
    inputs = example_inputs(model, *CHECKED_SIZES[0])
    return torch.export.export(module, tuple(inputs.values()), dynamic_shapes=_shapes(inputs))


def _check(model: TrainedModel, module: Exportable, run: RunFile) -> None:
    """Raises an ``InputError`` if the outputs of the file differ from ours, also for sizes it was not traced with."""
    for seed, sizes in enumerate(CHECKED_SIZES):
        inputs = example_inputs(model, *sizes, seed=seed)
        with torch.no_grad():
            expected = module(*inputs.values())
        for name, ours, theirs in zip(module.output_names, expected, run(inputs), strict=True):
            gap = _gap(ours.double(), theirs.double(), relative=name == "numbers")
            if not gap <= TOLERANCE:
                raise InputError(
                    f"The {name} of the exported model differ from ours by {gap:.2g} for {sizes[0]} nodes in "
                    f"{sizes[2]} graphs. Nothing was written."
                )


def _gap(ours: Tensor, theirs: Tensor, relative: bool) -> float:
    """The largest difference; of numbers, which have units, relative to the largest of each."""
    if ours.shape != theirs.shape:
        return float("inf")
    unit = ours.abs().amax(dim=0).clamp(min=1e-30) if relative else 1
    return float(((ours - theirs).abs() / unit).max())


@contextmanager
def _failures_as_sentences(model: TrainedModel, format: str) -> Iterator[None]:
    """Turns the errors of exporters and runtimes into sentences."""
    try:
        yield
    except (InputError, OSError):
        raise
    except Exception as error:  # they raise errors of all kinds
        name = (model.models[0].hyperparameters or {}).get("name")
        lines = [line.strip() for line in str(error).split("\n") if line.strip()]
        reason = next((line for line in lines if "Error" in line), lines[0] if lines else type(error).__name__)
        raise InputError(
            f"A {name} model cannot be exported to {format} for batches of any size: {reason[:200]}"
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the log messages and warnings of the exporters; their errors are still raised."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
