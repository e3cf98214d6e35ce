"""``ssread embed``: graph vectors of new graphs."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow
import torch

from ssread.apply.checks import VECTORS, check_apart, check_ending
from ssread.apply.chunks import Rows
from ssread.apply.output_tables import Part, RowsCallback, Written, table_of, with_progress, write_parts
from ssread.apply.streaming import Model, stream
from ssread.apply.trained_model import TrainedModel
from ssread.common.files import replacing
from ssread.data.graphset import GraphSet
from ssread.data.skipped import list_skipped

__all__ = ["embed", "embedding_table", "graph_vectors"]

Floats = npt.NDArray[np.float32]


@overload
def embed(
    model: Model,
    data: Any,
    out: None = None,
    *,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> Floats: ...


@overload
def embed(
    model: Model,
    data: Any,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> Written: ...


def embed(
    model: Model,
    data: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> Floats | Written:
    """Computes graph vectors of new graphs: a row for every row of the data, in the same order; NaN for unusable rows.

    With SSRead the vectors of position 0, position 1, ... are concatenated, and so are the vectors of several members.

    Args:
        model: A trained model, or its folder.
        data: As for :func:`ssread.apply.predict`, like ``workers``, ``device``, ``progress``, ``on_error`` and
            ``options``.
        out: A ``.parquet`` or ``.csv`` file (columns ``id``, ``v0``, ``v1``, ..., ``problem``) or a ``.npy`` file (the
            vectors alone) to write instead of returning an array; written all or nothing. Unusable rows are listed in
            ``NAME.skipped.csv`` beside it.
    """
    if out is not None:
        check_ending(Path(out), VECTORS)
        check_apart(data, out)
    parts = with_progress(stream(model, data, embedding_table, workers, on_error, device=device, **options), progress)
    if out is None:
        return np.concatenate([_matrix(part.table) for part in parts])
    path = Path(out)
    return _write_npy(parts, path) if path.suffix.lower() == ".npy" else write_parts(parts, path)


def embedding_table(model: TrainedModel, rows: Rows) -> pyarrow.Table:
    """The graph vectors of the rows of a chunk."""
    width = sum(member.readout.out_channels for member in model.models)
    vectors = None if rows.graphs is None else graph_vectors(model, rows.graphs)
    columns = {f"v{n}": (None if vectors is None else vectors[:, n], pyarrow.float32()) for n in range(width)}
    return table_of(rows, columns)


def graph_vectors(model: TrainedModel, graphs: GraphSet) -> Floats:
    """The vectors of graphs, those of the members one after another, [n, width]."""
    parts = [torch.cat([output.vectors for output in outputs], dim=1) for _, outputs in model.run(graphs)]
    return torch.cat(parts).cpu().numpy()


def _matrix(table: pyarrow.Table) -> Floats:
    """The vectors of a table, [rows, width]; NaN where there is none."""
    names = [name for name in table.column_names if name not in ("id", "smiles", "problem")]
    return np.stack([table.column(name).to_numpy().astype(np.float32) for name in names], axis=1)


def _write_npy(parts: Iterable[Part], path: Path) -> Written:
    """Writes one array row by row; the header is rewritten at the end, when the number of rows is known."""
    rows = 0
    with list_skipped(path) as skipped, replacing(path) as new, new.open("w+b") as file:
        width = 0
        for table, problems in parts:
            matrix = _matrix(table)
            if rows == 0:
                width = matrix.shape[1]
                _write_header(file, 0, width)
            file.write(np.ascontiguousarray(matrix).data)
            rows += len(matrix)
            skipped.add(problems)
        file.seek(0)
        _write_header(file, rows, width)
    return Written(path, rows, skipped, outside=0)


def _write_header(file: Any, rows: int, width: int) -> None:
    header = {"descr": np.dtype(np.float32).str, "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(file, header)
