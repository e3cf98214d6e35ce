"""The command line: a thin shell over the library, one function per verb."""

from typing import Any

import typer
from typer.core import TyperGroup

from ssread.errors import InputError


class _Verbs(TyperGroup):
    """Prints the sentence of an ``InputError`` alone, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Verbs,
    help="Graph classification that shows which structural role every node plays.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _main() -> None:  # a verb is named even while there is only one
    pass


@app.command()
def datasets() -> None:
    """List the datasets that can be had, from where, with the paper's Table I beside our counts."""
    from rich.console import Console

    from ssread.data.listing import as_table, list_datasets

    console = Console()
    console.width = max(console.width, 116)  # a table that is cut to the width of a pipe or a small window is no use
    console.print(as_table(list_datasets()))
