"""Figures of a model: which files, and for which graphs."""

from dataclasses import replace

import pytest

from ssread.data import planted
from ssread.errors import InputError
from ssread.models import model_for
from ssread.report import figures
from ssread.report.figures import draw_map, write_figures

GRAPHS = planted(2, nodes=13, seed=0, feature_noise=0.2)


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_there_is_a_figure_for_every_view_and_a_file_for_every_graph(tmp_path, readout):
    files = write_figures(model_for(GRAPHS, "gcn", readout=readout), GRAPHS, tmp_path)
    views = ["positions"] * (readout == "ssread") + ["activation-house", "activation-cycle"]
    expected = {f"{view}.{ending}" for view in [*views, "map"] for ending in ("svg", "png")}
    expected |= {f"graphs/{number:02d}-{number}-{view}.svg" for view in views for number in range(2)}
    assert {str(path.relative_to(tmp_path)) for path in files} == expected
    assert all(path.stat().st_size for path in files)


def test_names_from_the_data_cannot_leave_the_folder(tmp_path):
    graphs = replace(GRAPHS, ids=("../../up", "a/b"), class_names=("../c", "d e"))
    files = write_figures(model_for(graphs, "gcn", readout="global"), graphs, tmp_path / "figures")
    assert {path.parent for path in files} == {tmp_path / "figures", tmp_path / "figures" / "graphs"}
    assert (tmp_path / "figures" / "graphs" / "01-a_b-activation-d_e.svg").is_file()


def test_only_the_first_graphs_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "MAX_GRAPHS", 1)
    files = write_figures(model_for(GRAPHS, "gcn", readout="global"), replace(GRAPHS, class_names=("a", "b")), tmp_path)
    drawn = {path.name for path in files if path.parent.name == "graphs"}
    assert drawn == {"00-0-activation-a.svg", "00-0-activation-b.svg"}


def test_the_map_names_every_position(tmp_path):
    svg, _ = draw_map(model_for(GRAPHS, "gcn", num_positions=3), GRAPHS, tmp_path / "map")
    assert all(f"position {k}" in svg.read_text() for k in range(3))


def test_without_graphs_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(InputError, match="planted has no graphs"):
        write_figures(model_for(GRAPHS, "gcn"), GRAPHS[:0], tmp_path)
