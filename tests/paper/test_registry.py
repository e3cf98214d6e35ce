"""The registry: names, choices, folders."""

import pytest
from helpers.paper_runs import context, printed

from ssread.errors import InputError
from ssread.paper.registry import PAPER, heading, item

MADE = [name for name, entry in PAPER.items() if entry.code]


def test_every_table_and_figure_of_the_paper_is_listed():
    assert list(PAPER) == [*(f"table{n}" for n in range(1, 6)), *(f"figure{n}" for n in range(1, 9))]


@pytest.mark.parametrize("name", MADE)
def test_progress_of_whatever_can_be_made(name, tmp_path):
    made = context(tmp_path, datasets=[], settings={})
    done, total, unit = item(name).progress(made)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [], "looking makes no folder"
    assert 0 <= done <= total
    assert total > 0
    assert unit
    assert callable(item(name).run)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("tabel3", "The paper has no 'tabel3'. Choose from table1"), ("figure2", "figure2 .* cannot be made: a diagram")],
)
def test_what_cannot_be_made_gets_a_sentence(name, sentence):
    with pytest.raises(InputError, match=sentence):
        item(name)


def test_names_of_datasets_as_the_paper_writes_them(tmp_path):
    made = context(tmp_path, datasets=["imdb-b", "MUTAG", "D&D"])
    assert made.chosen_datasets() == ["DD", "MUTAG", "IMDB-BINARY"]
    with pytest.raises(InputError, match=r"no dataset 'DD' here\. Choose from MUTAG, IMDB-BINARY"):
        made.chosen_datasets(("MUTAG", "IMDB-BINARY"))


def test_a_folder_that_cannot_be_made_gets_a_sentence(tmp_path):
    (tmp_path / "table3").write_text("a file, not a folder")
    with pytest.raises(InputError, match="table3 cannot be written: File exists"):
        context(tmp_path).folder("table3")


def test_a_table_is_printed_under_its_heading(tmp_path):
    made = context(tmp_path)
    made.print_table("figure8", ["dataset", "seconds"], [["NCI1", "1.5"]])
    words = [word for word in printed(made).split() if set(word) != {"─"}]
    assert words == [*heading("figure8").split(), "dataset", "seconds", "NCI1", "1.5"]


def test_headings():
    assert [heading(name).split(":")[0] for name in ("table1", "table5", "figure4")] == [
        "Table I",
        "Table V",
        "Figure 4",
    ]
