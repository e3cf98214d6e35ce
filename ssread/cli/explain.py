"""What a model sees."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app
from ssread.errors import InputError


@app.command()
def explain(
    model: Annotated[Path | None, typer.Argument(help="A model's folder, as ssread train writes it.")] = None,
    data: Annotated[str | None, typer.Argument(help="Graphs: a TU name, a file of molecules, a folder.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page (default: report.html); with --score a folder (default: runs)."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also draw pictures for papers (SVG, PNG) into this folder.")
    ] = None,
    smiles: Annotated[str | None, typer.Option(help="Column of SMILES in a file of molecules.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of classes in a file of molecules.")] = None,
    id: Annotated[
        str | None, typer.Option(help="Column that names the rows. (default: the number of the line)")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(help="Instead: how right are explanations on this dataset (planted, Mutagenicity, ...)?"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="With --score: how often everything is repeated.")] = 5,
    positions: Annotated[int, typer.Option(help="With --score: K.")] = 4,
    explained: Annotated[int, typer.Option(help="With --score: test graphs whose motif is looked for.")] = 100,
    epochs: Annotated[int, typer.Option(help="With --score: most passes of a training.")] = 500,
    device: Annotated[str, typer.Option(help="With --score: auto, cpu or cuda.")] = "auto",
    workers: Annotated[
        int | None, typer.Option(help="With --score: processes on a CPU. (default: one per core)")
    ] = None,
) -> None:
    """Show what a trained model sees: one page of positions, activations and graphs; or score such explanations.

    Examples:

    - ssread explain my-model new.csv --smiles SMILES -o report.html

    - ssread explain my-model MUTAG --figures figures

    - ssread explain --score planted --seeds 5
    """
    if score is not None:
        from ssread.commands.score import score_dataset
        from ssread.explain.study import Study
        from ssread.train.runs import Training

        study = Study(positions=positions, seeds=seeds, explained=explained, training=Training(epochs=epochs))
        scores, files = score_dataset(score, study, out=out or "runs", device=device, workers=workers)
        typer.echo(scores.markdown())
    else:
        from ssread.commands.explain import explain_data

        if model is None or data is None:
            raise InputError("A model's folder and graphs are needed: ssread explain MODEL DATA (or --score DATASET).")
        columns = {"smiles": smiles, "label": label, "id": id}
        options = {name: value for name, value in columns.items() if value is not None}
        files = explain_data(model, data, out=out or "report.html", figures=figures, **options)
    typer.echo(f"Saved: {', '.join(str(path) for path in files[:6])}{' ...' if len(files) > 6 else ''}")
