"""Figure 1: node vectors and prototypes by position."""

import re

import pytest
from helpers.paper_runs import context

from ssread.paper.figure1 import FIGURE_1


@pytest.mark.slow
def test_drawn_and_the_same_bytes_twice(mutag, tmp_path):
    svg, png, page = FIGURE_1.run(context(tmp_path / "one", settings={"epochs": 3}))
    again = FIGURE_1.run(context(tmp_path / "two", settings={"epochs": 3}))
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in (svg, png, page)]
    text = svg.read_text()
    title, *names = sorted(re.findall(r">([^<>]+)</text>", text))
    assert title == "MUTAG: node vectors by t-SNE; diamonds: prototypes"
    assert len(names) == len({*names}) == 4  # what each position means, or its number
