"""The command line: a thin shell over the library. A command imports what it needs when it runs."""

from ssread.cli import compare, explain, listing, own_data, reproduce
from ssread.cli.app import app

__all__ = ["app", "compare", "explain", "listing", "own_data", "reproduce"]
