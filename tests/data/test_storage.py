import contextlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from helpers.graph_strategies import small
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from ssread.data import GraphSet
from ssread.data.storage import read_stamp, write
from ssread.errors import InputError


@given(data=st.data())
def test_a_damaged_file_raises_nothing_but_an_input_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("saved") / "set.safetensors"
    small().save(path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=5)):
            content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    # A changed feature value cannot be noticed. Other damage must raise an InputError and nothing else.
    with contextlib.suppress(InputError):
        GraphSet.load(path)


def test_other_files_are_not_sets(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    with pytest.raises(InputError, match="There is no file"):
        GraphSet.load(path)
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(InputError, match="is not a graph set saved by"):
        GraphSet.load(path)
    path.write_bytes(b"not safetensors")
    with pytest.raises(InputError, match="is not a graph set saved by"):
        GraphSet.load(path)


def test_the_stamp_comes_back(tmp_path: Path) -> None:
    assert read_stamp(tmp_path / "set.safetensors") is None
    write(small(), tmp_path / "set.safetensors", stamp="made of this")
    assert read_stamp(tmp_path / "set.safetensors") == "made of this"


def test_one_hot_features_take_a_byte_each(tmp_path: Path) -> None:
    small()[:2].save(tmp_path / "set.safetensors")
    assert load_file(tmp_path / "set.safetensors")["x"].dtype == torch.uint8
    assert GraphSet.load(tmp_path / "set.safetensors").x.dtype == torch.float32
    small().save(tmp_path / "set.safetensors")  # 0.5 and 2.5 do not fit into bytes
    assert load_file(tmp_path / "set.safetensors")["x"].dtype == torch.float32


def test_a_set_that_is_not_consistent_is_not_loaded(tmp_path: Path) -> None:
    write(replace(small(), x=torch.full((5, 2), float("nan"))), tmp_path / "set.safetensors")
    with pytest.raises(InputError, match=r"set\.safetensors is damaged .*feature 'a' of node 0 in graph 0 is nan"):
        GraphSet.load(tmp_path / "set.safetensors")
