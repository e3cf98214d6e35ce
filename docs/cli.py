"""Writes docs/cli.md, the reference of the command line, from the code: python docs/cli.py [FILE]."""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import typer

from ssread.cli import app

HERE = Path(__file__).parent

HEADER = """# The command line

Every command is a thin shell over a function of the library. `ssread COMMAND --help` prints the same as this page,
which is made from the code by `python docs/cli.py`.
"""


def reference() -> str:
    """The whole page."""
    command: Any = typer.main.get_command(app)
    parts = [HEADER, "Before any command:\n", table([], options_of(command)), ""]
    for name in sorted(command.commands):
        parts.append(describe(name, command.commands[name]))
    return "\n".join(parts)


def describe(name: str, command: Any) -> str:
    """The section of one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = options_of(command)
    usage = " ".join(
        ["ssread", name]
        + [metavar(p) if p.required else f"[{metavar(p)}]" for p in arguments]
        + [f"{short(p)} {metavar(p)}" for p in options if p.required]
        + ["[OPTIONS]"] * any(not p.required for p in options)
    )
    lines = [f"## ssread {name}", "", f"`{usage}`", "", text(command.help), ""]
    if arguments or options:
        lines += [table(arguments, options), ""]
    return "\n".join(lines)


def options_of(command: Any) -> list[Any]:
    """The options of a command, without those that every program has."""
    ours = [p for p in command.params if p.param_type_name == "option"]
    return [p for p in ours if p.name not in ("help", "install_completion", "show_completion")]


def table(arguments: list[Any], options: list[Any]) -> str:
    """A row for every parameter: how it is written, and what it means."""
    rows = [f"| `{metavar(p)}` | {cell(p)} |" for p in arguments]
    rows += [f"| {', '.join(f'`{opt}`' for opt in [*p.opts, *p.secondary_opts])} | {cell(p)} |" for p in options]
    return "\n".join(["| | |", "|---|---|", *rows])


def metavar(parameter: Any) -> str:
    """How a value is called in the usage line."""
    return parameter.name.upper()


def short(parameter: Any) -> str:
    """The shortest way to write an option."""
    return min(parameter.opts, key=len)


def cell(parameter: Any) -> str:
    """What a parameter means, with its default where it has one that its text does not tell."""
    told = (parameter.help or "").replace("|", "\\|")
    default = parameter.default
    plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    if plain and str(default) and "(default:" not in told:
        told += f" (default: {default})"
    return told


def text(help_text: str | None) -> str:
    """A docstring as Markdown: examples as code."""
    cleaned = inspect.cleandoc(help_text or "")
    return re.sub(r"^- (ssread .*)$", r"- `\1`", cleaned, flags=re.MULTILINE)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "cli.md").write_text(reference(), encoding="utf-8")
