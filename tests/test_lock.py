"""requirements.lock has the versions of constraints.txt, with hashes: all that ssread[dev] needs, and nothing else."""

import importlib.metadata
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("lock", ROOT / ".ci" / "lock.py")
lock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lock)


def entries() -> list[tuple[Requirement, list[str]]]:
    text = (ROOT / "requirements.lock").read_text().removeprefix(lock.HEADER).replace(" \\\n", "")
    return [(Requirement(line.split("    ")[0]), line.split("    ")[1:]) for line in text.splitlines()]


def pins(requirements: list[Requirement]) -> set[tuple[str, str]]:
    """Names and versions, without what says which build it is."""
    return {(canonicalize_name(r.name), str(r.specifier).removeprefix("==").split("+")[0]) for r in requirements}


def needed_here() -> set[str]:
    """What ssread[dev] needs in this environment, by the metadata of what is installed; pip is part of every one.

    Of torch what its CPU builds need, as in pyproject.toml: the lock has no CUDA packages.
    """
    project = lock.tomllib.loads((ROOT / "pyproject.toml").read_text())
    stated = {entry["name"]: entry["requires-dist"] for entry in project["tool"]["uv"]["dependency-metadata"]}
    found: set[tuple[str, str]] = set()
    waiting = [("ssread", "dev")]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for line in stated.get(name) or importlib.metadata.distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                key = canonicalize_name(requirement.name)
                waiting += [(key, ""), *((key, more) for more in requirement.extras)]
    return {name for name, _ in found} - {"ssread", "pip"}


def test_constraints_and_lock_have_the_same_versions():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    chosen = pins([Requirement(line) for line in lines if not line.startswith("#")])
    assert pins([requirement for requirement, _ in entries()]) == chosen


def test_every_entry_has_hashes_and_none_has_an_address():
    for requirement, hashes in entries():
        assert hashes, requirement
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", value) for value in hashes), requirement
        assert requirement.url is None


@pytest.mark.skipif(importlib.util.find_spec("uv") is None, reason="make oldest installs without the lock")
def test_all_that_is_needed_here_is_in_the_lock_and_nothing_else():
    here = [requirement for requirement, _ in entries() if requirement.marker.evaluate()]
    unlocked = {"torch"} if sys.platform == "linux" else set()
    assert {canonicalize_name(requirement.name) for requirement in here} == needed_here() - unlocked
    for requirement in here:
        installed = Version(importlib.metadata.version(requirement.name))
        assert requirement.specifier.contains(installed, prereleases=True), requirement


def test_no_package_has_two_versions_anywhere():
    for python in ("3.10.13", "3.11.7", "3.12.1", "3.13.0", "3.14.0"):
        for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")):
            place = {"python_full_version": python, "python_version": python.rsplit(".", 1)[0]}
            place |= {"sys_platform": system, "platform_machine": machine}
            names = [requirement.name for requirement, _ in entries() if requirement.marker.evaluate(place)]
            assert len(names) == len({*names}) > 100


@pytest.mark.parametrize(
    ("tags", "fits"),
    [
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("cp39-abi3-win_amd64", True),
        ("cp312-cp312-macosx_11_0_arm64", True),
        ("cp310-cp310-manylinux2014_x86_64.manylinux_2_17_x86_64", True),
        ("cp39-cp39-win_amd64", False),
        ("cp313-cp313t-win_amd64", False),
        ("cp313-cp313-musllinux_1_2_x86_64", False),
        ("pp310-pypy310_pp73-win_amd64", False),
    ],
)
def test_files_for_supported_systems_are_kept(tags, fits):
    assert lock.fits(f"https://example.org/a/a-1.0-{tags}.whl") == fits


def test_torch_is_locked_but_for_linux_where_one_may_want_either_build():
    url = "https://example.org/torch-2.13.0-cp312-cp312-{}.whl"
    wheels = [
        {"url": url.format(platform), "hashes": {"sha256": platform}}
        for platform in ("manylinux_2_28_x86_64", "win_amd64")
    ]
    package = {"name": "torch", "version": "2.13.0", "marker": "python_full_version < '3.15'", "wheels": wheels}
    assert lock.pin_of(package).splitlines() == [
        "torch==2.13.0 ; python_full_version < '3.15' and sys_platform != 'linux' \\",
        "    --hash=sha256:win_amd64",
    ]
