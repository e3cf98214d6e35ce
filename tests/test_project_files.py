"""Files for those who join in: they are valid, and agree with the Makefile and with what CI runs."""

import re
from pathlib import Path

import pytest
import yaml

from ssread import __version__

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)

#: They download gigabytes, for other environments, or repeat tests.
NIGHTLY = ("oldest", "wheel", "coverage")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_make_targets_or_ci_itself(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    for command in commands:
        made = re.fullmatch(r"make (\w+)", command)
        assert made or command == ".ci/run" or "apt-get" in command, command
        if made:
            assert made[1] in TARGETS
            assert f"make {made[1]}" in (ROOT / ".ci" / "run").read_text() or made[1] in NIGHTLY


def test_workflows_test_every_python_of_the_package():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text())["jobs"]
    versions = jobs["test"]["strategy"]["matrix"]["python"]
    assert versions == ["3.10", "3.11", "3.12", "3.13"]
    assert f'requires-python = ">={versions[0]}"' in (ROOT / "pyproject.toml").read_text()


def test_hooks_use_tools_of_the_environment():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    tools = {hook["entry"].split()[0] for hook in repo["hooks"]}
    assert tools == {".venv/bin/ruff"}
    assert '"ruff"' in (ROOT / "pyproject.toml").read_text()


def test_what_contributing_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for path in re.findall(r"`((?:ssread|tests)/[\w./]+)`", text):
        assert (ROOT / path).exists(), path
    for name, path in [
        ("NAMES", "aggregate/factory"),
        ("ARCHITECTURES", "models/architectures"),
        ("_reader_of", "data/load"),
    ]:
        assert name in text
        assert name in (ROOT / "ssread" / f"{path}.py").read_text()


def test_everything_that_users_install_has_a_lower_bound():
    """`make oldest` installs them; without a bound it would take the first version ever."""
    text = (ROOT / "pyproject.toml").read_text()
    named = re.findall(r'"([^"]+)"', text.split("dependencies = [")[1].split("\ndocs = ")[0])
    assert len(named) > 25
    assert [name for name in named if ">=" not in name and not name.startswith("ssread[")] == []


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
