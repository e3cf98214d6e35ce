"""Features of whole graphs: RDKit's descriptors and fingerprints of molecules, and columns of the file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ssread.data.classes import is_missing
from ssread.data.rebuild_molecules import are_molecules, molecules
from ssread.errors import InputError, missing_extra

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

__all__ = [
    "DESCRIPTORS",
    "FINGERPRINTS",
    "morgan_fingerprints",
    "own_columns",
    "parse_sources",
    "with_graph_features",
]

#: What can be computed from a molecule; any other name is a column.
DESCRIPTORS, FINGERPRINTS = "descriptors", "fingerprints"

#: Radius and length of the fingerprints.
RADIUS, BITS = 2, 2048

#: The largest number that float32 has; what is larger counts as not known.
LARGEST = float(np.finfo(np.float32).max)


def parse_sources(sources: str | Sequence[str]) -> tuple[str, ...]:
    """Returns the names of sources, which a text has with commas between them; none twice.

    >>> parse_sources("descriptors, logP")
    ('descriptors', 'logP')
    """
    names = sources.split(",") if isinstance(sources, str) else list(sources)
    names = [str(name).strip() for name in names]
    if not names or not all(names):
        raise InputError(f"{sources!r} names no features: give {DESCRIPTORS}, {FINGERPRINTS} or names of columns.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"The features {twice[0]!r} are named twice.")
    return tuple(names)


def own_columns(sources: Sequence[str]) -> list[str]:
    """Returns the sources that are columns of the file."""
    return [name for name in sources if name not in (DESCRIPTORS, FINGERPRINTS)]


def with_graph_features(
    graphs: GraphSet, sources: Sequence[str], names: Sequence[str] | None = None
) -> tuple[GraphSet, dict[int, str]]:
    """Adds features of whole graphs, as ``graph_attr`` with their names; NaN where one is not known.

    What RDKit cannot compute, what is infinite or too large for float32, and an empty cell of a column are not known.

    Args:
        graphs: The graphs; ``graph_texts`` or ``graph_columns`` has the columns.
        sources: :data:`DESCRIPTORS` (RDKit's 2-D descriptors), :data:`FINGERPRINTS` (Morgan fingerprints of radius 2,
            2048 bits), and names of columns.
        names: The features that a model was trained with, which descriptors are taken from; RDKit's by default.

    Returns:
        The graphs, and a sentence for every graph that has a text where a number is needed.
    """
    import torch  # takes seconds, which whoever asks for names alone need not wait for

    blocks: dict[str, np.ndarray] = {}
    misfits: dict[int, str] = {}
    if len(own_columns(sources)) < len(sources):
        if not are_molecules(graphs):
            what = " and ".join(name for name in sources if name in (DESCRIPTORS, FINGERPRINTS))
            raise InputError(
                f"{graphs.name} has neither SMILES nor labels of atoms and bonds, but {what} can be computed of "
                "molecules only: name columns instead."
            )
        found = molecules(graphs)
    for source in sources:
        if source == DESCRIPTORS:
            new = _descriptors(found, names)
        elif source == FINGERPRINTS:
            bits = morgan_fingerprints(found)
            new = {f"morgan {number}": column for number, column in enumerate(bits.T)}
        else:
            new = {source: _numbers(graphs, source, misfits)}
        clash = next((name for name in new if name in blocks), None)
        if clash is not None:
            raise InputError(f"Two features of whole graphs are called {clash!r}: rename the column.")
        blocks |= new
    values = np.stack(list(blocks.values()), axis=1).astype(np.float64)
    values[~(np.abs(values) <= LARGEST)] = np.nan
    attr = torch.from_numpy(values.astype(np.float32))
    return replace(graphs, graph_attr=attr, graph_feature_names=tuple(blocks)), misfits


def morgan_fingerprints(found: Sequence[Any]) -> np.ndarray:
    """Returns Morgan fingerprints [n, 2048] of RDKit molecules; NaN for None."""
    try:
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    except ImportError:
        raise missing_extra("RDKit", "molecules", "Computing fingerprints") from None
    generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    unknown = np.full(BITS, np.nan)
    return np.stack([unknown if one is None else generator.GetFingerprintAsNumPy(one) for one in found])


def _descriptors(found: Sequence[Any], names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Returns RDKit's 2-D descriptors, or those of these names, [n] each; NaN where RDKit cannot compute one."""
    try:
        from rdkit import rdBase
        from rdkit.Chem.Descriptors import descList
    except ImportError:
        raise missing_extra("RDKit", "molecules", "Computing descriptors") from None
    functions: Mapping[str, Any] = dict(descList)
    if names is not None:
        functions = {name: functions[name] for name in names if name in functions}

    def compute(function: Any, molecule: Any) -> float:
        try:
            return float(function(molecule))
        except (ValueError, RuntimeError, ZeroDivisionError, OverflowError, ArithmeticError):
            return math.nan

    with rdBase.BlockLogs(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Descriptor by descriptor takes a third less time than molecule by molecule.
        return {
            name: np.array([math.nan if one is None else compute(function, one) for one in found], dtype=np.float64)
            for name, function in functions.items()
        }


def _numbers(graphs: GraphSet, column: str, misfits: dict[int, str]) -> np.ndarray:
    """Returns a column of numbers, NaN for empty cells; texts become misfits."""
    if column in graphs.graph_columns:
        values = graphs.graph_columns[column].cpu().double().numpy()
        if values.ndim != 1:
            raise InputError(f"{graphs.name}: column {column!r} has the shape {list(values.shape)}, not [graphs].")
        return values
    if column not in graphs.graph_texts:
        listed = ", ".join(map(repr, (*graphs.graph_texts, *graphs.graph_columns))) or "none"
        raise InputError(f"{graphs.name} has no column {column!r} to take features from; its columns are {listed}.")
    numbers = np.full(len(graphs), np.nan)
    texts = graphs.graph_texts[column]
    for index, text in enumerate(texts):
        if is_missing(text):
            continue
        try:
            numbers[index] = float(text)
        except ValueError:
            misfits.setdefault(index, f"its {column!r} is {text[:40]!r}, not a number")
    if len(misfits) > len(texts) / 2:
        raise InputError(f"{graphs.name}: {next(iter(misfits.values()))}, and most others: name columns of numbers.")
    return numbers
