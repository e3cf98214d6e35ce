"""Writes requirements.lock: the versions of constraints.txt that ssread[dev] needs, with the hashes of their files.

uv resolves for every supported Python and system at once (``[tool.uv]`` in pyproject.toml) and asks the package index
for the hashes. Run by ``make lock``, after every change of constraints.txt or of a dependency.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.utils import parse_wheel_filename

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
HEADER = "# Written by `make lock` from constraints.txt: do not edit.\n"

PYTHONS = ("cp310", "cp311", "cp312", "cp313", "cp314")
PLATFORMS = re.compile(r"any|(many)?linux.*_(x86_64|aarch64)|macosx_.*|win_(amd64|arm64)")


def main() -> None:
    """Resolves, and writes the lock."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pylock.toml"
        command = f"pip compile --quiet --no-python-downloads --universal --python-version 3.10 --output-file {path}"
        command += " --extra dev --constraints constraints.txt --no-emit-package pip pyproject.toml"
        subprocess.run([sys.executable, "-m", "uv", *command.split()], cwd=ROOT, check=True)
        packages = tomllib.loads(path.read_text(encoding="utf-8"))["packages"]
    pins = [pin_of(package) for package in packages]
    LOCK.write_text(HEADER + "".join(pins), encoding="utf-8")
    print(f"Wrote {LOCK.name}: {len(pins)} pins.")


def pin_of(package: dict[str, Any]) -> str:
    """The entry of a package.

    On Linux torch is not in the lock: the package index has builds for CUDA, other places builds for the CPU, and
    either may be wanted. There pip takes the version of constraints.txt, unchecked.
    """
    name, version = package["name"], package["version"]
    marker = package["marker"].replace(" and sys_platform != 'emscripten'", "")
    files = [file for file in package.get("wheels", []) if fits(file["url"])]
    if name == "torch":
        marker += " and sys_platform != 'linux'"
        files = [file for file in files if "linux" not in file["url"]]
    files += filter(None, [package.get("sdist")])
    return pin(f"{name}=={version} ; {marker}", [file["hashes"]["sha256"] for file in files])


def pin(requirement: str, hashes: list[str]) -> str:
    """An entry of the lock."""
    return " \\\n".join([requirement, *(f"    --hash=sha256:{value}" for value in sorted(set(hashes)))]) + "\n"


def fits(url: str) -> bool:
    """Whether a wheel is for a Python and a system that we support."""
    return any(
        PLATFORMS.fullmatch(tag.platform)
        and (
            tag.abi == "abi3"
            or tag.interpreter.startswith("py3")
            or (tag.interpreter in PYTHONS and tag.abi in (tag.interpreter, "none"))
        )
        for tag in parse_wheel_filename(url.rsplit("/", 1)[-1].replace("%2B", "+"))[3]
    )


if __name__ == "__main__":
    main()
