"""Figures: the same bytes for the same data, with text escaped."""

import pytest

from ssread.data import from_smiles, planted
from ssread.draw import Panel, draw_panels, drawings, graph_svg, position_colours


def test_figures_are_the_same_bytes_twice(tmp_path):
    graphs = planted(2, seed=3)
    colours = position_colours(5)
    roles = graphs.node_columns["position"].split(graphs.node_counts.tolist())
    panels = [Panel(d, [colours[k] for k in role], "<b> & x") for d, role in zip(drawings(graphs), roles, strict=True)]
    once = draw_panels([panels], tmp_path / "one", {"a": "#000000"})
    assert [path.name for path in once] == ["one.svg", "one.png"]
    again = draw_panels([panels], tmp_path / "two", {"a": "#000000"})
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]
    assert b"<b>" not in once[0].read_bytes()
    assert graph_svg(panels[0]) == graph_svg(panels[0])


def test_rows_may_have_different_lengths(tmp_path):
    first, second, third = (Panel(d, ["#0072B2"] * len(d.labels), "title") for d in drawings(planted(3, seed=3)))
    svg, _ = draw_panels([[first, second], [third]], tmp_path / "uneven")
    assert svg.read_text().count(">title</text>") == 3


def test_molecules_are_drawn_by_rdkit_with_every_atom_coloured():
    pytest.importorskip("rdkit")
    (drawing,) = drawings(from_smiles(["c1ccccc1N"], ["a"]))
    svg = graph_svg(Panel(drawing, ["#0072B2"] * 7, "aniline"))
    assert svg == graph_svg(Panel(drawing, ["#0072B2"] * 7, "aniline"))
    assert svg.upper().count("#0072B2") >= 7
