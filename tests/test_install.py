"""The wheel in environments that have its core alone, or one extra: what works, and what to install for the rest."""

import importlib.metadata
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CORE = """
import torch
from ssread import GlobalReadout, SSRead
from ssread.models import make_model

readout = SSRead(8, num_positions=3, aggr="set2set")
reading = readout.read(torch.randn(10, 8), torch.arange(10) % 3)
reading.alignment_loss().backward()
model = make_model("gin", in_channels=4, num_classes=2, hidden_channels=8)
x, edges = torch.rand(5, 4), torch.tensor([[0, 1, 3, 4], [1, 0, 4, 3]])
print(reading, model(x, edges, torch.tensor([0, 0, 0, 1, 1])).shape)
"""


def test_every_extra_that_a_sentence_names_exists():
    section = (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.MULTILINE))
    code = "".join(path.read_text() for path in (ROOT / "ssread").rglob("*.py"))
    named = set(re.findall(r"missing_extra\([^\"]*\"?[^\"]*\"?, \"(\w+)\"", code))
    assert {"molecules", "ray"} <= named <= extras
    shown = {name for page in ROOT.glob("docs/*.md") for name in re.findall(r"ssread\[(\w+)\]", page.read_text())}
    assert shown <= extras


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = ["pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", *command], check=True, timeout=120)
    (path,) = folder.glob("ssread-*.whl")
    return path


@pytest.fixture
def installed(wheel, tmp_path):
    """Unpacks the wheel into an environment with what it requires for some extras, and nothing else."""
    needed: set[str] = set()

    def add(requires: list[str], extras: set[str]) -> None:
        for requirement in map(Requirement, requires):
            marked = requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in extras or {""}
            )
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if marked and name == "ssread":
                add(requires, requirement.extras)
            elif marked and name not in needed:
                needed.add(name)
                add(importlib.metadata.distribution(name).requires or [], requirement.extras)

    def install(*extras: str) -> Path:
        site = tmp_path / "site"
        site.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
            (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
            description = Parser().parsestr(archive.read(metadata).decode())
        add(description.get_all("Requires-Dist", []), {"", *extras})
        for name in needed:
            distribution = importlib.metadata.distribution(name)
            tops = {file.parts[0] for file in distribution.files or [] if file.parts[0] not in ("..", "__pycache__")}
            for top in tops:
                if not (site / top).exists():
                    (site / top).symlink_to(Path(str(distribution.locate_file(top))))
        return site

    return install


def run(site: Path, *words: str, ok: bool = True) -> str:
    """Runs Python with the environment's packages alone."""
    start = f"import sys; sys.path.insert(0, {str(site)!r}); sys.argv[1:] = {[*words]!r}; "
    if words[0] == "-c":
        start = f"import sys; sys.path.insert(0, {str(site)!r})\n{words[1]}"
    else:
        start += "from ssread.__main__ import main; main()"
    done = subprocess.run(
        [sys._base_executable, "-I", "-S", "-c", start], cwd=site.parent, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode == 0) == ok, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_core_needs_torch_pyg_and_numpy_alone(installed):
    site = installed()
    assert not any((site / name).exists() for name in ("pandas", "sklearn", "typer", "scipy", "safetensors"))
    assert "Reading(vectors=[3, 48]" in run(site, "-c", CORE)
    said = run(site, "--help", ok=False)
    assert said == "Error: The command line needs typer: pip install 'ssread[cli]'.\n"
    said = run(site, "-c", "from ssread import SSReadClassifier", ok=False)
    assert re.search(r"ssread.SSReadClassifier needs \w+: pip install 'ssread\[cli\]'.\n$", said)


@pytest.mark.slow
def test_the_command_line_without_further_extras(installed):
    site, molecules = installed("cli"), str(ROOT / "docs" / "examples" / "mutag.csv")
    assert "compare" in run(site, "--help")
    short = ["--epochs", "1", "--folds", "2", "--seeds", "1", "--workers", "1", "--positions", "2"]
    assert "planted" in run(site, "compare", "planted", *short, "--out", "out")
    said = run(site, "train", molecules, "--label", "mutagenic", "-o", "model", "--quick", ok=False)
    assert said.endswith("needs RDKit: pip install 'ssread[molecules]'.\n")
    said = run(site, "compare", "planted", *short, "--out", "out2", "--on", "ray", ok=False)
    assert said.endswith("needs Ray: pip install 'ssread[ray]'.\n")


@pytest.mark.slow
def test_molecules_are_learnt_with_their_extra(installed):
    site, molecules = installed("molecules"), str(ROOT / "docs" / "examples" / "mutag.csv")
    run(site, "train", molecules, "--label", "mutagenic", "-o", "model", "--quick", "--epochs", "1", "--workers", "1")
    assert (site.parent / "model" / "card.md").exists()
