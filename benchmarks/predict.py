"""Prediction from SMILES: molecules per second, where the time goes, and how much memory a long file takes.

    python benchmarks/predict.py [--quick] [--rows 20000] [--arch gcn] [--workers 2] [--memory-rows 1000000]

The molecules are those of ChEMBL that come with RDKit (about 33 atoms each), in turn, and small ones for the long file;
the model has random weights.
"RDKit" is parsing a SMILES and asking every atom and bond for its properties, both RDKit's own code.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from ssread.apply import TrainedModel, predict
from ssread.apply.chunks import chunks_of
from ssread.apply.features import Features
from ssread.apply.output_tables import Part, write_parts
from ssread.apply.prediction import prediction_table
from ssread.common.workers import as_worker
from ssread.data import atom_features, from_smiles, graphset, molecule_rows
from ssread.models import model_for

SMALL = ["CCO", "CCN", "CC(=O)O", "C1CC1", "c1ccccc1"]
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples" / "mutag.csv"


def molecules() -> list[str]:
    import rdkit

    files = sorted((Path(rdkit.__file__).parent / "Contrib").rglob("*CHEMBL*.smi"))
    if files:
        return [line.split()[0] for file in files for line in file.read_text().splitlines()]
    return [line.split(",")[1] for line in EXAMPLES.read_text().splitlines()[1:]]


def make_model(smiles: list[str], arch: str, folder: Path) -> None:
    graphs = from_smiles(smiles[:200], [row % 2 for row in range(200)])
    TrainedModel([model_for(graphs, arch)], ["0", "1"], Features.of(graphs)).save(folder)


def write_rows(smiles: list[str], rows: int, path: Path) -> Path:
    with path.open("w") as file:
        file.write("id,smiles\n")
        file.writelines(f"{row},{smiles[row % len(smiles)]}\n" for row in range(rows))
    return path


class Clock:
    """The processor time that a function takes whenever it is called, gathered without changing what it does."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed."""

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.process_time() - start

        return timed


def shares(model: TrainedModel, path: Path, scratch: Path) -> None:
    """The pipeline in this process, by the processor time of its steps; medians over pieces of 1000 molecules."""
    rdkit, batching, reading, predicting, writing = (Clock() for _ in range(5))
    patches = [
        (molecule_rows, "parse_smiles", rdkit),
        (atom_features, "read_atoms_and_bonds", rdkit),
        (graphset.batching, "batch", batching),
    ]
    for module, name, clock in patches:
        setattr(module, name, clock.around(getattr(module, name)))
    steps: dict[str, list[float]] = {"RDKit": [], "features and batches": [], "model": [], "writing": []}
    for piece in chunks_of(model.features, path):
        for clock in (rdkit, batching, reading, predicting, writing):
            clock.seconds = 0.0
        rows = reading.around(piece.read)(model.features)
        table = predicting.around(prediction_table)(model, rows)
        writing.around(write_parts)([Part(table, [])], scratch / "piece.csv")
        steps["RDKit"].append(rdkit.seconds)
        steps["features and batches"].append(reading.seconds - rdkit.seconds + batching.seconds)
        steps["model"].append(predicting.seconds - batching.seconds)
        steps["writing"].append(writing.seconds)
    medians = {step: statistics.median(times[1:]) for step, times in steps.items()}  # the first warms up
    total = sum(medians.values())
    for step, median in medians.items():
        print(f"{step:<24}{1e3 * median:8.1f} ms per 1000 molecules  {100 * median / total:5.1f} %")
    print(f"one core alone          {1000 / total:8.0f} molecules per second of processor time", flush=True)


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """The memory of this process and its workers (pages they share counted once), looked at every other second."""
    seen: list[int] = [0]
    over = threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not over.wait(2):
            total = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    total += process.memory_full_info().pss
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
            seen.append(total)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--arch", default="gcn")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-rows", type=int, default=0)
    options = parser.parse_args()
    rows = 3000 if options.quick else options.rows
    as_worker(psutil.Process().ppid())
    smiles = molecules()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        make_model(smiles, options.arch, scratch / "model")
        model = TrainedModel.load(scratch / "model")
        print(f"{options.arch}, {rows} molecules")
        shares(model, write_rows(smiles, min(rows, 6000), scratch / "shares.csv"), scratch)
        for count, source in ((rows, smiles), (options.memory_rows, SMALL)):
            if count:
                before = psutil.Process().memory_full_info().pss
                path = write_rows(source, count, scratch / "rows.csv")
                start = time.perf_counter()
                with watched_memory() as seen:
                    predict(scratch / "model", path, scratch / "out.csv", id="id", workers=options.workers)
                elapsed = time.perf_counter() - start
                print(
                    f"{options.workers} workers: {count} rows in {elapsed:.1f} s, {count / elapsed:.0f} per second",
                    flush=True,
                )
                print(
                    f"memory: {(max(seen) - before) / 2**20:.0f} MiB over one process with the model, workers included"
                )


if __name__ == "__main__":
    main()
