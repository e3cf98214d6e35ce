import pytest

from ssread.data import GraphSet
from ssread.published.datasets import TABLE_1, canonical_name


@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: row.name)
def test_every_spelling_of_a_name_is_understood(row) -> None:
    for name in (row.name, row.paper_name):
        assert {canonical_name(spelling) for spelling in (name, name.lower(), name.upper())} == {row.name}
    assert canonical_name(f"{row.name}x") is None


def test_mutag_is_the_papers(mutag: GraphSet) -> None:
    row = next(row for row in TABLE_1 if row.name == "MUTAG")
    assert row.agrees_with(mutag.statistics())
    assert not row.agrees_with(mutag[1:].statistics())
