from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.cli import app
from ssread.data import GraphSet, list_datasets, load
from ssread.published.datasets import TABLE_1, canonical_name


def test_every_spelling_of_the_papers_names() -> None:
    assert canonical_name("D&D") == canonical_name("dd") == "DD"
    assert canonical_name("Mutagen") == "Mutagenicity"
    assert canonical_name("planted") is None


def test_mutag_is_the_papers(mutag: GraphSet) -> None:
    row = next(row for row in TABLE_1 if row.name == "MUTAG")
    assert row.agrees_with(mutag.statistics())
    assert not row.agrees_with(mutag[1:].statistics())


@pytest.mark.slow
def test_all_seven_rows_are_the_papers(mirror: Path) -> None:
    listed = {row.name: row for row in list_datasets()}
    assert [listed[row.name].agrees for row in TABLE_1] == [True] * 7
    assert {listed[row.name].source.kind for row in TABLE_1} == {"mirror"}


def test_nothing_is_downloaded_for_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path))
    listed = {row.name: row for row in list_datasets()}
    assert listed["NCI1"].source.kind == "public collection"
    assert listed["NCI1"].statistics is None
    assert listed["NCI1"].agrees is None
    assert not (tmp_path / "tu").exists()


def test_the_command_prints_ours_beside_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutag: GraphSet
) -> None:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path))
    (tmp_path / "tu").mkdir()
    (tmp_path / "tu" / "BROKEN.zip").write_text("no zip")
    printed = CliRunner().invoke(app, ["datasets"])
    assert printed.exit_code == 0
    rows = {line.split()[0]: line.split() for line in printed.output.splitlines() if line.split()}
    assert rows["MUTAG"][1:10] == ["188", "188", "17.93", "17.93", "19.79", "19.79", "2", "2", "yes"]
    assert rows["IMDB-MULTI"][1:10] == ["-", "1,500", "-", "13.00", "-", "65.94", "-", "3", "-"]
    assert "BROKEN" in rows
    assert "not a readable zip" in " ".join(printed.output.split())
    assert load("MUTAG").name == "MUTAG"


def test_a_wrong_mirror_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSREAD_MIRROR", "nowhere")
    printed = CliRunner().invoke(app, ["datasets"])
    assert printed.exit_code == 1
    assert printed.output == "Error: SSREAD_MIRROR=nowhere is neither a folder nor a web address.\n"
