"""What the positions of a model mean, as plain data that is kept with the model."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.atlas import Level, PositionCard, Trait, atlas_levels
from ssread.explain.consensus import consensus
from ssread.explain.forward import opened
from ssread.explain.positions import has_positions

__all__ = ["describe_positions", "stored_groups", "with_stored_meanings"]

#: Where the summary of a trained model keeps what :func:`describe_positions` returns.
POSITIONS, GROUPS = "positions", "position_groups"

#: Of more training graphs than this, positions are described from a random sample.
MAX_GRAPHS = 2000


def describe_positions(model: Any, graphs: GraphSet) -> dict[str, Any]:
    """What the positions of a model mean, as plain data for its summary.

    Exemplars are left out: they are nodes of these graphs, not of those that the model is later used for.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The training set.

    Returns:
        ``positions``: for every position its ``name``, ``share`` of nodes, ``traits`` and ``activations``; of an
        ensemble these are the positions of its consensus. ``position_groups``: for every level on which similar
        positions are merged the ``groups``, one number per position, and what each of the ``merged`` groups means.
        Nothing for a model without positions or without graphs.
    """
    if not has_positions(model) or not len(graphs):
        return {}
    order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:MAX_GRAPHS]
    described = graphs[order.sort().values]
    aligned = consensus(model, described)
    own, *merged = atlas_levels(model, described, aligned, num_exemplars=0)
    return {
        POSITIONS: [_meaning(card) for card in own.cards],
        GROUPS: [
            {"groups": list(level.groups), "merged": [_meaning(card) for card in level.cards]} for level in merged
        ],
    }


def stored_groups(model: Any) -> list[list[int]] | None:
    """The groups of positions on every level, as they were merged on the training set; None if unknown."""
    stored = _summary(model).get(GROUPS)
    return None if stored is None else _readable(lambda: [list(map(int, level["groups"])) for level in stored])


def with_stored_meanings(model: Any, levels: Sequence[Level]) -> list[Level] | None:
    """The levels with the names, traits and activations that are stored with a model; None where nothing is stored.

    A level that was stored by an earlier version without names keeps the names found on these graphs.
    """
    summary = _summary(model)
    if not summary.get(POSITIONS):
        return None
    stored = [summary[POSITIONS], *(level["merged"] for level in summary.get(GROUPS, ()))]

    def replaced() -> list[Level]:
        return [
            replace(level, cards=tuple(_with(card, m) for card, m in zip(level.cards, meanings, strict=True)))
            for level, meanings in zip(levels, stored, strict=False)
        ]

    return _readable(replaced)


def _meaning(card: PositionCard) -> dict[str, Any]:
    return {
        "name": card.name,
        "share": card.share,
        "traits": [asdict(trait) for trait in card.traits],
        "activations": list(card.activations),
    }


def _with(card: PositionCard, meaning: dict[str, Any]) -> PositionCard:
    return replace(
        card,
        name=str(meaning.get("name", card.name)),
        traits=tuple(Trait(**trait) for trait in meaning["traits"]),
        activations=tuple(map(float, meaning["activations"])),
    )


def _summary(model: Any) -> dict[str, Any]:
    return getattr(opened(model), "summary", {})


def _readable(read: Any) -> Any:
    """What a function reads from the summary; a sentence where that is damaged."""
    try:
        return read()
    except (LookupError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"The positions in the summary of the model are damaged ({error}): copy it again.") from None
