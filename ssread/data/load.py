"""One call for every source of graphs."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from ssread.common.checking import shorten
from ssread.data import sources, storage
from ssread.data.graphset import GraphSet
from ssread.data.kept import kept_path, stamp
from ssread.data.sources import INDICATOR, MOLECULE_ENDINGS, ending_of
from ssread.data.tu import read_tu
from ssread.errors import InputError
from ssread.published.datasets import canonical_name

if TYPE_CHECKING:
    import pandas as pd


def load(source: str | os.PathLike[str] | pd.DataFrame, **options: Any) -> GraphSet:
    """Load graphs from wherever they are.

    Args:
        source: One of

            - the name of a TU dataset, such as ``"MUTAG"``, taken from the data folder, the mirror
              ``SSREAD_MIRROR`` (a folder or web address of ``NAME.zip``), an installed package, or the
              public collection, in this order;
            - ``"planted"``: generated graphs whose structure is known;
            - a folder or ``.zip`` in TU text format;
            - a ``.csv``, ``.tsv``, ``.smi``, ``.sdf`` (each also with ``.gz``) or ``.parquet`` file of molecules, or
              a pandas ``DataFrame`` of them;
            - a folder of ``.graphml`` or node-link ``.json`` files;
            - a ``.safetensors`` file that :meth:`GraphSet.save` wrote.
        options: What the reader of that source takes: see :func:`ssread.data.tu.read_tu`,
            :func:`ssread.data.planted.planted`, :func:`ssread.data.molecules.read_molecules`,
            :func:`ssread.data.molecules.from_table` and :func:`ssread.data.networks.read_networks`.
    """
    if is_table(source):
        from ssread.data.molecules import from_table

        return _call(from_table, options, source)
    reader, path = find_reader(source)
    if path is None:
        return _call(reader, options)
    return _load_tu(path, options) if reader is read_tu else _call(reader, options, path)


def is_table(source: Any) -> TypeGuard[pd.DataFrame]:
    """Whether this is a pandas ``DataFrame``; does not import pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def find_reader(source: str | os.PathLike[str]) -> tuple[Callable[..., GraphSet], Path | None]:
    """The function that reads a source, and the file or folder to hand it (``None`` for generated graphs)."""
    known = canonical_name(source) if isinstance(source, str) else None
    if known is None and source == "planted":
        from ssread.data.planted import planted

        return planted, None
    path = Path(os.path.expanduser(source))  # stays as it is where there is no such user
    if known is None and os.path.exists(path):
        return _reader_of(path), path
    if known is None and (path.name != source or path.suffix):
        raise InputError(f"There is no file or folder {shorten(str(source), 300)}.")
    return read_tu, sources.fetch(known or str(source))


def _reader_of(path: Path) -> Callable[..., GraphSet]:
    ending = ending_of(path)
    if path.is_dir():
        if any(path.glob(f"*{INDICATOR}")):
            return read_tu
        from ssread.data.networks import read_networks

        return read_networks
    if ending == ".zip":
        return read_tu
    if ending == ".safetensors":
        return GraphSet.load
    if ending in MOLECULE_ENDINGS:
        from ssread.data.molecules import read_molecules

        return read_molecules
    raise InputError(
        f"{path} cannot be loaded: the ending {ending!r} is none of .zip, .safetensors, "
        f"{', '.join(MOLECULE_ENDINGS)}, and it is not a folder."
    )


def _call(reader: Callable[..., GraphSet], options: dict[str, Any], *arguments: Any) -> GraphSet:
    """Call a reader; a wrong option is answered with the options it takes."""
    parameters = list(inspect.signature(reader).parameters)[len(arguments) :]
    for option in options:
        if option not in parameters:
            takes = f"the options here are {', '.join(parameters)}" if parameters else "there are none here"
            raise InputError(f"There is no option {option!r}: {takes}.")
    return reader(*arguments, **options)


def _load_tu(path: Path, options: dict[str, Any]) -> GraphSet:
    """Read a TU folder or zip, or what was kept of it in the data folder by an earlier call."""
    now, kept = stamp(path), kept_path(path, ".safetensors", options)
    if storage.read_stamp(kept) == now:
        with contextlib.suppress(InputError):  # where it is damaged, it is made anew
            return GraphSet.load(kept)
    graphs = _call(read_tu, options, path)
    with contextlib.suppress(OSError):  # a data folder that cannot be written to costs time, not the result
        storage.write(graphs, kept, now)
    return graphs
