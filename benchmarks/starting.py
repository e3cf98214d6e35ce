"""What starting the command line costs: help, lists and refusals of wrong options.

    python benchmarks/starting.py [--rounds 15] [--before FOLDER] [--quick]

Every command is a process of its own; the commands take turns, and the first round, which fills caches, does not count.
Times are processor time, which other work on the machine hardly changes; ratios are to Python with the command-line
library alone. ``--before`` runs the same commands in another checkout. Memory is the peak of the process, but no less
than what this script itself holds.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
MIRROR = HERE.parent / "shared" / "tudataset"

BASE = "python, typer and rich"
FIRST = "ssread datasets, first time"
SSREAD = ["-m", "ssread"]
COMMANDS = {
    "python": ["-c", "pass"],
    BASE: ["-c", "import typer, rich"],
    "import ssread": ["-c", "import ssread"],
    "ssread --help": [*SSREAD, "--help"],
    "ssread models --help": [*SSREAD, "models", "--help"],
    "ssread compare MUTAG --folds x": [*SSREAD, "compare", "MUTAG", "--folds", "x"],
    "ssread compare MUTAG --metric x": [*SSREAD, "compare", "MUTAG", "--metric", "x"],
    "ssread reproduce table9": [*SSREAD, "reproduce", "table9"],
    "ssread train x.csv -o x --ensemble 0": [*SSREAD, "train", "x.csv", "-o", "x", "--ensemble", "0"],
    FIRST: [*SSREAD, "datasets"],
    "ssread datasets": [*SSREAD, "datasets"],
}


def run(command: list[str], checkout: Path, data: Path) -> tuple[float, float]:
    """Milliseconds of processor time and peak megabytes of one process."""
    environment = {**os.environ, "SSREAD_DATA": str(data)}
    if MIRROR.is_dir():
        environment.setdefault("SSREAD_MIRROR", str(MIRROR))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, *command], cwd=checkout, env=environment, **quiet)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return 1e3 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def measure(checkouts: list[Path], rounds: int, data: Path) -> dict[tuple[str, Path], tuple[float, float, float]]:
    """Median milliseconds, median ratio to the base, and peak megabytes of every command in every checkout."""
    turns = [(name, checkout) for name in COMMANDS for checkout in checkouts]
    found: dict[tuple[str, Path], list[tuple[float, float]]] = {turn: [] for turn in turns}
    for number in range(rounds + 1):
        for name, checkout in turns:
            own = data / str(checkouts.index(checkout))
            if name == FIRST:
                shutil.rmtree(own, ignore_errors=True)
            taken = run(COMMANDS[name], checkout, own)
            if number > 0:
                found[name, checkout].append(taken)
    base = {checkout: [ms for ms, _ in found[BASE, checkout]] for checkout in checkouts}
    return {
        (name, checkout): (
            statistics.median(ms for ms, _ in taken),
            statistics.median(mine / other for (mine, _), other in zip(taken, base[checkout], strict=True)),
            max(megabytes for _, megabytes in taken),
        )
        for (name, checkout), taken in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="how often every command is run")
    parser.add_argument("--before", type=Path, help="another checkout, to compare with")
    parser.add_argument("--quick", action="store_true", help="one round")
    options = parser.parse_args()
    checkouts = [HERE] if options.before is None else [options.before.resolve(), HERE]
    with tempfile.TemporaryDirectory() as data:
        found = measure(checkouts, 1 if options.quick else options.rounds, Path(data))
    names = ["now"] if options.before is None else ["before", "now"]
    columns = [f"{column}, {name}" for name in names for column in ("ms", "ratio", "MB")]
    print("| command | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in COMMANDS:
        cells = [found[name, checkout] for checkout in checkouts]
        print(f"| {name} | " + " | ".join(f"{ms:.0f} | {ratio:.1f} | {mb:.0f}" for ms, ratio, mb in cells) + " |")


if __name__ == "__main__":
    main()
