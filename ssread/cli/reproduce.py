"""The paper's tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app, wide_console
from ssread.cli.options import DEVICE, FOLDS, ON, OUT, RECIPE, SEEDS, WORKERS


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="table1 to table5, figure1 to figure8, or all; without a name, they are listed."),
    ] = None,
    datasets: Annotated[str | None, typer.Option(help="Datasets, separated by commas. (default: all)")] = None,
    rows: Annotated[
        str | None, typer.Option(help="Rows of a table, separated by commas: sum,max or gin,dgcnn. (default: all)")
    ] = None,
    seeds: SEEDS = None,
    folds: FOLDS = None,
    epochs: Annotated[
        int | None, typer.Option(help="Maximum number of epochs of a training. (default: the recipe's)")
    ] = None,
    recipe: RECIPE = None,
    show: Annotated[bool, typer.Option("--show", help="Train nothing; show and write what there is.")] = False,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            help="First import the results.sqlite of another machine, or a .csv file of trainings that ssread results "
            "or ssread reproduce wrote. Can be given several times."
        ),
    ] = None,
    device: DEVICE = "auto",
    workers: WORKERS = None,
    on: ON = "here",
    out: OUT = Path("runs"),
) -> None:
    """Make a table or figure of the paper, or all of them, or list them with how much of each is done.

    Every training is stored, so that partial runs add up; a command that was interrupted continues when it is run
    again. With all, the cheap ones come first, and progress shows how much is left and how long it will take.

    Examples:

    - ssread reproduce

    - ssread reproduce table3 --datasets MUTAG,NCI1

    - ssread reproduce table3 --add other/results.sqlite --show

    - ssread reproduce table4 --add results/fair/table3/nci1.csv --datasets NCI1

    - ssread reproduce all --device cuda
    """
    from ssread.evaluate.database import check_results_file
    from ssread.evaluate.experiment import Experiment
    from ssread.evaluate.placement import check_placement
    from ssread.paper.registry import check_parts

    given = {"seeds": seeds, "folds": folds, "epochs": epochs, "recipe": recipe}
    settings = {option: value for option, value in given.items() if value is not None}
    if name is not None:
        check_parts(name, _words(datasets), _words(rows))
    Experiment.of(settings)
    check_placement(device, workers, on)
    for other in add or []:
        check_results_file(other)

    from ssread.commands.reproduce import reproduce_item
    from ssread.paper.paper_table import WIDTH

    try:
        reproduce_item(
            name,
            datasets=_words(datasets),
            rows=_words(rows),
            settings=settings,
            train=not show,
            add=add or [],
            device=device,
            workers=workers,
            on=on,
            out=out,
            console=wide_console(WIDTH),
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. Finished work is kept in {out}; the same command continues from there.", err=True)
        raise typer.Exit(130) from None


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()] if text else []
