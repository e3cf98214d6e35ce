"""Commands for your own data: train a model, predict, embed, export."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ssread.cli.app import app
from ssread.cli.options import DEVICE, ID, LABEL, MODEL, SMILES, SPLIT, STRICT, TASK, WORKERS, on_error

DATA = Annotated[
    str,
    typer.Argument(help="A file of molecules, a folder of graphs, a TU dataset by name, or a .safetensors file."),
]


@app.command()
def train(
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to create for the model.")],
    smiles: SMILES = None,
    label: LABEL = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Search nothing: usual settings, three folds, at most 40 epochs.")
    ] = False,
    arch: Annotated[
        str | None, typer.Option(help="Classifier: gcn, gin, ... (default: the better one of gcn and gin)")
    ] = None,
    readout: Annotated[str | None, typer.Option(help="ssread or global. (default: the better one)")] = None,
    aggr: Annotated[
        str | None, typer.Option(help="Aggregation: sum, max+mean, ... (default: the classifier's own)")
    ] = None,
    positions: Annotated[
        int | None, typer.Option(help="Number of structural positions K of SSRead. (default: the best of 2, 4 and 8)")
    ] = None,
    task: TASK = None,
    metric: Annotated[
        str | None,
        typer.Option(help="What chooses model and epoch: accuracy, roc_auc, rmse, ... (default: what fits the task)"),
    ] = None,
    split: SPLIT = None,
    folds: Annotated[int | None, typer.Option(help="Number of cross-validation folds. (default: 5)")] = None,
    budget: Annotated[
        int | None, typer.Option(help="Number of trainings for the search for the best settings. (default: 30)")
    ] = None,
    ensemble: Annotated[int, typer.Option(help="Number of models that vote.")] = 1,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give every class the same weight, whatever its size.")
    ] = False,
    strict: STRICT = False,
    epochs: Annotated[int | None, typer.Option(help="Maximum number of epochs. (default: 150)")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    config: Annotated[
        Path | None, typer.Option(help="YAML file with options for reading the data (features, node_label, ...).")
    ] = None,
    device: DEVICE = "auto",
    workers: WORKERS = None,
) -> None:
    """Train a model on your own graphs and save it to a folder: for a class, several labels at once, or numbers.

    A search within a budget of trainings chooses the settings by cross-validation; the best are trained on all graphs
    but a tenth, which chooses the epoch. The card says how good the model is on graphs it has not seen, beside what a
    random forest on fingerprints reaches for the same molecules. A command that was interrupted continues when it is
    run again. Rows that cannot be used are left out, and listed in OUT.skipped.csv.

    Examples:

    - ssread train assay.csv --label active -o model

    - ssread train tox21.csv --label NR-AR,NR-AhR,SR-p53 --split scaffold -o model

    - ssread train esol.csv --label solubility --task regression -o model

    - ssread train assay.csv -o model --quick --ensemble 5 --balanced
    """
    from ssread import apply
    from ssread.apply.checks import check_training
    from ssread.apply.model_card import sentences
    from ssread.data.split_names import RANDOM
    from ssread.data.task_names import check_task

    options = _given(smiles=smiles, label=label, task=task)
    if config is not None:
        from ssread.commands.settings_file import read_settings

        options = {**read_settings(config), **options}
    settings: dict[str, Any] = {"arch": arch, "readout": readout, "aggr": aggr, "positions": positions}
    settings |= {"ensemble": ensemble, "epochs": epochs, "metric": metric, "split": split or RANDOM, "budget": budget}
    settings |= {"folds": folds, "device": device, "workers": workers}
    check_training(out, **settings)
    if task is not None:
        check_task(task)
    from ssread.explain import describe_positions

    try:
        model = apply.train(
            data,
            out,
            quick=quick,
            balanced=balanced,
            seed=seed,
            on_error=on_error(strict, options),
            describe=lambda model, graphs: {"positions": describe_positions(model, graphs)},
            **settings,
            **options,
        )
    except KeyboardInterrupt:
        typer.echo(
            f"Stopped. The training so far is kept in {out}.training; the same command continues from there.", err=True
        )
        raise typer.Exit(130) from None
    for sentence in sentences(model.summary["cross_validation"]):
        typer.echo(sentence)
    typer.echo(f"Saved to {out}; for a summary see {out / 'card.md'}")


@app.command()
def predict(
    model: MODEL,
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .csv or .parquet.")],
    smiles: SMILES = None,
    id: ID = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add sets of classes, or intervals, that hold the truth this often: 0.9. (default: none)"),
    ] = None,
    strict: STRICT = False,
    workers: WORKERS = None,
) -> None:
    """Predict new graphs: classes, labels or numbers, how sure they are, and the share of every position.

    The output has a line for every row of the input, with the columns of the input first. The column outside says
    where a graph is larger than all training graphs, the column problem why a row could not be used; such rows are also
    listed in NAME.skipped.csv beside the output. Files of molecules may be larger than memory.

    Examples:

    - ssread predict model new.csv -o predictions.csv

    - ssread predict model new.csv -o predictions.csv --coverage 0.9
    """
    from ssread import apply
    from ssread.apply.checks import TABLES, check_use

    check_use(model, out, TABLES, workers, coverage)
    options = _given(smiles=smiles, id=id, on_error=on_error(strict))
    with _rows("predicted") as progress:
        written = apply.predict(model, data, out, coverage=coverage, workers=workers, progress=progress, **options)
    _tell(written, "prediction")


@app.command()
def embed(
    model: MODEL,
    data: DATA,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .parquet, .npy or .csv.")],
    smiles: SMILES = None,
    id: ID = None,
    strict: STRICT = False,
    workers: WORKERS = None,
) -> None:
    """Compute the graph vectors of new graphs. Rows that cannot be used are listed in NAME.skipped.csv.

    Example:

    - ssread embed model new.csv -o vectors.parquet
    """
    from ssread import apply
    from ssread.apply.checks import VECTORS, check_use

    check_use(model, out, VECTORS, workers)
    with _rows("embedded") as progress:
        options = _given(smiles=smiles, id=id, on_error=on_error(strict))
        written = apply.embed(model, data, out, workers=workers, progress=progress, **options)
    _tell(written, "vector")


@app.command()
def export(
    model: MODEL,
    format: Annotated[str, typer.Option(help="onnx, or torch for torch.export.")] = "onnx",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write. (default: beside the model's folder)")
    ] = None,
) -> None:
    """Export a model to one file that runs without ssread; its output is compared with that of the model.

    Example:

    - ssread export model --format onnx
    """
    from ssread import apply
    from ssread.apply.checks import export_path
    from ssread.apply.model_folder import read_config

    export_path(model, format, out)
    read_config(model)
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
    without = f", {written.problems} of them without a {what}: {written.skipped}" if written.problems else ""
    typer.echo(f"Wrote {written.path}: {written.rows} rows{without}.")
    if written.outside:
        typer.echo(f"{written.outside} larger than every training graph: see the column outside.")
