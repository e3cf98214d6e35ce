"""The command line: a thin shell over the library.

Importing torch takes seconds. So a command first checks its options, with functions that do without torch, and only
then imports what does the work: help and refusals come at once.
"""

from ssread.cli import compare, explain, listing, own_data, reproduce, serve
from ssread.cli.app import app

__all__ = ["app", "compare", "explain", "listing", "own_data", "reproduce", "serve"]
