"""``ssread explain --score`` from the command line: what is measured, and what is refused."""

import pytest
from typer.testing import CliRunner

from ssread.cli import app

SMALL = ["--seeds", "2", "--epochs", "1", "--width", "4", "--workers", "1", "--device", "cpu"]


def explain(*arguments: str):
    return CliRunner().invoke(app, ["explain", *arguments])


def test_agreement_of_trainings_is_printed_and_saved(tmp_path):
    result = explain("--score", "planted", "--stability", "--cycles", "--sample", "40", *SMALL, "-o", str(tmp_path))
    assert result.exit_code == 0
    assert "| structure, 2 hops | " in result.output
    assert (tmp_path / "stability-planted.md").read_text() in result.output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--score", "x.smi", "--rule", "nitro"], "'nitro' in the rule 'nitro' is not a SMARTS"),
        (["--score", "x.smi", "--rule", "N and"], "a SMARTS is missing at the end"),
        (["--score", "x.smi", "--rule", "N", "--stability"], "--rule and --stability are different"),
        (["--score", "x.smi", "--width", "0"], "--width and --sample must be 1 or more"),
        (["model", "x.smi", "--rule", "N"], "they need --score DATASET"),
        (["model", "x.smi", "--cycles"], "they need --score DATASET"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(arguments, reason):
    result = explain(*arguments)
    assert result.exit_code != 0
    assert reason in " ".join(result.output.split())
