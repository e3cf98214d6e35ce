"""Files of molecules, read within the limits of the server whatever they say about themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow

from ssread.apply.features import Features
from ssread.data.graph_features import own_columns
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Block, Columns
from ssread.data.sources import ending_of
from ssread.errors import InputError
from ssread.serve.jobs import Kind
from ssread.serve.memory import limited_memory
from ssread.serve.settings import Limits

__all__ = ["TooLargeError", "read_table", "send_columns"]

#: The least memory that reading a file may take. A whole page of a Parquet file is unpacked at once.
READING_BYTES = 500_000_000


class TooLargeError(InputError):
    """More than the server takes."""


def read_table(features: Features, kind: Kind, path: Path, limits: Limits) -> Block:
    """All rows of a file, with the columns that the model needs, unless they exceed a limit.

    Args:
        features: The features of the model.
        kind: What is asked for; it names the columns of SMILES and ids.
        path: The file.
        limits: What the server takes.
    """
    needed = own_columns(features.sources)
    hydrogens = bool(features.options.get("hydrogens", False))
    columns = Columns(kind.smiles or "smiles", None, kind.id, hydrogens=hydrogens, keep=needed, most_atoms=limits.atoms)
    try:
        with limited_memory(max(READING_BYTES, 20 * int(limits.body))):
            blocks = list(_blocks(path, columns, limits.most(kind.what), limits))
    except (InputError, MemoryError) as error:
        if isinstance(error, MemoryError) or isinstance(error.__context__, MemoryError):
            raise TooLargeError(f"{path} is too large for this server once it is unpacked.") from None
        raise
    if not any(map(len, blocks)):
        raise InputError(f"{path} has no molecules.")
    return _joined(blocks)


def send_columns(names: Sequence[str]) -> str:
    """What to send to a model that was trained with columns of a file."""
    listed = ", ".join(map(repr, names))
    many = "s" if len(names) > 1 else ""
    return f"send a file (.csv, .tsv, .parquet or .sdf) with the column{many} {listed}, which it was trained with."


def _blocks(path: Path, columns: Columns, most: int, limits: Limits) -> Iterator[Block]:
    """The rows of a file, until they exceed a limit.

    Those of a Parquet file come one by one: a value that it holds once can stand in every row, and what it says about
    its rows and its size need not be true.
    """
    packed = ending_of(path) == ".parquet"
    rows = size = 0
    for block in read_blocks(path, columns, 1 if packed else most + 1):
        rows += len(block)
        if rows > most:
            raise TooLargeError(f"{path} has more than {most} molecules; this server takes no more of them at once.")
        for number, text in zip(block.numbers, block.smiles, strict=False):  # an .sdf has none
            if isinstance(text, str) and len(text) > limits.characters:
                has = f"The SMILES of {block.unit} {number} has {len(text)} characters"
                raise TooLargeError(f"{has}; this server takes {limits.characters}.")
        if packed:
            block = replace(block, inputs=_plain(block.inputs))
            size += _bytes(block)
        if size > limits.body:
            has = f"{path} has more than {limits.body:.0f} bytes once it is unpacked"
            raise TooLargeError(f"{has}, the most that this server takes.")
        yield block


def _plain(table: pyarrow.Table | None) -> pyarrow.Table | None:
    """The columns of a table, with their values in place of numbers of a dictionary."""
    if table is None:
        return None
    plain = [
        column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pyarrow.Table.from_arrays(plain, names=table.column_names)


def _bytes(block: Block) -> int:
    texts = sum(len(str(cell)) for cell in chain(block.smiles, block.ids or ()))
    return texts + (0 if block.inputs is None else block.inputs.nbytes)


def _joined(blocks: Sequence[Block]) -> Block:
    """One block of blocks of single rows."""
    first, *others = blocks
    if not others:
        return first
    inputs = None if first.inputs is None else pyarrow.concat_tables([block.inputs for block in blocks])
    return replace(
        first,
        numbers=[number for block in blocks for number in block.numbers],
        smiles=[text for block in blocks for text in block.smiles],
        ids=None if first.ids is None else [id for block in blocks for id in block.ids or ()],
        inputs=None if inputs is None else inputs.combine_chunks(),
    )
