"""Every code block and every command of the README and of the documentation runs."""

import importlib
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
import torch
from helpers import processes
from helpers.pages import written
from typer.testing import CliRunner

from ssread.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLE = ROOT / "docs" / "examples" / "mutag.csv"
CI = (ROOT / ".ci" / "run").read_text()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


LINES = {line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines() if line.strip()}


#: Their blocks need a server: tests/serve/test_docs.py runs them.
WITH_SERVER = ["serve.md"]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page, "python") and page.name not in WITH_SERVER],
    ids=lambda page: page.name,
)
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
    """As they stand, but shortened: long trainings to one pass of MUTAG, benchmarks to their quickest form."""
    words = [word.replace("NCI1", "MUTAG") for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
    if {"MUTAG", "Mutagenicity"} & set(words):
        request.getfixturevalue("mutag" if "MUTAG" in words else "mirror")
    match words:
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert f"make {target}" in CI, "CI runs what it promises"
        case [".venv/bin/ssread", "serve", *_]:
            assert "serve" in [command.callback.__name__ for command in app.registered_commands]  # tests/serve runs it
        case [".venv/bin/ssread", "reproduce", "all", "--datasets", "MUTAG"]:
            pass  # tests/commands/test_reproduce_all.py runs it
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
                assert "needs a GPU" in run(script, *options, folder=tmp_path, exitcode=1)
            elif "cuda" not in options:
                short = ["--splits", "scaffold"] if script == "benchmarks/molecules.py" else []
                assert run(script, *options, "--quick", *short, folder=tmp_path)
        case _:
            pytest.fail(f"nobody runs {command!r}")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function from a dataset to a model that was trained on it for one pass, once."""
    models: dict[str, Path] = {}

    def model(data: str) -> Path:
        if data not in models:
            folder = tmp_path_factory.mktemp("trained") / "model"
            label = [] if data == "MUTAG" else ["--label", "mutagenic"]
            short = ["--quick", "--ensemble", "2", "--epochs", "1", "--workers", "1"]
            done = CliRunner().invoke(app, ["train", data, "-o", str(folder), *label, *short])
            assert done.exit_code == 0, done.output
            models[data] = folder
        return models[data]

    return model


def in_folder(words: list[str], folder: Path, request: pytest.FixtureRequest) -> list[str]:
    """A command about a model with its output in a folder of its own, and a model that was trained for one pass."""
    verb, first, *rest = words
    if any(word.endswith(".csv") for word in words):
        pytest.importorskip("rdkit")
    if verb != "train":
        data = next((word for word in rest if word == "MUTAG"), str(EXAMPLE))
        first = str(shutil.copytree(request.getfixturevalue("trained")(data), folder / "model"))
    for option in {"-o", "--figures"} & set(rest):
        place = rest.index(option) + 1
        rest[place] = str(folder / Path(rest[place]).name)
    return [verb, first, *rest, *(["--epochs", "1", "--workers", "1"] if verb == "train" else [])]


def run(script: str, *options: object, folder: Path, exitcode: int = 0) -> str:
    process = processes.start_script(ROOT / script, [*map(str, options)], folder)
    return processes.finish(process, folder, exitcode)


@pytest.mark.slow
def test_the_tutorial_shows_what_its_commands_give(tmp_path):
    """Up to what another processor makes of 186 molecules."""
    pytest.importorskip("rdkit")
    page = ROOT / "docs" / "tutorial-molecules.md"
    for command in (blocks(page, "sh")[0], blocks(page, "sh")[1]):
        words = [word.replace("runs/", f"{tmp_path}/") for word in shlex.split(command)[1:]]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "predictions.csv").set_index("name")
    shown = re.findall(
        r"^\| ([\w -]+) \| (yes|no) \| ([\d.]+) \| [^|]+ \| [\d.]+ \| ([\d.]+) \|", page.read_text(), re.MULTILINE
    )
    assert len(shown) == 4
    for name, label, probability, distance in shown:
        assert found["class"][name] == label
        assert found["p(yes)"][name] == pytest.approx(float(probability), abs=0.15)
        assert found["distance"][name] == pytest.approx(float(distance), abs=0.5)


@pytest.mark.slow
def test_the_pictures_of_the_readme_can_be_made_again(tmp_path, trained):
    pytest.importorskip("playwright")
    if shutil.which("chromium") is None:
        pytest.skip("no chromium")
    run("docs/pictures.py", tmp_path, trained(str(EXAMPLE)), written(tmp_path), folder=tmp_path)
    for name in ("positions", "report-verdict", "report-positions", "report-graph", "serve"):
        assert (tmp_path / f"{name}.png").read_bytes()[1:4] == b"PNG"


def test_the_results_page_is_what_its_script_writes(tmp_path):
    run("docs/results.py", tmp_path / "results.md", folder=tmp_path)
    pinned = f"matplotlib=={matplotlib.__version__}" in (ROOT / "constraints.txt").read_text()
    for name in (
        "results.md",
        "explanations.md",
        *["images/differences.svg"] * pinned,
    ):  # others draw a little otherwise
        assert (tmp_path / name).read_text() == (ROOT / "docs" / name).read_text(), "run python docs/results.py"


def test_the_first_pages_have_the_figures_of_the_results_page():
    glance, recipes = (ROOT / "docs" / "results.md").read_text().split("\n## By recipe\n")
    rows = dict(re.findall(r"^\| ([\w ,]+) \| .*? \| (.*?) \|", glance, re.MULTILINE))  # of Table III
    readme, questions = (" ".join((ROOT / name).read_text().split()) for name in ("README.md", "docs/faq.md"))
    mean = f"by {float(rows['mean difference, ours']):.1f} points on average"
    assert f"{mean}: better in {rows['SSRead better']}, worse in {rows['SSRead worse']}" in readme
    assert mean in questions
    assert f"the paper has {float(rows['in the paper, all cells']):+.1f}" in questions
    (together,) = re.findall(r"All cells of a dataset together, SSRead is (.*?)\. Cell by cell", glance)
    together = together.replace(" than the global readout", "")
    assert f"SSRead is {together}." in re.sub(" and |; ", ", ", readme)
    (nci1,) = re.findall(r"^\| NCI1 \|.*?([\d.]+) / ([\d.]+) \([^)]*\) \| ([\d.]+) \|$", recipes, re.MULTILINE)
    assert f"{float(nci1[0]):.1f} % on NCI1 with either readout" in readme
    assert f"{float(nci1[1]):.1f} % on NCI1 with either readout" in readme
    assert f"is {nci1[2]}. So use SSRead" in readme


def test_the_reference_has_what_the_packages_offer():
    """Every function and class, which pages and notebooks import from there."""
    pytest.importorskip("rdkit")
    reference = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.rst"))
    modules = map(importlib.import_module, re.findall(r"automodule:: (\S+)", reference))
    described = {name for module in modules for name in getattr(module, "__all__", dir(module))}
    for name in ("", ".apply", ".baselines", ".data", ".draw", ".evaluate", ".explain", ".models", ".report", ".train"):
        package = importlib.import_module(f"ssread{name}")
        offered = {one for one in package.__all__ if callable(getattr(package, one))}
        assert offered <= described, package.__name__


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target, _, heading in re.findall(r"(?<!\\)\]\(([^)#]*)(#([^)]+))?\)", text):  # SMARTS have brackets, too
        if not target.startswith("http"):
            found = page.parent / target if target else page
            assert found.exists(), target
            assert not heading or heading in headings(found), f"{target}#{heading}"


def headings(page: Path) -> set[str]:
    """The names by which links lead to the headings of a page."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}
