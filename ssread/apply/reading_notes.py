"""What to say about a dataset that was read for training: rows left out, copies, contradictory labels."""

from contextlib import suppress
from pathlib import Path

from ssread.data.duplicates import Copies
from ssread.data.graphset import GraphSet
from ssread.data.skipped import list_skipped, skipped_path

__all__ = ["reading_notes", "skipped_note"]


def reading_notes(graphs: GraphSet, copies: Copies, out: Path) -> list[str]:
    """Returns the sentences, and lists the rows left out in a file beside the output ``out``."""
    return [*skipped_note(graphs, out), *([f"{copies}."] if copies.repeated else [])]


def skipped_note(graphs: GraphSet, out: Path) -> list[str]:
    """Returns a sentence about the rows left out, if there are any, and lists them in a file beside ``out``."""
    if not graphs.skipped:
        with suppress(OSError):  # of an earlier run
            skipped_path(out).unlink()
        return []
    with list_skipped(out) as skipped:
        skipped.add(list(graphs.skipped))
    rows = len(graphs) + skipped.count
    return [f"{skipped.count} of {rows} rows cannot be used and are left out: {skipped}."]
