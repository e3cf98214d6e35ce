import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.cli import app
from ssread.data import planted
from ssread.models import ARCHITECTURES


@pytest.mark.usefixtures("mutag")
def test_datasets_are_printed_beside_the_papers_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path))
    (tmp_path / "tu").mkdir()
    (tmp_path / "tu" / "BROKEN.zip").write_text("no zip")
    printed = CliRunner().invoke(app, ["datasets"])
    assert printed.exit_code == 0
    rows = {line.split()[0]: line.split() for line in printed.output.splitlines() if line.split()}
    assert rows["MUTAG"][1:10] == ["188", "188", "17.93", "17.93", "19.79", "19.79", "2", "2", "yes"]
    if "SSREAD_MIRROR" not in os.environ:  # MUTAG came with a package
        assert rows["IMDB-MULTI"][1:10] == ["-", "1,500", "-", "13.00", "-", "65.94", "-", "3", "-"]
    assert "BROKEN" in rows
    assert "not a readable zip" in " ".join(printed.output.split())


def test_a_wrong_mirror_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSREAD_MIRROR", "nowhere")
    printed = CliRunner().invoke(app, ["datasets"])
    assert printed.exit_code == 1
    assert printed.output == "Error: SSREAD_MIRROR=nowhere is neither a folder nor a web address.\n"


def test_every_model_is_printed(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["models"])
    assert printed.exit_code == 0
    assert all(name in printed.output for name in ARCHITECTURES)
    assert "…" not in printed.output  # nothing is cut off
    assert "53,890" in printed.output
    path = tmp_path / "graphs.safetensors"
    planted(12, nodes=41, seed=0).save(path)
    printed = CliRunner().invoke(app, ["models", str(path)])
    assert printed.exit_code == 0
    assert "5 clusters" in printed.output
