"""The rules of the benchmark, by name: one of every kind, with decoys."""

from collections.abc import Sequence

from ssread.errors import InputError
from ssread.explain.rules import Rule, parse_rule

__all__ = ["ALL", "STANDARD_RULES", "rules_named"]

#: The word for all rules of the benchmark.
ALL = "all"

STANDARD_RULES = {
    "one group": "[N+](=O)[O-] decoys [NX2]=O [n+][O-] C(=O)[OX2H1]",
    "this and that": "[#16] and [#7]",
    "this but not that": "[N+](=O)[O-] and not [F,Cl,Br,I]",
    "ring system": "c1ccc2ccccc2c1 decoys c1ccccc1",
    "count": "at least 2 [F,Cl,Br,I]",
    "distance": "[OX2] within 3 of [NX3]",
}


def rules_named(texts: Sequence[str]) -> dict[str, Rule]:
    """Rules by name: of the benchmark, ``all`` of them, or as they are written (:mod:`ssread.explain.rules`)."""
    rules: dict[str, Rule] = {}
    for text in texts:
        chosen = STANDARD_RULES if text == ALL else {text: STANDARD_RULES.get(text, text)}
        for name, rule in chosen.items():
            if name in rules:
                raise InputError(f"The rule {name!r} is given twice.")
            rules[name] = parse_rule(rule)
    return rules
