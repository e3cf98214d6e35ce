"""The text files of a TU dataset as tables, from a folder or a zip; what is no table is named by its line."""

from pathlib import Path

import numpy as np
import pytest
from helpers.tu_files import GOOD, write_folder, write_zip
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ssread.data.tu_text import TextFiles
from ssread.errors import InputError

shapes = arrays.array_shapes(min_dims=2, max_dims=2, max_side=6)
separators = st.sampled_from([",", ", ", " , ", ",\t"])
BOTH = [write_folder, write_zip]


def as_text(table: np.ndarray, separator: str, end: str = "\n") -> str:
    return "".join(separator.join(map(str, row)) + end for row in table.tolist())


def read(folder: Path, text: str, write=write_folder) -> TextFiles:
    return TextFiles(write(GOOD | {"node_attributes": text}, folder / "SET.zip"))


@given(
    table=arrays.arrays(np.int64, shapes, elements=st.integers(-(10**17), 10**17)),
    separator=separators,
    end=st.sampled_from(["\n", "\r\n", " \n"]),
    write=st.sampled_from(BOTH),
)
def test_integers_come_back(table, separator, end, write, tmp_path_factory):
    files = read(tmp_path_factory.mktemp("tu"), as_text(table, separator, end), write)
    np.testing.assert_array_equal(files.whole_numbers("node_attributes", *table.shape), table)
    assert (files.has("node_attributes"), files.has("edge_attributes"), files.name) == (True, False, "SET")


@given(
    table=arrays.arrays(np.float64, shapes, elements=st.floats(allow_infinity=False)),
    separator=st.sampled_from([",", ", "]),
)
def test_numbers_and_nan_come_back(table, separator, tmp_path_factory):
    files = read(tmp_path_factory.mktemp("tu"), as_text(table, separator))
    np.testing.assert_allclose(files.numbers("node_attributes"), table, rtol=1e-15)


@given(
    table=arrays.arrays(np.int64, shapes, elements=st.integers(0, 9)),
    data=st.data(),
    wrong=st.sampled_from(["x", "0.5", "inf", "nan", "", "99999999999999999999", "'1'"]),
)
def test_the_first_line_that_is_no_row_of_integers_is_named(table, data, wrong, tmp_path_factory):
    line = data.draw(st.integers(0, len(table) - 1))
    rows = table.tolist()
    rows[line][-1] = wrong
    text = "".join(", ".join(map(str, row)) + "\n" for row in rows)
    files = read(tmp_path_factory.mktemp("tu"), text)
    if not text.split("\n")[line].strip():  # a blank line is no line
        assert len(files.whole_numbers("node_attributes")) == len(table) - 1
        return
    sentence = rf"SET_node_attributes\.txt in .*, line {line + 1} is .*, not {table.shape[1]} integers"
    with pytest.raises(InputError, match=sentence):
        files.whole_numbers("node_attributes")


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_an_empty_file_is_an_empty_table(text, tmp_path):
    files = read(tmp_path, text)
    assert files.whole_numbers("node_attributes", columns=3).shape == (0, 3)
    assert len(files.numbers("node_attributes")) == 0


def test_tables_of_another_size_are_named(tmp_path):
    files = read(tmp_path, "1, 2\n3, 4\n")
    with pytest.raises(InputError, match="has 2 lines, but 3 are needed"):
        files.numbers("node_attributes", lines=3)
    with pytest.raises(InputError, match="has 2 columns, not 1"):
        files.whole_numbers("node_attributes", columns=1)


def test_of_several_datasets_in_a_folder_that_of_its_name_is_read(tmp_path):
    for name in ("ONE", "TWO"):
        write_folder(GOOD, tmp_path / "TWO", name)
        write_folder(GOOD, tmp_path / "both", name)
    assert TextFiles(tmp_path / "TWO").name == "TWO"
    with pytest.raises(InputError, match=r"contains 2 files NAME_graph_indicator.txt"):
        TextFiles(tmp_path / "both")


def test_folders_and_zips_that_are_no_dataset_are_named(tmp_path):
    with pytest.raises(InputError, match="There is no file or folder"):
        TextFiles(tmp_path / "SET.zip")
    with pytest.raises(InputError, match=r"contains no files NAME_graph_indicator.txt"):
        TextFiles(tmp_path)
    path = write_zip(GOOD, tmp_path / "SET.zip")
    content = path.read_bytes()
    for wrong in (content[: len(content) // 2], b"<html>Not found</html>", b""):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=r"SET.zip is not a readable zip, or only part of one"):
            TextFiles(path)
    write_zip({kind: text for kind, text in GOOD.items() if kind != "A"}, path)
    with pytest.raises(InputError, match=r"does not contain SET_A.txt, the list of edges"):
        TextFiles(path)


def test_a_damaged_member_of_a_zip_is_named(tmp_path):
    path = write_zip(GOOD, tmp_path / "SET.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"SET_A.txt") + 12] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"SET_A.txt in .* cannot be read .*: download the data again"):
        TextFiles(path).whole_numbers("A")


def test_a_member_with_a_name_that_is_not_utf8_is_named(tmp_path):
    path = write_zip(GOOD, tmp_path / "SET.zip")
    content = bytearray(path.read_bytes())
    header = content.find(b"SET_A.txt", content.find(b"PK\x03\x04")) - len("SET/") - 30
    assert content[header : header + 4] == b"PK\x03\x04"
    content[header + 7] |= 8  # "the name is UTF-8", which it is not
    content[header + 30] = 0x80
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"SET_A.txt in .* cannot be read .*download the data again"):
        TextFiles(path).whole_numbers("A")
