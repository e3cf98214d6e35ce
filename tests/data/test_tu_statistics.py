"""Sizes that are counted without torch are those of the loaded set."""

from pathlib import Path
from typing import Any

import pytest
from helpers.graph_strategies import raw_graphs
from helpers.tu_files import GOOD, Files, write_folder, write_zip
from hypothesis import given

from ssread.data import load, sources
from ssread.data.tu_statistics import tu_statistics
from ssread.errors import InputError
from ssread.published.datasets import TABLE_1


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def files_of(raw: dict[str, Any]) -> Files:
    """The text files of raw graphs, with whatever is odd about their edges."""
    first, lines = 1, {"A": "", "graph_indicator": ""}
    for graph, count in enumerate(raw["num_nodes"]):
        own = raw["edges"].T[raw["graph_of_edge"] == graph]
        lines["A"] += "".join(f"{row + first}, {column + first}\n" for row, column in own)
        lines["graph_indicator"] += f"{graph + 1}\n" * count
        first += count
    if "y" in raw:
        lines["graph_labels"] = "".join(f"{label}\n" for label in raw["y"])
    return lines


def of_the_loaded_set(path: Path) -> dict[str, Any]:
    statistics = load(path).statistics()
    return {name: statistics[name] for name in ("graphs", "mean_nodes", "mean_edges", "classes")}


@given(raw=raw_graphs(min_nodes=1))
def test_duplicates_loops_and_edges_in_one_direction_count_as_in_the_loaded_set(raw, tmp_path_factory):
    files, folder = files_of(raw), tmp_path_factory.mktemp("tu")
    path = write_folder(files, folder / "SET")
    assert tu_statistics(path) == of_the_loaded_set(path)
    assert tu_statistics(path) == tu_statistics(write_zip(files, folder / "SET.zip"))


def test_an_edge_counts_once(tmp_path, data_folder):
    files = {"A": "1,2\n2,1\n1,2\n3,3\n3,3\n2,3\n", "graph_indicator": "1\n1\n1\n3\n", "graph_labels": "5\n5\n7\n"}
    path = write_folder(files, tmp_path / "SET")
    assert tu_statistics(path) == {"graphs": 3, "mean_nodes": 4 / 3, "mean_edges": 1.0, "classes": 2}
    assert tu_statistics(path) == of_the_loaded_set(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [row.name for row in TABLE_1])
def test_the_papers_datasets(name, mirror):
    path = sources.find(name).place
    assert tu_statistics(path) == of_the_loaded_set(path)


def test_the_second_time_the_text_is_not_parsed(tmp_path, data_folder, monkeypatch):
    path = write_zip(GOOD, tmp_path / "SET.zip")
    first = tu_statistics(path)
    (kept,) = (data_folder / "processed").iterdir()
    monkeypatch.setattr("pandas.read_csv", None)
    assert tu_statistics(path) == first
    monkeypatch.undo()
    monkeypatch.setenv("SSREAD_DATA", str(data_folder))
    for damaged in ("", "[]", "{}", '{"stamp": 3}'):
        kept.write_text(damaged)
        assert tu_statistics(path) == first
    write_zip(GOOD | {"graph_indicator": "1\n1\n1\n1\n", "graph_labels": "1\n"}, path)
    assert tu_statistics(path)["graphs"] == 1


def test_a_data_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "file"))
    assert tu_statistics(write_zip(GOOD, tmp_path / "SET.zip"))["graphs"] == 2


def test_what_cannot_be_read_gets_a_sentence_and_is_not_kept(tmp_path, data_folder):
    with pytest.raises(InputError, match="an edge between nodes 1 and 9"):
        tu_statistics(write_zip(GOOD | {"A": "1,9\n"}, tmp_path / "SET.zip"))
    assert not data_folder.exists()
