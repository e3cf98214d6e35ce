"""The command line: a thin shell over the library, one function per verb."""

import typer

app = typer.Typer(
    help="Graph classification that shows which structural role every node plays.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
