"""Settings from YAML files: plain values by name, or a sentence."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ssread.commands.settings_file import read_settings
from ssread.errors import InputError

VALUES = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text("abc xyz", max_size=5))


@given(st.dictionaries(st.text("abc_", min_size=1), st.one_of(VALUES, st.dictionaries(st.text("abc"), VALUES))))
def test_plain_values_are_read_as_written(tmp_path_factory, settings):
    path = tmp_path_factory.mktemp("settings") / "config.yaml"
    path.write_text(yaml.safe_dump(settings))
    assert read_settings(path) == settings


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a list", "must consist of 'name: value' lines"),
        ("", "must consist of 'name: value' lines"),
        ("3: 4", "must consist of 'name: value' lines"),
        ("a: [1", "is not valid YAML"),
        ("x: !!python/object/apply:os.system ['true']", "is not valid YAML"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_anything_else_gets_a_sentence(text, sentence, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=rf"config\.yaml {sentence}"):
        read_settings(path)


def test_a_missing_file_gets_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"missing\.yaml cannot be read"):
        read_settings(tmp_path / "missing.yaml")
