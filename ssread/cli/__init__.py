"""The command line: a thin shell over the library, one function per verb. A verb imports what it needs when it runs."""

from ssread.cli import apply, compare, explain, look, reproduce
from ssread.cli.app import app

__all__ = ["app", "apply", "compare", "explain", "look", "reproduce"]
