"""Commands for your own data: train a model, predict, embed, export."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ssread.cli.app import app
from ssread.cli.options import DEVICE, ID, LABEL, MODEL, SMILES, SPLIT, STRICT, TASK, WORKERS, number_or_word, on_error
from ssread.errors import InputError

SCREEN_ON = Annotated[str, typer.Option("--on", help="For a folder of parts: here, ray, or ray://host:port.")]
TOP = Annotated[int | None, typer.Option(min=1, help="For a folder of parts: keep only the best so many rows.")]
BY = Annotated[
    str | None,
    typer.Option(help="Column that --top goes by, the largest first. (default: the first probability or number)"),
]
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
    position_hops: Annotated[
        str | None,
        typer.Option(
            help="Where SSRead's positions come from: the structure within this many hops, nearly the same in every "
            "training, or learnt, as in the paper. (default: 1)"
        ),
    ] = None,
    with_features: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Features of whole graphs that join the model: descriptors (RDKit's), fingerprints (Morgan's), "
            "columns of numbers by name, or several with commas between. (default: none)",
        ),
    ] = None,
    task: TASK = None,
    metric: Annotated[
        str | None,
        typer.Option(help="What chooses model and epoch: accuracy, roc_auc, rmse, ... (default: what fits the task)"),
    ] = None,
    split: SPLIT = None,
    folds: Annotated[int | None, typer.Option(help="Number of cross-validation folds. (default: 5)")] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="How much the search for the best settings may take: trainings, or a time. (default: 30)"),
    ] = None,
    ensemble: Annotated[int, typer.Option(help="Number of models that vote.")] = 1,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give every class the same weight, whatever its size.")
    ] = False,
    keep_molecules: Annotated[
        bool,
        typer.Option(
            "--keep-molecules/--no-keep-molecules",
            help="Keep names, labels and structures of up to 1000 training graphs in the folder, to show the nearest.",
        ),
    ] = True,
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

    - ssread train esol.csv --label solubility --task regression --with descriptors -o model

    - ssread train assay.csv -o model --budget 10min

    - ssread train assay.csv -o model --quick --ensemble 5 --balanced
    """
    from ssread import apply
    from ssread.apply.checks import check_training
    from ssread.apply.model_card import sentences
    from ssread.data.split_names import RANDOM
    from ssread.data.task_names import check_task

    options = _given(smiles=smiles, label=label, task=task, graph_features=with_features)
    if config is not None:
        from ssread.commands.settings_file import READING, read_settings

        options = {**read_settings(config, READING), **options}
    settings: dict[str, Any] = {"arch": arch, "readout": readout, "aggr": aggr, "positions": positions}
    settings |= {"position_hops": number_or_word(position_hops)}
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
            keep_molecules=keep_molecules,
            seed=seed,
            on_error=on_error(strict, options),
            describe=describe_positions,
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
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File to write, .csv or .parquet, or a folder of parts."),
    ],
    smiles: SMILES = None,
    id: ID = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add sets of classes, or intervals, that hold the truth this often: 0.9. (default: none)"),
    ] = None,
    contributions: Annotated[
        bool, typer.Option("--contributions", help="Add what every structural position adds to the prediction.")
    ] = False,
    strict: STRICT = False,
    device: DEVICE = "auto",
    workers: WORKERS = None,
    on: SCREEN_ON = "here",
    top: TOP = None,
    by: BY = None,
) -> None:
    """Predict new graphs: classes, labels or numbers, how sure they are, and the share of every position.

    The output has a line for every row of the input, with the columns of the input first. The column outside says
    where a graph is larger than all training graphs, the column problem why a row could not be used; such rows are also
    listed in NAME.skipped.csv beside the output. Files of molecules may be larger than memory.

    An output without an ending is a folder of Parquet parts with a manifest, for libraries: DATA is then a folder of
    molecule files, a pattern or a file, and the same command continues where an earlier one was stopped.

    Examples:

    - ssread predict model new.csv -o predictions.csv

    - ssread predict model "library/*.smi.gz" -o screened --top 10000 --on ray

    - ssread predict model new.csv -o predictions.csv --coverage 0.9 --contributions
    """
    from ssread import apply
    from ssread.apply.checks import TABLES, check_top, check_use

    check_top(top, by)
    if _is_folder(out, on, top):
        more: dict[str, Any] = {"coverage": coverage, "contributions": contributions, "top": top, "by": by}
        _screen("predict", model, data, out, smiles, id, strict, device, workers, on, **more)
        return
    check_use(model, data, out, TABLES, workers, coverage, device)
    options = _given(smiles=smiles, id=id, on_error=on_error(strict))
    with _rows("predicted") as progress:
        written = apply.predict(
            model,
            data,
            out,
            coverage=coverage,
            contributions=contributions,
            workers=workers,
            device=device,
            progress=progress,
            **options,
        )
    _tell(written, "prediction")


@app.command()
def embed(
    model: MODEL,
    data: DATA,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write, .parquet, .npy or .csv, or a folder of parts.")
    ],
    smiles: SMILES = None,
    id: ID = None,
    strict: STRICT = False,
    device: DEVICE = "auto",
    workers: WORKERS = None,
    on: SCREEN_ON = "here",
) -> None:
    """Compute the graph vectors of new graphs. Rows that cannot be used are listed in NAME.skipped.csv.

    An output without an ending is a folder of Parquet parts, as for ssread predict.

    Example:

    - ssread embed model new.csv -o vectors.parquet
    """
    from ssread import apply
    from ssread.apply.checks import VECTORS, check_use

    if _is_folder(out, on, None):
        _screen("embed", model, data, out, smiles, id, strict, device, workers, on)
        return
    check_use(model, data, out, VECTORS, workers, device=device)
    with _rows("embedded") as progress:
        options = _given(smiles=smiles, id=id, on_error=on_error(strict))
        written = apply.embed(model, data, out, workers=workers, device=device, progress=progress, **options)
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


def _is_folder(out: Path, on: str, top: int | None) -> bool:
    """Whether the output is a folder of parts; some options need one."""
    if not out.suffix:
        return True
    if on != "here" or top is not None:
        raise InputError(f"--on and --top write a folder of parts: choose a name without an ending instead of {out}.")
    return False


def _screen(
    what: str,
    model: Path,
    data: str,
    out: Path,
    smiles: str | None,
    id: str | None,
    strict: bool,
    device: str,
    workers: int | None,
    on: str,
    **more: Any,
) -> None:
    """Writes a folder of parts, and says what is in it."""
    if strict:
        raise InputError(f"--strict needs a file as output, not {out}: in a folder, skipped.csv lists the bad rows.")
    from ssread.apply.checks import check_coverage
    from ssread.apply.model_folder import read_config
    from ssread.evaluate.placement import check_placement

    check_placement(device, workers, on)
    check_coverage(more.get("coverage"), calibrated=read_config(model).get("calibration") is not None)
    from ssread.apply.screening import screen

    with _rows("done") as progress:
        options = _given(smiles=smiles, id=id, **more)
        done = screen(model, data, out, what=what, workers=workers, device=device, on=on, progress=progress, **options)
    found = f", {done.found} of them found from before" if done.found else ""
    typer.echo(f"Wrote {done.folder}: {done.rows} rows in {done.parts} parts{found}; see manifest.json.")
    if done.problems:
        typer.echo(f"{done.problems} rows could not be used: see skipped.csv.")


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
