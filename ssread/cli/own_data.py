"""Your own data: train a model, predict, embed, export."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ssread.cli.app import app

DATA = Annotated[str, typer.Argument(help="A file of molecules, a folder of graphs, a TU name, a .safetensors set.")]
MODEL = Annotated[Path, typer.Argument(help="A directory that ssread train made.")]
SMILES = Annotated[str | None, typer.Option(help="Column of SMILES. (default: smiles)")]
ID = Annotated[str | None, typer.Option(help="Column that names the rows. (default: the number of the line)")]
WORKERS = Annotated[int | None, typer.Option(help="Worker processes on a CPU. (default: one per core)")]


@app.command()
def train(
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to make.")],
    smiles: SMILES = None,
    label: Annotated[str | None, typer.Option(help="Column of classes. (default: label)")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One candidate, three folds, at most 40 passes.")] = False,
    arch: Annotated[str | None, typer.Option(help="Classifier: gcn, gin, ... (default: gcn or gin)")] = None,
    readout: Annotated[str | None, typer.Option(help="ssread or global. (default: the better one)")] = None,
    aggr: Annotated[str | None, typer.Option(help="Aggregation: sum, max+mean, ... (default: its own)")] = None,
    positions: Annotated[int, typer.Option(help="Structural positions K of SSRead.")] = 4,
    ensemble: Annotated[int, typer.Option(help="How many models vote.")] = 1,
    balanced: Annotated[bool, typer.Option("--balanced", help="Every class counts the same, however few.")] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Leave molecules out that cannot be read.")] = False,
    epochs: Annotated[
        int | None, typer.Option(help="Most passes of a training; it stops early. (default: 300)")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides everything random.")] = 0,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of options for reading (features, node_label, ...).")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    workers: WORKERS = None,
) -> None:
    """Train a classifier on your own graphs and keep it in a directory.

    Chosen by cross-validation, then trained on all graphs but the tenth that says when to stop. Stopped at any moment,
    the same command goes on.

    Examples:

    - ssread train assay.csv --label active -o model

    - ssread train assay.csv -o model --quick --ensemble 5 --balanced
    """
    from ssread import apply
    from ssread.commands.settings_file import read_settings

    options = _given(smiles=smiles, label=label, on_error="skip" if skip else None)
    if config is not None:
        options = {**read_settings(config), **options}
    try:
        model = apply.train(
            data,
            out,
            quick=quick,
            arch=arch,
            readout=readout,
            aggr=aggr,
            positions=positions,
            ensemble=ensemble,
            balanced=balanced,
            epochs=epochs,
            seed=seed,
            device=device,
            workers=workers,
            **options,
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was trained is in {out}.training; the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    found = model.summary["cross_validation"]
    low, high = (100 * bound for bound in found["interval"])
    chosen = next(candidate["name"] for candidate in found["candidates"] if candidate["chosen"])
    typer.echo(
        f"{chosen}: {100 * found['accuracy']:.1f} % right in {found['folds']}-fold cross-validation (95 % interval "
        f"{low:.1f} to {high:.1f}; the largest class alone {100 * found['majority']:.1f})."
    )
    typer.echo(f"Kept in {out}; about it: {out / 'card.md'}")


@app.command()
def predict(
    model: MODEL,
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .csv or .parquet.")],
    smiles: SMILES = None,
    id: ID = None,
    workers: WORKERS = None,
) -> None:
    """Predict classes, probabilities, uncertainty and position shares of new graphs; a line for every row.

    Files of molecules may be larger than the memory. Rows that cannot be read say why in the column problem.

    Example:

    - ssread predict model new.csv -o predictions.csv
    """
    from ssread import apply

    with _rows("predicted") as progress:
        written = apply.predict(model, data, out, workers=workers, progress=progress, **_given(smiles=smiles, id=id))
    _tell(written, "prediction")


@app.command()
def embed(
    model: MODEL,
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .parquet, .npy or .csv.")],
    smiles: SMILES = None,
    id: ID = None,
    workers: WORKERS = None,
) -> None:
    """Write the vectors that a model makes of new graphs.

    Example:

    - ssread embed model new.csv -o vectors.parquet
    """
    from ssread import apply

    with _rows("embedded") as progress:
        written = apply.embed(model, data, out, workers=workers, progress=progress, **_given(smiles=smiles, id=id))
    _tell(written, "vector")


@app.command()
def export(
    model: MODEL,
    format: Annotated[str, typer.Option(help="onnx or torch.")] = "onnx",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write. (default: beside the directory)")
    ] = None,
) -> None:
    """Write a model as one file that runs without ssread, checked against our own output.

    Example:

    - ssread export model --format onnx
    """
    from ssread import apply

    typer.echo(f"Wrote {apply.export(model, format, out)}; its output was compared with ours.")


def _given(**options: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in options.items() if value is not None}


@contextmanager
def _rows(done: str) -> Iterator[Callable[[int], None]]:
    """Shows on a terminal how many rows are done."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    text = TextColumn("{task.completed:,.0f} rows " + done)
    with Progress(SpinnerColumn(), text, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda rows: bar.update(task, completed=rows)


def _tell(written: Any, what: str) -> None:
    without = f", {written.problems} of them without a {what} (see the column problem)" if written.problems else ""
    typer.echo(f"Wrote {written.path}: {written.rows} rows{without}.")
