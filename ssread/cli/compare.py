"""The main job, and what it has found so far."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ssread.cli.app import app, wide_console
from ssread.cli.options import (
    DEGREE,
    DEVICE,
    FOLDS,
    LABEL,
    ON,
    OUT,
    RECIPE,
    SEEDS,
    SMILES,
    SPLIT,
    STRICT,
    WORKERS,
    number_or_word,
    on_error,
)


@app.command()
def compare(
    dataset: Annotated[
        str,
        typer.Argument(help="A TU dataset by name (MUTAG), a file of molecules, a folder of graphs, or planted."),
    ],
    arch: Annotated[
        str | None, typer.Option(help="Classifiers, separated by commas: gcn,gin,dgcnn,... (default: gcn)")
    ] = None,
    aggr: Annotated[
        str | None,
        typer.Option(help="Aggregations, separated by commas: sum,mean,max+mean,... (default: each classifier's own)"),
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            help="Number of structural positions K, or auto to choose it by validation accuracy. "
            "(default: auto; 4 with the recipe public)"
        ),
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="Smoothing of the alignment loss. (default: 0.01)")] = None,
    position_hops: Annotated[
        int | None,
        typer.Option(
            help="Take SSRead's positions from the structure within this many hops, nearly the same in every training, "
            "by k-means. (default: learnt positions, as in the paper)"
        ),
    ] = None,
    dropout: Annotated[
        str | None,
        typer.Option(
            help="Dropout rate, or auto to choose one of the recipe's candidates by validation accuracy. "
            "(default: the recipe's)"
        ),
    ] = None,
    folds: FOLDS = None,
    seeds: SEEDS = None,
    epochs: Annotated[
        int | None,
        typer.Option(help="Maximum number of epochs. (default: the recipe's, unsupervised 100)"),
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(help="What encoders learn from: supervised, graphcl, infograph. (default: supervised)"),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="What is predicted: class, or for molecules rings,aromatic_rings,rotatable_bonds. (default: class)"
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="What is compared, and chooses the epoch: accuracy, roc_auc, r2, ... (default: accuracy)"),
    ] = None,
    split: SPLIT = None,
    recipe: RECIPE = None,
    margin: Annotated[
        float | None, typer.Option(help="Differences up to this many points count as equal. (default: 1)")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="YAML file with these and further settings (batch_size, ...); options given here win."),
    ] = None,
    smiles: SMILES = None,
    label: LABEL = None,
    degree: DEGREE = False,
    strict: STRICT = False,
    device: DEVICE = "auto",
    workers: WORKERS = None,
    on: ON = "here",
    out: OUT = Path("runs"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document to stdout, and progress to stderr.")
    ] = False,
) -> None:
    """Compare SSRead with the global readout on a dataset under the fair protocol.

    Ten folds and five seeds, with the same splits for both readouts. The epoch, dropout and K are chosen on validation
    graphs;
    the test folds are used once. Prints means, the difference, paired tests and a verdict beside the paper's figures.

    Examples:

    - ssread compare MUTAG --seeds 1

    - ssread compare NCI1 --arch gcn,gin --aggr sum,max --positions 8

    - ssread compare my.csv --smiles SMILES --label active --metric roc_auc

    - ssread compare IMDB-BINARY --degree

    - ssread compare MUTAG --learn graphcl --seeds 1

    - ssread compare MUTAG --task rings,aromatic_rings,rotatable_bonds
    """
    import json

    from rich.console import Console

    from ssread.evaluate.experiment import experiments_of
    from ssread.evaluate.placement import check_placement

    flags = {"arch": arch, "aggr": aggr, "positions": number_or_word(positions), "gamma": gamma}
    flags |= {"position_hops": position_hops}
    flags |= {"dropout": number_or_word(dropout), "folds": folds}
    flags |= {"seeds": seeds, "epochs": epochs, "learn": learn, "task": task, "metric": metric, "split": split}
    flags |= {"recipe": recipe, "margin": margin}
    settings: dict[str, Any] = {}
    if config is not None:
        from ssread.commands.settings_file import COMPARISON, read_settings

        settings = read_settings(config, COMPARISON)
    reading = {"smiles": smiles, "label": label, "degree": degree or None}
    data = {**settings.pop("data", {}), **{name: value for name, value in reading.items() if value is not None}}
    bad_rows = on_error(strict, data)
    settings |= {name: value for name, value in flags.items() if value is not None}
    experiments_of(settings)
    check_placement(device, workers, on)

    from ssread.commands.compare import compare_dataset

    try:
        report, saved = compare_dataset(
            dataset,
            settings,
            data=data,
            device=device,
            workers=workers,
            on=on,
            out=out,
            console=Console(stderr=True),
            on_error=bad_rows,
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. Finished trainings are kept in {out}; the same command continues from there.", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2))
        return
    console = Console()
    console.print(report.table())
    for what, verdict in report.verdicts:
        console.print(f"{what}: {verdict}", markup=False, style="bold")
    console.print(f"Saved: {saved.markdown}, {saved.json}, every training in {saved.store}", markup=False)
    for page in saved.to_look_at:
        console.print(f"To look at: {page}", markup=False, soft_wrap=True, style="bold")


@app.command()
def results(
    store: Annotated[Path, typer.Argument(help="The results file.")] = Path("runs/results.sqlite"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a .csv, .md or .tex file instead of printing.")
    ] = None,
) -> None:
    """Show what a results file holds, or export it.

    Printed and as .md or .tex, it has a row for every table cell; as .csv, a row for every training.
    """
    from ssread.evaluate.database import check_results_file
    from ssread.evaluate.results_export import check_export, export, results_by_cell

    check_results_file(store)
    if out is not None:
        check_export(out)

    from rich.markup import escape
    from rich.table import Table

    from ssread.evaluate.store import Store

    with Store(store) as opened:
        if out is not None:
            export(opened, out)
            typer.echo(f"Wrote {out}")
            return
        cells = results_by_cell(opened.table())
    table = Table(*cells.columns, title=f"{escape(str(store))}: test accuracy in percent")
    for row in cells.itertuples(index=False):
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else escape(str(value)) for value in row))
    wide_console(120).print(table)
