"""Settings from YAML files: plain values by name, or a sentence."""

import inspect

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ssread.commands.settings_file import COMPARISON, READING, read_settings
from ssread.data.molecules import from_table, read_molecules
from ssread.data.networks import read_networks
from ssread.data.planted import planted
from ssread.data.reading_schema import ReadingOptions
from ssread.data.tu import read_tu
from ssread.errors import InputError

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "epochs": st.integers(1, 10**6),
        "learning_rate": st.floats(1e-9, 1.0),
        "positions": st.integers(1, 64) | st.just("auto"),
        "split": st.text("abc xyz", min_size=1, max_size=5),
        "model": st.fixed_dictionaries({}, optional={"dropout": st.floats(0, 0.9), "normalize": st.booleans()}),
        "data": st.fixed_dictionaries({}, optional={"nodes": st.integers(1, 9), "degree": st.booleans()}),
    },
)


@given(SETTINGS)
def test_plain_values_are_read_as_written(tmp_path_factory, settings):
    path = tmp_path_factory.mktemp("settings") / "config.yaml"
    path.write_text(yaml.safe_dump(settings))
    assert read_settings(path, COMPARISON) == settings


@pytest.mark.parametrize(("text", "value"), [("1e-3", 0.001), ("1", 1.0), ("2.5E+1", 25.0), (".5", 0.5)])
def test_numbers_are_written_as_people_write_them(text, value, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"learning_rate: {text}")
    assert read_settings(path, COMPARISON) == {"learning_rate": value}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a list", "must consist of 'name: value' lines"),
        ("", "must consist of 'name: value' lines"),
        ("3: 4", "must consist of 'name: value' lines"),
        ("a: [1", "is not valid YAML"),
        ("x: !!python/object/apply:os.system ['true']", "is not valid YAML"),
        (b"\xff\xfe", "cannot be read"),
        ("model: " + "[" * 5000, "is not valid YAML: it is nested more than 20 levels deep"),
        ("model: " + "{a: " * 5000, "is not valid YAML: it is nested more than 20 levels deep"),
        ("a: &a [x, x]\nb: [*a, *a]", "is not valid YAML: references"),
        ("epochs: 2020-13-45", "is not valid YAML: month"),
        ("# " + "x" * (1 << 20), "is larger than 1,048,576 bytes"),
    ],
)
def test_anything_else_gets_a_sentence(text, sentence, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=rf"config\.yaml {sentence}"):
        read_settings(path, COMPARISON)


def test_a_missing_file_gets_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"missing\.yaml cannot be read"):
        read_settings(tmp_path / "missing.yaml", READING)


@pytest.mark.parametrize(
    ("schema", "text", "sentence"),
    [
        (COMPARISON, "data: 5", "data must be values by name, but is 5"),
        (COMPARISON, "learn: 5", "learn must be a list, but is 5"),
        (COMPARISON, "task: null", "task must be a list, but is empty"),
        (COMPARISON, "learning_rate: -1", "learning_rate must be above 0, but is -1"),
        (COMPARISON, "model: {dropout: []}", r"model\.dropout must be a number, but is \[\]"),
        (COMPARISON, "model: {hidden_channels: x}", r"model\.hidden_channels must be a whole number"),
        (COMPARISON, "data: {nodes: [1, x]}", r"data\.nodes.* must be a whole number"),
        (READING, "epochs: 3", "There is no setting 'epochs'. Choose from attributes, degree"),
        (READING, "out: x", "There is no setting 'out'"),
        (READING, "data: x", "There is no setting 'data'"),
        (READING, "console: 1", "There is no setting 'console'"),
        (READING, "folds: abc", "There is no setting 'folds'"),
        (READING, "smiles: 5", "smiles must be text, but is 5"),
        (READING, "smiles: ''", "smiles must be not empty"),
        (READING, "on_error: maybe", "There is no on_error 'maybe'. Choose from raise, skip"),
    ],
)
def test_what_the_schema_does_not_have_gets_a_sentence_with_the_name(schema, text, sentence, tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"settings\.yaml: {sentence}"):
        read_settings(path, schema)


def test_every_option_of_every_reader_is_in_the_schema():
    """One that a reader has and the schema lacks could not be set in a file."""
    readers = (read_tu, planted, read_molecules, from_table, read_networks)
    taken = {name for reader in readers for name in inspect.signature(reader).parameters}
    assert taken - {"path", "table", "folder"} == {*ReadingOptions.model_fields} - {"graph_features"}
