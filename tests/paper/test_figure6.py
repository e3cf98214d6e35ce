"""Figure 6: two molecules of each class, with either readout."""

import re

import pytest
from helpers.paper_runs import context

from ssread.paper.figure6 import FIGURE_6


@pytest.mark.slow
def test_drawn_and_the_same_bytes_twice(mutag, tmp_path):
    svg, png, page = FIGURE_6.run(context(tmp_path / "one", settings={"epochs": 3}))
    again = FIGURE_6.run(context(tmp_path / "two", settings={"epochs": 3}))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in (svg, png, page)]
    titles = re.findall(r">((?:SSRead|GRead), class [^<]+)<", svg.read_text())
    names = [name for name in mutag.class_names for _ in range(2)]
    assert titles == [f"{readout}, class {name}" for readout in ("SSRead", "GRead") for name in names]
    assert "of these 4 it is above 90%" in page.read_text()
