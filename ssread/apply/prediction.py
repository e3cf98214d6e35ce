"""``ssread predict``: what a model says about new graphs, how sure that is, and their structural positions."""

import math
import os
from functools import partial
from pathlib import Path
from typing import Any, overload

import pandas as pd
import pyarrow

from ssread.apply.checks import check_apart, check_coverage, check_ending
from ssread.apply.chunks import Rows
from ssread.apply.contribution_columns import contribution_columns
from ssread.apply.output_tables import OUTSIDE, RowsCallback, Written, table_of, with_progress, write_parts
from ssread.apply.prediction_columns import Evaluated, prediction_columns
from ssread.apply.streaming import Model, as_model, stream
from ssread.apply.trained_model import TrainedModel
from ssread.data.graphset import GraphSet

__all__ = ["predict", "prediction_table"]


@overload
def predict(
    model: Model,
    data: Any,
    out: None = None,
    *,
    coverage: float | None = None,
    contributions: bool = False,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> pd.DataFrame: ...


@overload
def predict(
    model: Model,
    data: Any,
    out: str | os.PathLike[str],
    *,
    coverage: float | None = None,
    contributions: bool = False,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> Written: ...


def predict(
    model: Model,
    data: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    coverage: float | None = None,
    contributions: bool = False,
    workers: int | None = None,
    device: str = "auto",
    progress: RowsCallback = None,
    on_error: str = "skip",
    **options: Any,
) -> pd.DataFrame | Written:
    """Predicts new graphs: a row for every row of the data, in the same order.

    The columns of a table of molecules come first; one that has the name of a column of ours gets " (input)" at its
    end. Ours are ``id`` and ``smiles`` of molecules, where the table has none of that name; those of the task;
    ``distance``, from the nearest of up to 1000 training graphs, 1 being usual among these; with SSRead ``position 0``,
    ..., the share of nodes in each structural position (of an ensemble the one that most members give a node), called
    by what the position means where the model knows that (``share(nitro group)``); ``outside``, where a graph has more
    nodes than every training graph; ``problem``, why a row has no prediction.

    - Of classes: ``class``, the most probable one; ``p(name)`` of each; ``uncertainty``, the entropy of these
      probabilities as a share of its maximum (0: certain, 1: a uniform guess); ``spread``; ``set``, the classes that
      hold the true one as often as ``coverage`` says, joined by "; ", empty where none is likely enough.
    - Of labels, for each: ``name``, 1 if its probability is above 0.5, else 0; ``p(name)``; ``spread(name)``;
      ``set(name)``, "0", "1", "0; 1" or empty.
    - Of numbers, for each: ``name``, in the unit of training; ``spread(name)``; ``low(name)`` and ``high(name)``, which
      hold the true number between them as often as ``coverage`` says.

    Probabilities are the mean over the members, calibrated if the model has a calibration. ``spread``, with several
    members, is the standard deviation of what each predicts, before calibration. ``distance`` needs a model that keeps
    training graphs. Where there were too few graphs to promise the coverage, a set has every value and an interval is
    infinite. A column whose name is taken ends in " (predicted)".

    Args:
        model: A trained model, or its folder.
        data: Anything :func:`ssread.data.load` takes, a ``GraphSet``, or a list of SMILES, NetworkX or PyG graphs.
            Files of molecules may be larger than the memory.
        out: A ``.csv`` or ``.parquet`` file to write instead of returning a table; written all or nothing. Rows
            without a prediction are listed in ``NAME.skipped.csv`` beside it.
        coverage: How often sets or intervals hold the truth, such as 0.9; ``None`` for no such columns.
        contributions: Whether to add what every position adds to the score of each class or label before the softmax or
            sigmoid, or to each number: ``contribution(position, output)``; with ``contribution(rest, output)`` they
            add up to the score (:class:`ssread.models.contributions.Contributions`).
        workers: Worker processes, by default one per core.
        device: ``cpu``, ``cuda``, where workers read rows and this process evaluates the model on the GPU, or ``auto``:
            the GPU, if there is one and more than a few thousand rows.
        progress: Callback, called with the number of rows done.
        on_error: ``"skip"``: a row that cannot be used has a ``problem`` instead of a prediction; ``"raise"``: it
            raises an error.
        options: Where to find things in the data: ``smiles`` and ``id`` columns of a file.
    """
    if out is not None:
        check_ending(Path(out))
        check_apart(data, out)
    if coverage is not None:
        model = as_model(model)
        check_coverage(coverage, calibrated=model.calibration is not None)
    make_table = partial(prediction_table, coverage=coverage, contributions=contributions)
    parts = with_progress(
        stream(model, data, make_table, workers, on_error, keep_columns=True, device=device, **options), progress
    )
    if out is not None:
        return write_parts(parts, Path(out))
    table = pyarrow.concat_tables(part.table for part in parts).to_pandas()
    return table.set_axis(data.index) if isinstance(data, pd.DataFrame) else table


def prediction_table(
    model: TrainedModel, rows: Rows, coverage: float | None = None, contributions: bool = False
) -> pyarrow.Table:
    """The predictions for the rows of a chunk."""
    columns = prediction_columns(model, Evaluated.of(model, rows.graphs), coverage)
    if contributions:
        columns |= contribution_columns(model, rows.graphs)
    outside = None if rows.graphs is None else _outside(model, rows.graphs)
    return table_of(rows, {**columns, OUTSIDE: (outside, pyarrow.string())})


def _outside(model: TrainedModel, graphs: GraphSet) -> list[str | None]:
    """In what each graph is unlike all training graphs, where it is and their sizes are known."""
    most = model.summary.get("data", {}).get("max_nodes", math.inf)
    return [
        f"{count} nodes, more than the {most} of the largest training graph" if count > most else None
        for count in graphs.node_counts.tolist()
    ]
