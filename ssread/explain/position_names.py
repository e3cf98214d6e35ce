"""Names of positions in words: what is over-represented in each, by a test with correction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

__all__ = ["name_positions"]

#: A fact names a position if its effect (Cohen's h) is at least this, a medium one.
LEAST_EFFECT = 0.5

#: It must hold for at least this share of the nodes; otherwise the position is called mixed.
LEAST_SHARE = 0.5

#: A fact is nearly as strong as the strongest if its effect is at least this share of that.
NEARLY = 0.85

#: Facts that describe atoms but do not name them: counts and raw features.
NAMELESS = re.compile(r"neighbours$|^(hydrogens|neighbours|hybridisation|chirality|element) |^type (aromatic|ring)$")


class Fact(Protocol):
    """What is needed of a :class:`ssread.explain.atlas.Trait`."""

    @property
    def fact(self) -> str: ...
    @property
    def inside(self) -> float: ...
    @property
    def effect(self) -> float: ...
    @property
    def p(self) -> float: ...


def name_positions(traits: Sequence[Sequence[Fact]], facts: Sequence[str], alpha: float = 0.05) -> list[str]:
    """A name for every position, each different: ``nitro group``, ``end of a chain``, or ``position 3``.

    A position is named after the fact of the largest effect that holds for at least half of its nodes; of facts that
    are nearly as strong, the most telling one. Where the same fact fits several positions, the one with the largest
    effect has it, and another takes its next fact or adds what distinguishes it: ``aromatic CH, next to an end``.
    Without a fact that holds for half of the nodes a position is ``mixed, with ...``, and without any that stands out
    it keeps its number.

    Args:
        traits: For every position the facts with their corrected p-values, over- and under-represented ones.
        facts: All facts, the most telling first.
        alpha: Facts with a larger p-value name nothing.
    """
    rank = {fact: number for number, fact in enumerate(facts)}
    standing_out = [_standing_out(of_position, rank, alpha) for of_position in traits]
    effects = [max((trait.effect for trait in _alike(found)), default=0.0) for found in standing_out]
    order = sorted(range(len(traits)), key=lambda k: (-effects[k], k))
    names: dict[int, str] = {}
    for k in order:
        names[k] = _name(k, traits, standing_out, names)
    return [names[k] for k in range(len(traits))]


def _standing_out(traits: Sequence[Fact], rank: Mapping[str, int], alpha: float) -> list[Fact]:
    """The facts that may name a position, the best first: those that hold for half of its nodes, then the others."""
    found = [t for t in traits if not NAMELESS.search(t.fact) and t.p <= alpha and t.effect >= LEAST_EFFECT]
    most = _alike(found)
    strongest = max((trait.effect for trait in most), default=0.0)
    close = [trait for trait in most if trait.effect >= NEARLY * strongest]
    others = [trait for trait in found if trait not in close]
    return sorted(close, key=lambda t: rank[t.fact]) + sorted(others, key=lambda t: (t not in most, -t.effect))


def _name(
    k: int, traits: Sequence[Sequence[Fact]], standing_out: Sequence[Sequence[Fact]], names: dict[int, str]
) -> str:
    found, taken = standing_out[k], {name: position for position, name in names.items()}
    if not found:
        return _different(f"position {k}", k, taken)
    alike = _alike(found)
    strongest = max(trait.effect for trait in alike)
    for trait in alike:
        if trait.effect >= NEARLY * strongest and _text(trait) not in taken:
            return _text(trait)
    other = {trait.fact: trait.inside for trait in traits[taken[_text(found[0])]]}
    gaps = [(t.inside - other.get(t.fact, 0.0), t.fact) for t in found[1:]]
    gap, fact = max(gaps, default=(0.0, ""))
    return _different(f"{_text(found[0])}, {fact}" if gap > 0 else _text(found[0]), k, taken)


def _alike(found: Sequence[Fact]) -> Sequence[Fact]:
    """The facts that hold for half of the nodes; all if there are none. Only then a rare fact may name a position."""
    return [trait for trait in found if trait.inside >= LEAST_SHARE] or found


def _text(trait: Fact) -> str:
    return trait.fact if trait.inside >= LEAST_SHARE else f"mixed, with {trait.fact}"


def _different(name: str, k: int, taken: dict[str, int]) -> str:
    while name in taken:
        name += f" ({k})"
    return name
