"""Molecules labelled by rules over substructures: benchmarks of explanations with known answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import molecules
from ssread.data.task_names import CLASSIFICATION
from ssread.errors import InputError
from ssread.explain.ground_truth import DECIDING
from ssread.explain.rules import Rule

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["CLASSES", "DECOY", "rule_graphs"]

#: The graph column that marks decoys.
DECOY = "decoy"
CLASSES = ("rule does not hold", "rule holds")

#: With fewer molecules of a class, neither training nor testing says anything.
FEWEST = 25


def rule_graphs(
    graphs: GraphSet, rules: Mapping[str, Rule], size: int = 1000, seed: int = 0
) -> Iterator[tuple[str, GraphSet]]:
    """Yields for every rule a balanced sample of the molecules, labelled by the rule, with the atoms that decide.

    Half of the sample are positives. Of the negatives, half are decoys as far as there are enough: they contain a group
    of the rule or one of its decoys. There are equally many decoys of every kind, as far as there are enough: a kind is
    which of these groups a molecule contains. So one group of the rule alone does not tell positives from negatives.
    All are drawn at random, without replacement. Molecules that RDKit refuses, those in which all atoms decide, and
    repeated ones are left out.

    Args:
        graphs: Molecules, see :func:`ssread.data.rebuild_molecules.molecules`.
        rules: The rules, by name.
        size: The largest number of molecules for each rule.
        seed: Seed of the samples.
    """
    once = _first_of_each(molecules(graphs))
    if not once:
        raise InputError(
            f"{graphs.name} has no molecules that RDKit accepts, so substructures cannot be found in its graphs. "
            "Choose a file of SMILES, MUTAG or Mutagenicity."
        )
    for name, rule in rules.items():
        answers = {number: rule.answer(molecule) for number, molecule in once.items()}
        positives = [n for n, a in answers.items() if a.holds and len(a.atoms) < int(graphs.node_counts[n])]
        negatives: dict[frozenset[str], list[int]] = defaultdict(list)
        for number, answer in answers.items():
            if not answer.holds:
                negatives[answer.groups].append(number)
        chosen = _sample(positives, negatives, size, seed, f"The rule {rule.text!r}", graphs.name)
        sample = graphs[chosen]
        atoms = [(local, atom) for local, number in enumerate(chosen.tolist()) for atom in answers[number].atoms]
        deciding = torch.zeros(sample.x.size(0), dtype=torch.long)
        owner, atom = torch.tensor(atoms).T
        deciding[sample.node_ptr[owner] + atom] = 1
        holds = torch.tensor([int(answers[number].holds) for number in chosen.tolist()])
        decoys = torch.tensor([int(bool(answers[number].groups)) for number in chosen.tolist()])
        yield (
            name,
            replace(
                sample,
                name=f"{graphs.name}: {name}",
                y=holds,
                class_names=CLASSES,
                task=CLASSIFICATION,
                target_names=(),
                node_columns={**sample.node_columns, DECIDING: deciding},
                graph_columns={DECOY: decoys},
            ),
        )


def _sample(
    positives: list[int], negatives: Mapping[frozenset[str], list[int]], size: int, seed: int, rule: str, dataset: str
) -> Tensor:
    """The numbers of the molecules of a balanced sample, ascending; negatives come by the groups that they contain."""
    generator = torch.Generator().manual_seed(seed)
    count = sum(map(len, negatives.values()))
    per_class = min(size // 2, len(positives), count)
    if per_class < FEWEST:
        raise InputError(
            f"{rule} holds for {len(positives)} different molecules of {dataset} and does not hold for "
            f"{count}: at least {FEWEST} of each are needed, in a sample of {2 * FEWEST} or more."
        )
    shuffled = {groups: _shuffled(numbers, generator) for groups, numbers in negatives.items()}
    others = shuffled.pop(frozenset(), [])
    rounds = zip_longest(*shuffled.values())  # one of every kind, again and again, while there are any
    decoys = [number for one_of_each in rounds for number in one_of_each if number is not None]
    wanted = min(len(decoys), max(per_class // 2, per_class - len(others)))
    chosen = _shuffled(positives, generator)[:per_class] + decoys[:wanted] + others[: per_class - wanted]
    return torch.tensor(sorted(chosen))


def _shuffled(numbers: list[int], generator: torch.Generator) -> list[int]:
    return [numbers[place] for place in torch.randperm(len(numbers), generator=generator).tolist()]


def _first_of_each(parsed: list[Mol | None]) -> dict[int, Mol]:
    """The molecules by number, without those that RDKit refuses and without repetitions."""
    from rdkit import Chem

    first: dict[str, tuple[int, Mol]] = {}
    for number, molecule in enumerate(parsed):
        if molecule is not None:
            first.setdefault(Chem.MolToSmiles(molecule), (number, molecule))
    return dict(sorted(first.values(), key=lambda pair: pair[0]))
