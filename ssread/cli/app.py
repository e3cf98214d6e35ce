"""The app that every command is added to, and how it prints errors and tables."""

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from ssread.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


class _Commands(TyperGroup):
    """Prints the sentence of an ``InputError`` alone, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Commands,
    help="Graph classification that shows the structural role of every node.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback()
def _main() -> None:  # with it, the name of a command is needed even where there is only one
    pass


def wide_console(width: int) -> "Console":
    """Standard output with at least this width: tables must not be cut to the width of a pipe or a small window."""
    from rich.console import Console

    console = Console()
    console.width = max(console.width, width)
    return console
