"""The main job, and what it has found so far."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app, wide_console
from ssread.errors import InputError


@app.command()
def compare(
    dataset: Annotated[
        str, typer.Argument(help="A TU name (MUTAG), a file of molecules, a folder of graphs, planted.")
    ],
    arch: Annotated[str | None, typer.Option(help="Classifiers, with commas: gcn,gin,dgcnn,... (default: gcn)")] = None,
    aggr: Annotated[
        str | None, typer.Option(help="Aggregations: sum,mean,max+mean,... (default: each classifier's own)")
    ] = None,
    positions: Annotated[str | None, typer.Option(help="K, or auto: by validation accuracy. (default: auto)")] = None,
    gamma: Annotated[float | None, typer.Option(help="Smoothing of the alignment loss. (default: 0.01)")] = None,
    dropout: Annotated[
        str | None, typer.Option(help="A share, or auto: own or none, by validation accuracy. (default: own)")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Folds of the cross-validation. (default: 10)")] = None,
    seeds: Annotated[int | None, typer.Option(help="How often it is repeated. (default: 5)")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Most passes; supervised it stops early. (default: 500, without labels 100)")
    ] = None,
    learn: Annotated[
        str | None, typer.Option(help="What from: supervised, graphcl, infograph. (default: supervised)")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="What is predicted: class, rings,aromatic_rings,rotatable_bonds (molecules).")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="accuracy, roc_auc or macro_f1. (default: accuracy)")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Folds: random, scaffold, duplicates, or a JSON file of folds. (default: random)"),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of these and further settings (batch_size, ...).")
    ] = None,
    smiles: Annotated[str | None, typer.Option(help="Column of SMILES in a file of molecules.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of classes in a file of molecules.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Worker processes. (default: one per core; 3 on a GPU)")] = None,
    on: Annotated[str, typer.Option(help="here, ray, or ray://host:port.")] = "here",
    out: Annotated[Path, typer.Option(help="Folder that keeps the results; started again, it goes on there.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, progress on stderr.")] = False,
) -> None:
    """Does the readout help? Train with the global readout and with SSRead under the fair protocol.

    Ten folds, five seeds, the same splits for both; the epoch and K are chosen on held-out graphs, the test folds are
    used once. Prints means, the difference, paired tests and a verdict, with the paper's figures beside ours.

    Examples:

    - ssread compare MUTAG --seeds 1

    - ssread compare NCI1 --arch gcn,gin --aggr sum,max --positions 8

    - ssread compare my.csv --smiles SMILES --label active --metric roc_auc

    - ssread compare MUTAG --learn graphcl --seeds 1

    - ssread compare MUTAG --task rings,aromatic_rings,rotatable_bonds
    """
    import json

    from rich.console import Console

    from ssread.commands.compare import compare_dataset
    from ssread.commands.settings_file import read_settings

    flags = {"arch": arch, "aggr": aggr, "positions": positions, "gamma": gamma, "dropout": dropout, "folds": folds}
    flags |= {"seeds": seeds, "epochs": epochs, "learn": learn, "task": task, "metric": metric, "split": split}
    settings = read_settings(config) if config is not None else {}
    columns = {"smiles": smiles, "label": label}
    data = {**settings.pop("data", {}), **{name: value for name, value in columns.items() if value is not None}}
    settings |= {name: value for name, value in flags.items() if value is not None}
    try:
        report, saved = compare_dataset(
            dataset, settings, data=data, device=device, workers=workers, on=on, out=out, console=Console(stderr=True)
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was trained is kept in {out}; the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(report.as_dict(), indent=2))
        return
    console = Console()
    console.print(report.table())
    for cell in report.cells:
        console.print(
            f"{cell.dataset}, {cell.model}, {cell.aggr}: {cell.comparison.verdict}", markup=False, style="bold"
        )
    console.print(f"Saved: {saved.markdown}, {saved.json}, every training in {saved.store}", markup=False)
    for page in saved.to_look_at:
        console.print(f"To look at: {page}", markup=False, soft_wrap=True, style="bold")


@app.command()
def results(
    store: Annotated[Path, typer.Argument(help="The file that keeps the trainings.")] = Path("runs/results.sqlite"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write .csv, .md or .tex instead of printing.")
    ] = None,
) -> None:
    """Show what a results file holds, or write it: a row per table cell (.md, .tex) or per training (.csv)."""
    from rich.markup import escape
    from rich.table import Table

    from ssread.evaluate import Store, export
    from ssread.evaluate.results_export import results_by_cell

    if not store.is_file():
        raise InputError(f"There is no results file {store}; ssread compare makes one.")
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
