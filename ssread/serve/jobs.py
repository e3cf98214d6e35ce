"""What the server sends to its workers, and what comes back: plain data only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ssread.data.sources import ending_of
from ssread.errors import InputError

__all__ = [
    "ELEMENTS",
    "GRAPH_ENDINGS",
    "TABLE_ENDINGS",
    "Answer",
    "Edit",
    "File",
    "Kind",
    "Molecule",
    "Refusal",
    "What",
    "check_name",
]

#: What an atom can be changed to.
ELEMENTS = ("B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Se", "Br", "I")

#: The endings of files that a client may send. Compressed ones could hold more than their size says.
TABLE_ENDINGS = (".csv", ".tsv", ".smi", ".sdf", ".parquet")
GRAPH_ENDINGS = (".graphml", ".json")

#: What to do with graphs.
What = Literal["predict", "embed", "explain", "change"]


class Molecule(NamedTuple):
    """A molecule of a request; without an id or a name after its SMILES it is called by its number."""

    smiles: str
    id: str | None = None
    number: int = 0


class Edit(NamedTuple):
    """A molecule, and the element that one of its atoms is changed to."""

    smiles: str
    atom: int
    element: str


class File(NamedTuple):
    """The content of a file; of its name only the ending is used, and the rest is shown.

    Without an ending it is a graph as JSON.
    """

    name: str
    content: bytes


@dataclass(frozen=True)
class Kind:
    """What a job asks for; jobs of the same kind are put together into one batch.

    Attributes:
        model: The name of the model.
        what: What to do.
        coverage: How often sets and intervals shall hold the truth; None for none.
        form: ``json`` for rows as JSON text, ``table`` for an Arrow table.
        item: What the items are: ``molecule``, ``graph`` (files of one graph each) or ``table`` (one file of many
            molecules, never put together with others).
        smiles: The column of the SMILES in a table.
        id: The column of the ids in a table.
    """

    model: str
    what: What
    coverage: float | None = None
    form: Literal["json", "table"] = "json"
    item: Literal["molecule", "graph", "table"] = "molecule"
    smiles: str | None = None
    id: str | None = None


class Answer(NamedTuple):
    """The rows for some items.

    Attributes:
        rows: A JSON text for every row, or an Arrow table.
        problems: Why a row has no result, by its number.
        too_large: The rows among these that exceed a limit.
    """

    rows: Any
    problems: dict[int, str]
    too_large: frozenset[int] = frozenset()

    def part(self, start: int, stop: int) -> "Answer":
        """The rows from ``start`` to ``stop``."""
        rows = self.rows[start:stop] if isinstance(self.rows, list) else self.rows.slice(start, stop - start)
        problems = {row - start: why for row, why in self.problems.items() if start <= row < stop}
        return Answer(rows, problems, frozenset(row - start for row in self.too_large if start <= row < stop))


class Refusal(NamedTuple):
    """Why nothing can be done for some items: a sentence, and the HTTP status that fits."""

    sentence: str
    status: int = 422


def check_name(name: str) -> None:
    """Raises an error for a file that is not read, or whose name has folders."""
    if any(sign in name for sign in "/\\\0"):
        raise InputError(f"The name {name!r} is not that of a file alone: leave out its folders.")
    ending = ending_of(Path(name))
    if ending in (*TABLE_ENDINGS, *GRAPH_ENDINGS):
        return
    tables, graphs = ", ".join(TABLE_ENDINGS), " or ".join(GRAPH_ENDINGS)
    unpack = " Unpack it first." if ending.removesuffix(".gz") in TABLE_ENDINGS else ""
    raise InputError(f"{name!r} is not read: send a table of molecules ({tables}) or a graph ({graphs}).{unpack}")
