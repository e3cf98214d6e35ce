"""The last net: an error that nobody foresaw ends in one sentence and a report to send in."""

import os
import re
import shlex
import sys
import tempfile
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer

from ssread.common.files import write_text
from ssread.common.versions import VERSION
from ssread.errors import InputError

__all__ = ["DEBUG", "UNFORESEEN", "end", "report"]

#: The exit code of such an end; wrong input has 1 and wrong options 2.
UNFORESEEN = 70

#: Set to anything, this variable does what ``--debug`` does. The tests set it, so that nothing hides in the net.
DEBUG = "SSREAD_DEBUG"

PACKAGES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "pandas", "pydantic", "rdkit", "ray")


def end(error: Exception, debug: bool = False) -> typer.Exit:
    """Says what happened and where the report is, or shows the traceback; returns the exit to raise."""
    if debug or os.environ.get(DEBUG):
        typer.echo("".join(traceback.format_exception(error)), err=True)
        return typer.Exit(UNFORESEEN)
    if isinstance(error, MemoryError):
        what = "There is not enough memory for this: try fewer --workers or less data."
    else:
        what = f"ssread met an error that it does not know ({type(error).__name__}); this is not your fault."
    try:
        where = f"Please send in {report(error)}, which says what happened"
    except (InputError, OSError):  # nothing can be written anywhere, or there is no place for temporary files
        where = "No report could be written"
    typer.echo(f"Error: {what} {where}; --debug shows it.", err=True)
    return typer.Exit(UNFORESEEN)


def report(error: Exception) -> Path:
    """Writes versions, command and traceback to a file here, or where temporary files are; returns its path."""
    lines = [f"ssread {VERSION}", f"python {sys.version.split()[0]} on {sys.platform}", *map(_version, PACKAGES)]
    lines += ["", f"$ {' '.join(map(shlex.quote, ['ssread', *sys.argv[1:]]))}", ""]
    text = _without_secrets("\n".join([*lines, *traceback.format_exception(error)]))
    text = text.encode(errors="backslashreplace").decode()
    name = f"ssread-error-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        return write_text(Path(name), text)
    except InputError:
        return write_text(Path(tempfile.gettempdir()) / name, text)


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is not installed"


def _without_secrets(text: str) -> str:
    """Leaves out the home directory, passwords in addresses, and values that are called a secret.

    >>> _without_secrets("ray://me:hunter2@head:10001 --api-token=abc password: x")
    'ray://***@head:10001 --api-token=*** password: ***'
    """
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = text.replace(home, "~")
    text = re.sub(r"(\w+://)[^\s/@]+@", r"\1***@", text)
    return re.sub(r"(?i)((?:password|passwd|secret|token|api[-_]?key)\w*['\"]?[=:\s]\s*)[^\s'\"]+", r"\1***", text)
