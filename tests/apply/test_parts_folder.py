"""A folder of parts, taken up again: what fits is kept, everything else gets a sentence."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from ssread.apply.library import LibraryFile
from ssread.apply.parts_folder import Best, begin, finish, part_path, write_part_of
from ssread.errors import InputError

OPTIONS = {"rows_of_a_part": 2, "top": None}


def table(values, problems=None):
    count = len(values)
    columns = {"id": [str(n) for n in range(count)], "smiles": ["C"] * count, "p(yes)": values}
    columns["problem"] = pyarrow.array(problems or [None] * count, pyarrow.string())
    return pyarrow.table(columns)


@pytest.fixture
def files(tmp_path):
    """Three inputs."""
    (tmp_path / "library").mkdir()
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / "library" / name).write_text(name)
    return [LibraryFile(path, path.name) for path in sorted((tmp_path / "library").iterdir())]


@pytest.fixture
def folder(tmp_path, files):
    """Parts of the first two inputs."""
    folder = tmp_path / "out"
    folder.mkdir()
    begin(folder, OPTIONS, files)
    for number, name in enumerate(("a.csv", "a.csv", "b.csv")):
        write_part_of(name, [table([0.5, 0.1 * number], [None, "it is bad"])], part_path(folder, number), None)
    return folder


def test_inputs_without_a_part_may_change_be_removed_or_added(folder, files, tmp_path):
    files[2].path.write_text("more than before")
    begin(folder, OPTIONS, files)
    begin(folder, OPTIONS, files[:2])
    (tmp_path / "d.csv").touch()
    begin(folder, OPTIONS, [*files[:2], LibraryFile(tmp_path / "d.csv", "d.csv")])
    told = json.loads((folder / "manifest.json").read_text())["inputs"]
    assert [entry["name"] for entry in told] == ["a.csv", "b.csv", "d.csv"]


def test_inputs_with_parts_may_not(folder, files, tmp_path):
    (tmp_path / "0.csv").touch()
    before = (folder / "manifest.json").read_text()
    others = [[LibraryFile(tmp_path / "0.csv", "0.csv"), *files], files[1:], [files[0], files[2]], files[:1], []]
    for number, other in zip((0, 0, 2, 2, 0), others, strict=True):
        with pytest.raises(InputError, match=f"begun with other inputs .* remove part-00000{number}.parquet and all"):
            begin(folder, OPTIONS, other)
        assert (folder / "manifest.json").read_text() == before
    with pytest.raises(InputError, match="begun with other options"):
        begin(folder, {**OPTIONS, "top": 3}, files)


def test_without_parts_a_folder_is_begun_anew_if_it_is_ours(folder, files):
    for part in folder.glob("part-*.parquet"):
        part.unlink()
    begin(folder, {**OPTIONS, "top": 3}, files[1:])
    told = json.loads((folder / "manifest.json").read_text())
    assert (told["options"]["top"], len(told["inputs"])) == (3, 2)
    (folder / "manifest.json").write_text('{"name": "something else"}')
    with pytest.raises(InputError, match="begun with other options"):
        begin(folder, OPTIONS, files)
    assert (folder / "manifest.json").read_text() == '{"name": "something else"}'


def test_hidden_files_do_not_stop_a_first_call(files, tmp_path):
    """Such as what a kill while the first manifest was written leaves."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in (".manifest.json.0f-1.x", ".DS_Store"):
        (folder / name).touch()
    begin(folder, OPTIONS, files)
    assert json.loads((folder / "manifest.json").read_text())["options"] == OPTIONS
    (folder / "manifest.json").unlink()
    (folder / "x").touch()
    with pytest.raises(InputError, match=r"exists already and has no manifest\.json"):
        begin(folder, OPTIONS, files)


def test_the_manifest_says_which_file_a_part_is_of(folder):
    done = finish(folder, None, found=1)
    assert (done.rows, done.problems, done.parts, done.found) == (6, 3, 3, 1)
    told = json.loads((folder / "manifest.json").read_text())
    assert [part["file"] for part in told["parts"]] == ["a.csv", "a.csv", "b.csv"]
    assert (folder / "skipped.csv").read_text().splitlines()[1:] == [
        "a.csv,1,C,it is bad",
        "a.csv,1,C,it is bad",
        "b.csv,1,C,it is bad",
    ]


def test_the_best_rows_have_the_largest_values_the_first_of_equal_ones():
    values = table([0.5, 0.9, None, 0.9, 0.1])
    assert Best(3, None).of(values)["id"].to_pylist() == ["1", "3", "0"]
    with pytest.raises(InputError, match=r"no column 'id' to choose rows by; choose one of p\(yes\)"):
        Best(3, "id").of(values)


def test_a_damaged_part_is_named(folder):
    part = part_path(folder, 1)
    part.write_bytes(part.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"part-000001\.parquet is damaged: remove it"):
        finish(folder, None, found=0)
    pyarrow.parquet.write_table(table([0.5]), part)
    with pytest.raises(InputError, match=r"part-000001\.parquet is damaged: remove it"):
        finish(folder, None, found=0)
