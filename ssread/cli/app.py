"""The frame of the command line: the app that every verb joins, and how it speaks."""

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ssread.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


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
    rich_markup_mode="markdown",
)


@app.callback()
def _main() -> None:  # a verb is named even while there is only one
    pass


def wide_console(width: int) -> "Console":
    """Standard output, at least so wide: a table cut to the width of a pipe or a small window is no use."""
    from rich.console import Console

    console = Console()
    console.width = max(console.width, width)
    return console
