"""Builds wheel and sdist, installs each into empty environments, and does what every extra promises.

    python .ci/try_wheel.py [EXTRAS ...] [sdist]

uv makes the environments, with the versions of constraints.txt. Without arguments everything in USES is tried, and the
sdist. Run by ``make wheel``.
"""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOLECULES = ROOT / "docs" / "examples" / "mutag.csv"
LAYER = """
import torch
from ssread import SSRead
from ssread.models import make_model
reading = SSRead(8, num_positions=3).read(torch.randn(10, 8), torch.arange(10) % 3)
reading.alignment_loss().backward()
print(reading, type(make_model("gin", in_channels=4, num_classes=2)).__name__)
"""
SHORT = "--epochs 1 --folds 2 --seeds 1 --workers 1 --positions 2 --out out"
TRAIN = f"train {MOLECULES} --label mutagenic -o model --quick --epochs 1 --workers 1"
PREDICT = f"predict model {MOLECULES} -o predictions.csv"
SCORE = f"explain --score {MOLECULES} --rule c1ccc2ccccc2c1 --sample 60 --explained 1 -o scores"
SCORE += " --seeds 1 --epochs 1 --workers 1"

#: Extras, and commands of ssread that need them; ``SERVE`` starts a server, asks it, and stops it.
USES = {
    "": [],
    "gpu": [],
    "cli": [f"compare planted {SHORT}"],
    "molecules": [TRAIN, PREDICT],
    "kernels": [f"compare MUTAG {SHORT}"],
    "ray": [f"compare planted {SHORT} --on ray"],
    "molecules,explain": [SCORE],
    "molecules,export": [TRAIN, "export model --format onnx"],
    "serve": [TRAIN, "SERVE"],
    "all": [TRAIN, PREDICT, SCORE, "export model --format onnx", "SERVE"],
}


def main(chosen: list[str]) -> None:
    """Builds, then tries."""
    with tempfile.TemporaryDirectory() as folder:
        uv("build", "--quiet", "--out-dir", folder, ROOT)
        (wheel,), (sdist,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
        for what in chosen or [*USES, "sdist"]:
            if what == "sdist":
                attempt(sdist, "", [])
            else:
                attempt(wheel, what, USES[what])


def attempt(package: Path, extras: str, commands: list[str]) -> None:
    """Installs a file with extras into an empty environment, and runs the layer and some commands there."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place, programs = Path(folder), Path(folder) / "env" / "bin"
        uv("venv", "--quiet", "--python", sys.executable, place / "env")
        what = f"ssread[{extras}] @ {package.as_uri()}" if extras else f"ssread @ {package.as_uri()}"
        options = ("--quiet", "--no-config", "--constraints", ROOT / "constraints.txt")
        uv("pip", "install", *options, "--python", place / "env", what)
        run([programs / "python", "-c", LAYER], place)
        for command in commands:
            if command == "SERVE":
                serve(programs / "ssread", place)
            else:
                run([programs / "ssread", *shlex.split(command)], place)
    print(f"{package.name}[{extras}]: works ({time.monotonic() - started:.0f} s)", flush=True)


def serve(program: Path, place: Path) -> None:
    """Serves the model until it has answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([program, "serve", "model", "--port", str(port)], cwd=place, env=clean(place))
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5).read()
                break
            except OSError:
                time.sleep(0.5)
        else:
            sys.exit("ssread serve did not answer within five minutes.")
    finally:
        server.terminate()
        server.wait(60)


def run(words: list[object], place: Path) -> None:
    """Runs a program in a folder of its own; what it printed is shown if it fails."""
    done = subprocess.run(list(map(str, words)), cwd=place, env=clean(place), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def clean(place: Path) -> dict[str, str]:
    """The environment variables of a user who has nothing of ssread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SSREAD", "VIRTUAL"))}
    return {**kept, "SSREAD_DATA": str(place / "data")}


def uv(*words: object) -> None:
    """Runs uv."""
    subprocess.run([sys.executable, "-m", "uv", *map(str, words)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
