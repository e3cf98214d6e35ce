"""The rules of the benchmark by name."""

import pytest

from ssread.errors import InputError
from ssread.explain.standard_rules import STANDARD_RULES, rules_named


def test_rules_of_the_benchmark_by_name_all_of_them_and_none_twice():
    assert list(rules_named(["all"])) == list(STANDARD_RULES)
    assert [rule.text for rule in rules_named(["count", "C#N"]).values()] == [STANDARD_RULES["count"], "C#N"]
    with pytest.raises(InputError, match="'count' is given twice"):
        rules_named(["all", "count"])
