"""Rules over substructures that label molecules, with the atoms that decide: a benchmark with known answers.

A rule is words and SMARTS separated by blanks, for example ``[N+](=O)[O-] and not [F,Cl,Br,I]``:

=====================================  ====================================================  ========================
rule                                   it holds for a molecule with                          the atoms that decide
=====================================  ====================================================  ========================
``SMARTS``                             a match                                               all matches
``RULE and RULE``                      both                                                  those of both
``RULE or RULE``                       one of them, or both                                  those of the ones that hold
``not RULE``                           no such thing; ``A not B`` is ``A and not B``         none: nothing is there
``at least N SMARTS``                  N matches or more                                     all matches
``exactly N SMARTS``                   N matches                                             all matches
``at most N SMARTS``                   N matches or fewer                                    none
``SMARTS within N of SMARTS``          a match of each, no atom in common, at most N bonds   these pairs, and the
                                       apart                                                 shortest paths between
``( RULE )``                           the brackets stand alone, between blanks
``RULE decoys SMARTS ...``             molecules with these groups are among the negatives
=====================================  ====================================================  ========================

``not`` binds before ``and``, ``and`` before ``or``. A hydrogen that is a node decides like its neighbour. A bond
decides if both its atoms do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from ssread.errors import InputError, missing_extra

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["Answer", "Rule", "parse_rule"]

#: A molecule with more matches of a pattern than this counts as one with so many.
MAX_MATCHES = 1000

WORDS = frozenset(["and", "or", "not", "at", "least", "most", "exactly", "within", "of", "(", ")", "decoys"])

#: The atoms of each match of a pattern.
Matches = list[frozenset[int]]


class Answer(NamedTuple):
    """What a rule says about a molecule.

    Attributes:
        holds: Whether the molecule is a positive.
        atoms: The atoms that decide, empty for a negative.
        groups: The SMARTS of the rule and of its decoys that a negative contains: it is a decoy if there are any. Empty
            for a positive.
    """

    holds: bool
    atoms: frozenset[int]
    groups: frozenset[str]


#: A part of a rule, as a function of a molecule and the matches of all patterns: the atoms that decide, None if false.
Part = Callable[["Mol", dict[str, Matches]], frozenset[int] | None]


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule that :func:`parse_rule` read.

    Attributes:
        text: As it was written.
        patterns: Its SMARTS.
        decoys: The SMARTS of its decoys.
    """

    text: str
    patterns: tuple[str, ...]
    decoys: tuple[str, ...]
    _part: Part
    _compiled: dict[str, Any]

    def answer(self, molecule: Mol) -> Answer:
        """What the rule says about a molecule."""
        found = {smarts: _matches(molecule, query) for smarts, query in self._compiled.items()}
        atoms = self._part(molecule, found)
        if atoms is None:
            return Answer(False, frozenset(), frozenset(smarts for smarts, matches in found.items() if matches))
        hydrogens = {
            neighbour.GetIdx()
            for atom in atoms
            for neighbour in molecule.GetAtomWithIdx(atom).GetNeighbors()
            if neighbour.GetAtomicNum() == 1 and neighbour.GetDegree() == 1
        }
        return Answer(True, atoms | hydrogens, frozenset())


def parse_rule(text: str) -> Rule:
    """Reads a rule; see the head of this module for what can be written.

    >>> from rdkit import Chem
    >>> rule = parse_rule("at least 2 [OX2H1] and not C=O")
    >>> sorted(rule.answer(Chem.MolFromSmiles("OCCO")).atoms)
    [0, 3]
    >>> rule.answer(Chem.MolFromSmiles("CCO"))
    Answer(holds=False, atoms=frozenset(), groups=frozenset({'[OX2H1]'}))
    """
    try:
        from rdkit import Chem, RDLogger
    except ImportError:
        raise missing_extra("RDKit", "molecules", "A rule over substructures") from None
    body, found, decoys = text.partition(" decoys ")
    parser = _Parser(body, text)
    part = parser.either()
    parser.end()
    if not part.has_atoms:
        raise InputError(
            f"The rule {text!r} can hold because something is absent: then no atoms decide, and there is nothing to "
            "find. Add a group that must be present, as in 'c1ccccc1 and not [OX2H1]'."
        )
    patterns, others = tuple(dict.fromkeys(parser.patterns)), tuple(decoys.split())
    if found and not others:
        raise InputError(f"The rule {text!r} ends after 'decoys': name the SMARTS of similar groups.")
    compiled = {}
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    try:
        for smarts in (*patterns, *others):
            compiled[smarts] = Chem.MolFromSmarts(smarts)
            if compiled[smarts] is None or not compiled[smarts].GetNumAtoms():
                raise InputError(
                    f"{smarts!r} in the rule {text!r} is not a SMARTS that RDKit can read. Words and patterns are "
                    "separated by blanks; a pattern contains none."
                )
    finally:
        RDLogger.EnableLog("rdApp.*")  # type: ignore[attr-defined]
    return Rule(text, patterns, others, part.call, compiled)


class _Parsed(NamedTuple):
    """A part of a rule, and whether some atoms decide wherever it holds."""

    call: Part
    has_atoms: bool


class _Parser:
    """A recursive-descent parser over the words of a rule."""

    def __init__(self, body: str, text: str):
        self._words, self._next, self._text = body.split(), 0, text
        self.patterns: list[str] = []

    def either(self) -> _Parsed:
        alternatives = [self._both()]
        while self._take("or"):
            alternatives.append(self._both())
        return reduce(_or, alternatives)

    def end(self) -> None:
        if self._next < len(self._words):
            self._fail(f"{self._words[self._next]!r} was not expected")

    def _both(self) -> _Parsed:
        part = self._one()
        while self._take("and") or self._peek() == "not":
            part = _and(part, self._one())
        return part

    def _one(self) -> _Parsed:
        if self._take("not"):
            return _not(self._one())
        if self._take("("):
            part = self.either()
            if not self._take(")"):
                self._fail("a bracket is not closed")
            return part
        if self._take("at"):
            if self._take("least"):
                return _count(self._number(), self._pattern(), lambda found, n: found >= n, True)
            if self._take("most"):
                return _count(self._number(least=0), self._pattern(), lambda found, n: found <= n, False)
            self._fail("'at' must be followed by 'least' or 'most'")
        if self._take("exactly"):
            return _count(self._number(), self._pattern(), lambda found, n: found == n, True)
        pattern = self._pattern()
        if not self._take("within"):
            return _count(1, pattern, lambda found, n: found >= n, True)
        bonds = self._number()
        if not self._take("of"):
            self._fail(f"'within {bonds}' must be followed by 'of' and a SMARTS")
        return _within(bonds, pattern, self._pattern())

    def _peek(self) -> str | None:
        return self._words[self._next] if self._next < len(self._words) else None

    def _take(self, word: str) -> bool:
        taken = self._peek() == word
        self._next += taken
        return taken

    def _pattern(self) -> str:
        word = self._peek()
        if word is None or word in WORDS:
            self._fail(f"a SMARTS is missing {'at the end' if word is None else f'before {word!r}'}")
        assert word is not None
        self._next += 1
        self.patterns.append(word)
        return word

    def _number(self, least: int = 1) -> int:
        word = self._peek() or "the end"
        if not (word.isascii() and word.isdigit() and len(word) < 7 and int(word) >= least):
            self._fail(f"a whole number of {least} or more is needed after {self._words[self._next - 1]!r}, not {word}")
        self._next += 1
        return int(word)

    def _fail(self, reason: str) -> None:
        raise InputError(
            f"The rule {self._text!r} cannot be read: {reason}. A rule is like '[N+](=O)[O-] and not [F,Cl,Br,I]', "
            "'at least 2 [OX2H1]' or 'C=O within 3 of [NX3]'."
        )


def _or(one: _Parsed, other: _Parsed) -> _Parsed:
    def call(molecule: Mol, found: dict[str, Matches]) -> frozenset[int] | None:
        return _union(one.call(molecule, found), other.call(molecule, found))

    return _Parsed(call, one.has_atoms and other.has_atoms)


def _and(one: _Parsed, other: _Parsed) -> _Parsed:
    def call(molecule: Mol, found: dict[str, Matches]) -> frozenset[int] | None:
        first, second = one.call(molecule, found), other.call(molecule, found)
        return None if first is None or second is None else first | second

    return _Parsed(call, one.has_atoms or other.has_atoms)


def _not(part: _Parsed) -> _Parsed:
    def call(molecule: Mol, found: dict[str, Matches]) -> frozenset[int] | None:
        return frozenset() if part.call(molecule, found) is None else None

    return _Parsed(call, False)


def _count(number: int, pattern: str, compare: Callable[[int, int], bool], decides: bool) -> _Parsed:
    def call(molecule: Mol, found: dict[str, Matches]) -> frozenset[int] | None:
        if not compare(len(found[pattern]), number):
            return None
        return frozenset().union(*found[pattern]) if decides else frozenset()

    return _Parsed(call, decides)


def _within(bonds: int, first: str, second: str) -> _Parsed:
    def call(molecule: Mol, found: dict[str, Matches]) -> frozenset[int] | None:
        return _union(*(one | other | path for one, other, path in _close_pairs(molecule, bonds, found, first, second)))

    return _Parsed(call, True)


def _close_pairs(
    molecule: Mol, bonds: int, found: dict[str, Matches], first: str, second: str
) -> Iterator[tuple[frozenset[int], frozenset[int], frozenset[int]]]:
    """Yields pairs of matches without a common atom that are close enough, with the shortest paths between them."""
    from rdkit import Chem

    if not found[first] or not found[second]:
        return
    distance = Chem.GetDistanceMatrix(molecule)
    for one in found[first]:
        for other in found[second]:
            if one & other:
                continue
            apart = min(distance[a, b] for a in one for b in other)
            if apart > bonds:
                continue
            nearest = [(a, b) for a in one for b in other if distance[a, b] == apart]
            path = {u for a, b in nearest for u in (distance[a] + distance[b] == apart).nonzero()[0].tolist()}
            yield one, other, frozenset(path)


def _union(*parts: frozenset[int] | None) -> frozenset[int] | None:
    """All atoms of the parts that hold; None if none does."""
    holding: Iterable[frozenset[int]] = [part for part in parts if part is not None]
    return frozenset().union(*holding) if holding else None


def _matches(molecule: Mol, query: Any) -> Matches:
    return [frozenset(match) for match in molecule.GetSubstructMatches(query, maxMatches=MAX_MATCHES)]
