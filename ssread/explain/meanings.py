"""What the positions of a model mean, as plain data that is kept with the model."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.atlas import PositionCard, Trait, prototype_atlas
from ssread.explain.forward import opened
from ssread.explain.positions import has_positions

__all__ = ["SUMMARY", "describe_positions", "with_stored_meanings"]

#: Where the summary of a trained model keeps what :func:`describe_positions` returns.
SUMMARY = "positions"

#: Of more training graphs than this, positions are described from a random sample.
MAX_GRAPHS = 2000


def describe_positions(model: Any, graphs: GraphSet) -> list[dict[str, Any]]:
    """What the positions of a model mean: traits and activations of each card, as plain data for its summary.

    Exemplars are left out: they are nodes of these graphs, not of those that the model is later used for.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The training set.

    Returns:
        A dictionary per position; none for a model without positions or without graphs.
    """
    if not has_positions(model) or not len(graphs):
        return []
    order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:MAX_GRAPHS]
    cards = prototype_atlas(model, graphs[order.sort().values], num_exemplars=0)
    return [
        {"traits": [asdict(trait) for trait in card.traits], "activations": list(card.activations)} for card in cards
    ]


def with_stored_meanings(model: Any, cards: Sequence[PositionCard]) -> list[PositionCard] | None:
    """The cards with the traits and activations that are stored with a model; None where nothing is stored."""
    stored = getattr(opened(model), "summary", {}).get(SUMMARY)
    if not stored:
        return None
    try:
        return [
            replace(
                card,
                traits=tuple(Trait(**trait) for trait in meaning["traits"]),
                activations=tuple(map(float, meaning["activations"])),
            )
            for card, meaning in zip(cards, stored, strict=True)
        ]
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"The positions in the summary of the model are damaged ({error}): copy it again.") from None
