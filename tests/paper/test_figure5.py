"""Figure 5: three molecules, divided in four ways."""

import pytest
from helpers.paper_runs import context

from ssread.paper.figure5 import FIGURE_5


@pytest.mark.slow
def test_drawn_and_the_same_bytes_twice(mutag, tmp_path):
    svg, png, page = FIGURE_5.run(context(tmp_path / "one", settings={"epochs": 3}))
    again = FIGURE_5.run(context(tmp_path / "two", settings={"epochs": 3}))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in (svg, png, page)]
    text = svg.read_text()
    columns = ("SSRead", "EigenPool (spectral)", "TopKPool", "DiffPool")
    assert [text.count(f">{name}<") for name in columns] == [3, 3, 3, 3]
    assert [text.count(f">part {k}<") for k in range(5)] == [1, 1, 1, 1, 0]
