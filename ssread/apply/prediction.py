"""``ssread predict``: classes, probabilities, uncertainty and structural positions of new graphs."""

import math
import os
from pathlib import Path
from typing import Any, overload

import numpy as np
import pandas as pd
import pyarrow
import torch
from torch import Tensor

from ssread import segment
from ssread.apply.chunks import Rows
from ssread.apply.output_tables import RowsCallback, Written, table_of, with_progress, write_tables
from ssread.apply.streaming import Model, stream
from ssread.apply.trained_model import TrainedModel
from ssread.readout import SSRead

__all__ = ["predict", "prediction_table"]


@overload
def predict(
    model: Model,
    data: Any,
    out: None = None,
    *,
    workers: int | None = None,
    progress: RowsCallback = None,
    **options: Any,
) -> pd.DataFrame: ...


@overload
def predict(
    model: Model,
    data: Any,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    progress: RowsCallback = None,
    **options: Any,
) -> Written: ...


def predict(
    model: Model,
    data: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    progress: RowsCallback = None,
    **options: Any,
) -> pd.DataFrame | Written:
    """Predicts new graphs: a row for every row of the data, in the same order.

    Columns: ``id``; ``smiles`` of molecules; ``class``, the most probable one; ``p(name)`` of every class, the mean
    over the members; ``uncertainty``, the entropy of these probabilities as a share of its maximum (0: certain, 1: a
    uniform guess); with several members ``spread``, the standard deviation of their probabilities of that class; with
    SSRead ``position 0``, ..., the share of nodes in each structural position (of the first member: positions of
    different members do not correspond); ``problem``, why a row has no prediction.

    Args:
        model: A trained model, or its folder.
        data: Anything :func:`ssread.data.load` takes, a ``GraphSet``, or a list of SMILES, NetworkX or PyG graphs.
            Files of molecules may be larger than the memory.
        out: A ``.csv`` or ``.parquet`` file to write instead of returning a table; written all or nothing.
        workers: Worker processes, by default one per core.
        progress: Callback, called with the number of rows done.
        options: Where to find things in the data: ``smiles`` and ``id`` columns of a file.
    """
    tables = with_progress(stream(model, data, prediction_table, workers, **options), progress)
    if out is not None:
        return write_tables(tables, Path(out))
    return pyarrow.concat_tables(tables).to_pandas()


def prediction_table(model: TrainedModel, rows: Rows) -> pyarrow.Table:
    """The predictions for the rows of a chunk."""
    columns: dict[str, np.ndarray] = {}
    if rows.graphs is not None:
        parts = [_predictions(model, outputs) for _, outputs in model.run(rows.graphs)]
        columns = {name: torch.cat([part[name] for part in parts]).cpu().numpy() for name in parts[0]}
    names = _column_names(model)
    chosen = columns.pop("class", None)
    classes = None if chosen is None else np.array(model.output_names, dtype=object)[chosen]
    arrays = {"class": (classes, pyarrow.string())}
    arrays |= {name: (columns.get(name), pyarrow.float32()) for name in names}
    return table_of(rows, arrays)


def _column_names(model: TrainedModel) -> list[str]:
    names = [f"p({name})" for name in model.output_names] + ["uncertainty"]
    if len(model.models) > 1:
        names.append("spread")
    readout = model.models[0].readout
    if isinstance(readout, SSRead):
        names += [f"position {number}" for number in range(readout.num_positions)]
    return names


def _predictions(model: TrainedModel, outputs: list[Any]) -> dict[str, Tensor]:
    """The columns of one batch, from the output of every member."""
    every = torch.stack([output.logits.softmax(-1) for output in outputs])
    mean = every.mean(dim=0)
    chosen = mean.argmax(dim=-1)
    entropy = -torch.special.xlogy(mean, mean).sum(dim=-1)
    columns = {"class": chosen, "uncertainty": entropy / math.log(max(mean.size(-1), 2))}
    columns |= {f"p({name})": mean[:, number] for number, name in enumerate(model.output_names)}
    if len(outputs) > 1:
        columns["spread"] = every.gather(2, chosen.expand(len(outputs), -1).unsqueeze(-1)).squeeze(-1).std(dim=0)
    readout = model.models[0].readout
    if isinstance(readout, SSRead):
        shares = _position_shares(outputs[0], readout.num_positions)
        columns |= {f"position {number}": shares[:, number] for number in range(readout.num_positions)}
    return columns


def _position_shares(output: Any, num_positions: int) -> Tensor:
    """The share of every graph's rows in each position, [B, K]; zeros for a graph without nodes."""
    num_graphs = output.logits.size(0)
    pair = output.encoding.batch * num_positions + output.reading.positions
    counts = segment.count(pair, (num_graphs + 1) * num_positions).view(-1, num_positions)[:num_graphs]
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
