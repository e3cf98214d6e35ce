"""Figures 1, 5 and 6 on MUTAG: drawn, and drawn the same twice."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.cli import app


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure1", "figure5", "figure6"])
def test_a_figure_is_drawn_and_the_same_bytes_twice(name, tmp_path, mutag):
    files = []
    for folder in ("one", "two"):
        words = [
            "reproduce",
            name,
            "--epochs",
            "3",
            "--device",
            "cpu",
            "--workers",
            "1",
            "--out",
            str(tmp_path / folder),
        ]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        found = sorted(Path(tmp_path / folder / name).iterdir())
        assert [path.suffix for path in found] == [".md", ".png", ".svg"]
        files.append([path.read_bytes() for path in found])
    assert files[0] == files[1]


def test_nothing_is_trained_where_only_what_there_is_is_wanted(tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "figure5", "--show", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert not list(tmp_path.rglob("*.svg"))
