"""Trainings read from CSV files."""

import pytest

from ssread.errors import InputError
from ssread.evaluate.trainings_csv import KINDS, read_trainings


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cannot be read as CSV"),
        ("a,b\n1,2\n", "has no column 'key'"),
        (
            ",".join(KINDS) + "\n" + ",".join("x" for _ in KINDS) + "\n",
            "'num_positions' of .* contains values that are not numbers",
        ),
    ],
)
def test_other_files_get_a_sentence(text, sentence, tmp_path):
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_trainings([tmp_path / "runs.csv"])
