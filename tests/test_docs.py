"""Every code block and every command of the README and of the documentation runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from ssread.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CI = (ROOT / ".ci" / "run").read_text()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


LINES = {line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines() if line.strip()}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run(page, tmp_path, monkeypatch, request):
    code = blocks(page, "python")
    if any("smiles" in block for block in code):
        pytest.importorskip("rdkit")
    if any("MUTAG" in block for block in code):
        request.getfixturevalue("mutag")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(code, start=1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(LINES))
def test_commands_run(command, tmp_path, request):
    """As they stand, but shortened: long trainings to one pass, benchmarks to their quickest form."""
    words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
    if {"MUTAG", "NCI1", "Mutagenicity"} & set(words):
        request.getfixturevalue("mutag" if "MUTAG" in words else "mirror")
    match words:
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert f"make {target}" in CI, "CI runs what it promises"
        case [".venv/bin/ssread", *rest]:
            if rest[0] in ("compare", "reproduce"):
                rest += ["--epochs", "1", "--folds", "2", "--seeds", "1", "--workers", "1", "--out", str(tmp_path)]
            if rest[:2] == ["explain", "--score"]:
                rest += ["--epochs", "1", "--seeds", "1", "--explained", "1", "--workers", "1", "-o", str(tmp_path)]
            elif rest[0] in ("train", "predict", "embed", "export", "explain"):
                rest = in_folder(rest, tmp_path, request)
            result = CliRunner().invoke(app, rest)
            assert result.exit_code == 0, result.output
        case [".venv/bin/python", script, *options] if script.startswith("benchmarks/"):
            if script in ("benchmarks/gpu.py", "benchmarks/precision.py") and not torch.cuda.is_available():
                assert "needs a GPU" in run([sys.executable, script, *options], returncode=1)
            elif "cuda" not in options:
                assert run([sys.executable, script, *options, "--quick"])
        case _:
            pytest.fail(f"nobody runs {command!r}")


def in_folder(words: list[str], folder: Path, request: pytest.FixtureRequest) -> list[str]:
    """A command about a model with its output in a folder of its own, and a model that was trained for one pass."""
    verb, first, *rest = words
    if any(word.endswith(".csv") for word in words):
        pytest.importorskip("rdkit")
    if verb != "train":
        data = next((word for word in rest if word == "MUTAG"), "docs/examples/mutag.csv")
        first = str(folder / "model")
        label = [] if data == "MUTAG" else ["--label", "mutagenic"]
        more = ["--quick", "--epochs", "1", "--workers", "1"]
        trained = CliRunner().invoke(app, ["train", data, "-o", first, *label, *more])
        assert trained.exit_code == 0, trained.output
    for option in {"-o", "--figures"} & set(rest):
        place = rest.index(option) + 1
        rest[place] = str(folder / Path(rest[place]).name)
    return [verb, first, *rest, *(["--epochs", "1", "--workers", "1"] if verb == "train" else [])]


def run(words: list[str], returncode: int = 0) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == returncode, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_picture_of_the_readme_can_be_drawn_again(tmp_path, mutag):
    run([sys.executable, "docs/pictures.py", str(tmp_path / "picture.png")])
    assert (tmp_path / "picture.png").read_bytes()[1:4] == b"PNG"


def test_the_results_page_is_what_its_script_writes(tmp_path):
    run([sys.executable, "docs/results.py", str(tmp_path / "results.md")])
    for name in ("results.md", "images/differences.svg"):
        assert (tmp_path / name).read_text() == (ROOT / "docs" / name).read_text(), "run python docs/results.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
