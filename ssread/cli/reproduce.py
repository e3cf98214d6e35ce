"""The paper's tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app, wide_console


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="table1 ... table5, figure1 ... figure8; none lists them.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Datasets, with commas. (default: all that it has)")] = None,
    rows: Annotated[str | None, typer.Option(help="Rows of a table: sum,max or gin,dgcnn. (default: all)")] = None,
    seeds: Annotated[int | None, typer.Option(help="How often folds are drawn. (default: 5)")] = None,
    folds: Annotated[int | None, typer.Option(help="Folds of the cross-validation. (default: 10)")] = None,
    epochs: Annotated[int | None, typer.Option(help="Most passes of a training. (default: 500)")] = None,
    show: Annotated[bool, typer.Option("--show", help="Train nothing: show and write what there is.")] = False,
    add: Annotated[
        list[Path] | None, typer.Option(help="First take over the results.sqlite of another machine; repeatable.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Worker processes. (default: one per core; 3 on a GPU)")] = None,
    on: Annotated[str, typer.Option(help="here, ray, or ray://host:port.")] = "here",
    out: Annotated[Path, typer.Option(help="Folder that keeps everything; started again, it goes on there.")] = Path(
        "runs"
    ),
) -> None:
    """Make a table or figure of the paper, or list all of them with how much of each is done.

    Every training is kept, so that partial runs add up: killed at any moment, the same command goes on.

    Examples:

    - ssread reproduce

    - ssread reproduce table3 --datasets MUTAG,NCI1

    - ssread reproduce table3 --add other/results.sqlite --show
    """
    from ssread.commands.reproduce import reproduce_item
    from ssread.paper.paper_table import WIDTH

    given = {"seeds": seeds, "folds": folds, "epochs": epochs}
    try:
        reproduce_item(
            name,
            datasets=_words(datasets),
            rows=_words(rows),
            settings={option: value for option, value in given.items() if value is not None},
            train=not show,
            add=add or [],
            device=device,
            workers=workers,
            on=on,
            out=out,
            console=wide_console(WIDTH),
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was made is kept in {out}; the same command goes on from there.", err=True)
        raise typer.Exit(130) from None


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()] if text else []
