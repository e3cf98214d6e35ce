"""Tables come chunk by chunk and in order, from this process and from worker processes."""

import pandas as pd
import pyarrow
import pytest
import torch
from helpers.small_models import graphs, untrained

from ssread.apply import chunks, predict, streaming
from ssread.apply.output_tables import table_of
from ssread.apply.prediction import prediction_table
from ssread.apply.streaming import as_model, read_by_workers, stream
from ssread.errors import InputError


def ids_alone(model, rows) -> pyarrow.Table:
    return table_of(rows, {})


@pytest.fixture
def model():
    return untrained(graphs(12), members=2)


def test_chunks_are_read_one_after_another(model, monkeypatch):
    """A file larger than the memory: no chunk is read before its table is asked for, but for the first few."""
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 1)
    monkeypatch.setattr(streaming, "FEW_CHUNKS", 2)
    read = []

    def counted(*arguments, **options):
        for chunk in chunks.chunks_of(*arguments, **options):
            read.append(len(chunk))
            yield chunk

    monkeypatch.setattr(streaming, "chunks_of", counted)
    tables = stream(model, graphs(12), ids_alone, workers=1)
    counts = [len(read) for _ in tables]
    assert counts == [3, 3, 3, *range(4, 13)]


def test_a_folder_stands_for_its_model(model, tmp_path):
    model.save(tmp_path / "model")
    assert as_model(model) is model
    assert as_model(tmp_path / "model").output_names == model.output_names
    (part,) = stream(tmp_path / "model", graphs(5), ids_alone)
    assert part.table.column("id").to_pylist() == ["0", "1", "2", "3", "4"]


def test_no_workers_get_a_sentence(model):
    with pytest.raises(InputError, match="workers must be 1 or more, but 0 was given"):
        next(stream(model, graphs(5), ids_alone, workers=0))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_a_sentence(model):
    with pytest.raises(InputError, match="There is no GPU that torch can use for --device cuda; use cpu"):
        next(stream(model, graphs(5), ids_alone, device="cuda"))


@pytest.mark.slow
def test_rows_read_by_workers_give_the_same_tables_in_the_same_order(model, device, tmp_path, monkeypatch):
    """As with a GPU: worker processes read, this process evaluates the model."""
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 7)
    model.save(tmp_path / "model")
    some = chunks.chunks_of(model.features, graphs(60))
    parts = read_by_workers(model.on(device), tmp_path / "model", some, prediction_table, workers=2)
    found = pyarrow.concat_tables(part.table for part in parts).to_pandas()
    pd.testing.assert_frame_equal(found, predict(model, graphs(60), device="cpu", workers=1), atol=1e-4)


def test_a_model_on_another_device_is_a_copy(model, device):
    moved = model.on(device)
    assert moved.device.type == device
    assert model.device.type == "cpu"
    assert (moved is model) == (device == "cpu")
    torch.testing.assert_close(moved.predictions(graphs(20)), model.predictions(graphs(20)), atol=1e-4, rtol=0)


@pytest.mark.slow
def test_worker_processes_give_the_same_tables(model, monkeypatch):
    monkeypatch.setattr(streaming, "FEW_CHUNKS", 1)
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 7)
    calls: list[int] = []
    one, two = (predict(model, graphs(60), workers=workers, progress=calls.append) for workers in (1, 2))
    pd.testing.assert_frame_equal(one, two, atol=1e-6)
    assert calls == [7, 14, 21, 28, 35, 42, 49, 56, 60] * 2
