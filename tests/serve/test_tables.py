"""Files of molecules that are damaged, or hold more than their size says."""

import io
import sys
import tracemalloc

import pyarrow
import pyarrow.parquet
import pytest
from helpers.small_models import SMILES

from ssread.apply import TrainedModel
from ssread.errors import InputError
from ssread.serve.jobs import File, Kind
from ssread.serve.memory import limited_memory
from ssread.serve.reading import read_items
from ssread.serve.settings import Limits

pytestmark = pytest.mark.xdist_group("serve")


def parquet(**columns):
    """A file in which a value that occurs in many rows is held once."""
    written = io.BytesIO()
    options = {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30, "store_schema": False}
    pyarrow.parquet.write_table(pyarrow.table(columns), written, **options)
    return written.getvalue()


def repeated(text, rows):
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), [text])


def read(features, content, what="predict", limits=None, **columns):
    kind = Kind("", what, item="table", **columns)
    return read_items(features, kind, [File("some.parquet", content)], limits or Limits())


@pytest.fixture(scope="module")
def features(models):
    return TrainedModel.load(models[0]).features


@pytest.fixture(scope="module")
def with_length(with_columns):
    return TrainedModel.load(with_columns).features


def test_a_value_that_stands_in_many_rows_does_not_take_memory_for_each(features, with_length):
    plain, long = pyarrow.array(["CCO"] * 500), repeated("C" * 400_000, 500)
    cases = [
        (features, parquet(smiles=long), {}, "The SMILES of row 1 has 400000 characters"),
        (features, parquet(smiles=plain, name=long), {"id": "name"}, "some.parquet has more than 10000000 bytes"),
        (with_length, parquet(smiles=plain, length=long), {}, "some.parquet has more than 10000000 bytes"),
    ]
    for model, content, columns, sentence in cases:
        assert len(content) < 2000
        tracemalloc.start()
        try:
            before = pyarrow.total_allocated_bytes()
            with pytest.raises(InputError, match=sentence):
                read(model, content, **columns)
            assert tracemalloc.get_traced_memory()[1] < 30_000_000
            assert pyarrow.total_allocated_bytes() - before < 10_000_000
        finally:
            tracemalloc.stop()


def test_columns_that_are_not_needed_do_not_count(with_length):
    columns = {"smiles": ["CCO"] * 500, "length": [1.0] * 500, "text": repeated("C" * 400_000, 500)}
    assert read(with_length, parquet(**columns)).usable == list(range(500))


def test_rows_are_counted_whatever_a_file_says(features):
    with pytest.raises(InputError, match=r"some\.parquet has more than 40 molecules"):
        read(features, parquet(smiles=["C"] * 41), limits=Limits(molecules=40))
    assert len(read(features, parquet(smiles=["C"] * 40), limits=Limits(molecules=40)).ids) == 40


def test_every_damage_of_a_file_is_a_sentence(features):
    whole = parquet(smiles=SMILES[:15])
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        try:
            told = f"some.parquet has {len(read(features, bytes(damaged)).ids)} rows"
        except InputError as error:
            told = str(error)
        assert "some.parquet" in told or "The SMILES of row" in told


def test_a_reader_that_finds_no_rows_is_a_sentence(features, monkeypatch):
    monkeypatch.setattr("ssread.serve.tables.read_blocks", lambda *_: iter(()))
    with pytest.raises(InputError, match=r"some\.parquet has no molecules\."):
        read(features, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts this memory")
def test_memory_is_limited_within_and_not_afterwards():
    with limited_memory(50_000_000):
        assert len(bytearray(20_000_000)) == 20_000_000
        with pytest.raises(MemoryError):
            bytearray(4_000_000_000)
    assert len(bytearray(200_000_000)) == 200_000_000
