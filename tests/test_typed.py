"""Type checkers of users see our hints (py.typed): a strict check of a module with the layer passes, and can fail."""

import subprocess
import sys

import pytest

USER = """
import torch
from torch import Tensor

from ssread import GlobalReadout, Reading, SSRead


def read(x: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    readout = SSRead(16, num_positions=4, aggr=["max", "mean"], gamma=0.1)
    reading: Reading = readout.read(x, batch, dim_size=2)
    positions: Tensor = readout.align(x)
    width: int = readout.out_channels + GlobalReadout(16, "sum").out_channels
    assert positions.numel() and width
    return reading.vectors, reading.alignment_loss()


print(read(torch.randn(4, 16), torch.tensor([0, 0, 1, 1])))
"""


@pytest.mark.slow
def test_a_strict_check_of_a_module_that_uses_the_layer(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(USER)
    wrong.write_text(USER.replace("num_positions=4", "num_positions='4'"))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={tmp_path}",
        "wrong.py",
        "right.py",
    ]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "right.py" not in checked.stdout, checked.stdout
    assert 'wrong.py:9: error: Argument "num_positions"' in checked.stdout
    assert "Found 1 error in 1 file" in checked.stdout
