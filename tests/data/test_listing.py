from pathlib import Path

import pytest

from ssread.data import GraphSet, list_datasets
from ssread.published.datasets import TABLE_1


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


def test_a_dataset_that_cannot_be_read_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutag: GraphSet
) -> None:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path))
    (tmp_path / "tu").mkdir()
    (tmp_path / "tu" / "BROKEN.zip").write_text("no zip")
    listed = {row.name: row for row in list_datasets()}
    assert "not a readable zip" in listed["BROKEN"].problem
    assert listed["BROKEN"].agrees is None
    counted = mutag.statistics()
    assert listed["MUTAG"].statistics == {name: counted[name] for name in listed["MUTAG"].statistics}
    assert (listed["MUTAG"].agrees, listed["MUTAG"].problem) == (True, "")
