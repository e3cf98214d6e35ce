"""What a model sees."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app
from ssread.cli.options import ID, LABEL, SMILES, STRICT, on_error
from ssread.errors import InputError


@app.command()
def explain(
    model: Annotated[Path | None, typer.Argument(help="The folder of a model, as ssread train writes it.")] = None,
    data: Annotated[
        str | None, typer.Argument(help="The graphs: a TU dataset by name, a file of molecules, or a folder of graphs.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The page to write (default: report.html); with --score, the folder (default: runs)."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also draw figures for papers (SVG and PNG) into this folder.")
    ] = None,
    smiles: SMILES = None,
    label: LABEL = None,
    id: ID = None,
    strict: STRICT = False,
    score: Annotated[
        str | None,
        typer.Option(
            help="Instead of a page: measure how accurate explanations are on a dataset (planted, Mutagenicity, ...)."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="With --score: how often everything is repeated.")] = 5,
    positions: Annotated[int, typer.Option(help="With --score: number of structural positions K.")] = 4,
    explained: Annotated[int, typer.Option(help="With --score: number of test graphs to explain.")] = 100,
    epochs: Annotated[int, typer.Option(help="With --score: maximum number of epochs of a training.")] = 500,
    device: Annotated[str, typer.Option(help="With --score: auto, cpu or cuda.")] = "auto",
    workers: Annotated[
        int | None, typer.Option(help="With --score: number of worker processes on a CPU. (default: one per core)")
    ] = None,
) -> None:
    """Show what a trained model sees in graphs: one page with positions, activations and the graphs themselves.

    Or, with --score, measure how accurate such explanations are where the truth is known.

    Examples:

    - ssread explain my-model new.csv --smiles SMILES -o report.html

    - ssread explain my-model MUTAG --figures figures

    - ssread explain --score planted --seeds 5
    """
    if score is not None:
        from ssread.evaluate.placement import check_placement
        from ssread.explain.study import Study
        from ssread.train.runs import Training

        study = Study(positions=positions, seeds=seeds, explained=explained, training=Training(epochs=epochs))
        check_placement(device, workers)

        from ssread.commands.score import score_dataset

        scores, files = score_dataset(
            score, study, out=out or "runs", device=device, workers=workers, on_error=on_error(strict)
        )
        typer.echo(scores.markdown())
    else:
        from ssread.apply.model_folder import read_config

        if model is None or data is None:
            raise InputError("A model's folder and graphs are needed: ssread explain MODEL DATA (or --score DATASET).")
        read_config(model)

        from ssread.commands.explain import explain_data

        columns = {"smiles": smiles, "label": label, "id": id, "on_error": on_error(strict)}
        options = {name: value for name, value in columns.items() if value is not None}
        files = explain_data(model, data, out=out or "report.html", figures=figures, **options)
    typer.echo(f"Saved: {', '.join(str(path) for path in files[:6])}{' ...' if len(files) > 6 else ''}")
