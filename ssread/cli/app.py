"""The app that every command is added to, and how it prints errors and tables."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ssread.common.versions import VERSION
from ssread.errors import BadRowsError, InputError

if TYPE_CHECKING:
    from rich.console import Console


#: What wrong options raise; typer has a click of its own, or uses the installed one.
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]  # a BadParameter is a UsageError, which is one


class _Commands(TyperGroup):
    """Prints the sentence of an ``InputError`` alone, without a traceback, with options as they are typed.

    ``--debug`` may stand anywhere among the options.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = args[: args.index("--")] if "--" in args else args
        if "--debug" in options[1:]:
            args = ["--debug", *(word for word in options if word != "--debug"), *args[len(options) :]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            text = str(error)
            if isinstance(error, BadRowsError):
                text = f"{error.found} Correct them, or leave out --strict."
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            names = [parameter.name for parameter in command.params] if command else []
            text = _as_typed(text, names).encode(errors="backslashreplace").decode()  # a name may be half a surrogate
            typer.echo(f"Error: {text}", err=True)
            raise typer.Exit(1) from None
        except (_ClickException, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            from ssread.cli.last_net import end

            raise end(error, debug=bool(ctx.params.get("debug"))) from None


def _as_typed(text: str, names: list[str]) -> str:
    """Spells the options of a command in a sentence as they are typed.

    >>> _as_typed("There is no column 'X' (smiles='X').", ["smiles"])
    "There is no column 'X' (--smiles 'X')."
    >>> _as_typed("folds must be 2 or more, but 1 was given.", ["folds"])
    '--folds must be 2 or more, but 1 was given.'
    >>> _as_typed("position_hops must be 0 to 100, but -1 was given.", ["position_hops"])
    '--position-hops must be 0 to 100, but -1 was given.'
    """
    if not names:
        return text
    any_name = "|".join(map(re.escape, names))

    def option(name: str) -> str:
        return "--" + name.replace("_", "-")

    known = rf"There is no option '({any_name})':"
    text = re.sub(known, lambda found: f"There is no option {option(found[1])} for this data:", text)
    text = re.sub(rf"^({any_name})(?= (?:must|cannot|needs|is a share)\b)", lambda found: option(found[1]), text)
    return re.sub(rf"\b({any_name})=(?=['\d])", lambda found: f"{option(found[1])} ", text)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ssread {VERSION}")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    help="Graph classification that shows the structural role of every node.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback()
def _main(  # with it, the name of a command is needed even where there is only one
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unforeseen error.")] = False,
) -> None:
    pass


def wide_console(width: int) -> "Console":
    """Standard output with at least this width: tables must not be cut to the width of a pipe or a small window."""
    from rich.console import Console

    console = Console()
    console.width = max(console.width, width)
    return console
