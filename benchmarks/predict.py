"""Prediction from SMILES: molecules per second, where the time goes, and how much memory a long file takes.

    python benchmarks/predict.py [--quick] [--rows 20000] [--arch gcn] [--workers 2]
    python benchmarks/predict.py --memory-rows 2000000      a long library of small molecules: does memory grow?
    python benchmarks/predict.py --device cuda --rows 200000 --workers 16       with a GPU: which side limits?
    python benchmarks/predict.py --nodes 2 --rows 200000     a Ray cluster on this machine, one node of which is killed

The molecules are those of ChEMBL that come with RDKit (about 33 atoms each), in turn, no two rows of a chunk alike; the
model has random weights. "parsing" is RDKit's, with what it takes to free its molecules again; "reading" asks RDKit for
the properties of atoms and bonds.

With ``--device``, each side is measured alone, and then both together: worker processes that read, and the one process
that evaluates the model on a GPU. Rates with workers leave out the first quarter of the rows, while they start.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import psutil
import pyarrow
import pyarrow.parquet
import torch

from ssread.apply import TrainedModel, predict, screening
from ssread.apply.chunks import Rows, chunks_of
from ssread.apply.features import Features
from ssread.apply.output_tables import Part, write_parts
from ssread.apply.prediction import prediction_table
from ssread.apply.reference import Reference
from ssread.apply.screening import screen
from ssread.apply.streaming import read_by_workers
from ssread.apply.trained_model import BATCH, GPU_BATCH
from ssread.common.workers import as_worker
from ssread.data import atom_features, from_smiles, graphset, molecule_rows
from ssread.evaluate.ray_runner import import_ray
from ssread.models import model_for
from ssread.models.architectures import hops_of
from ssread.models.places import place_prototypes

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
    model = model_for(graphs, arch, position_hops=hops_of(None, arch, "ssread"))  # as ssread train makes it
    place_prototypes(model, graphs)
    trained = TrainedModel([model], ["0", "1"], Features.of(graphs))
    trained.reference = Reference.of(trained, graphs)  # for the column "distance"
    trained.save(folder)


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
    parsing, asking, batching, reading, predicting, writing = clocks = [Clock() for _ in range(6)]
    kept: list[Any] = []
    parse = parsing.around(molecule_rows.parse_smiles)

    def parse_and_keep(texts: Any) -> Any:
        kept.append(parse(texts))  # so that molecules are freed below, and not by the step that needs them last
        return kept[-1]

    patches = [
        (molecule_rows, "parse_smiles", parse_and_keep),
        (atom_features, "read_atoms_and_bonds", asking.around(atom_features.read_atoms_and_bonds)),
        (graphset.batching, "batch", batching.around(graphset.batching.batch)),
    ]
    for module, name, function in patches:
        setattr(module, name, function)
    names = ("parsing (RDKit)", "reading (RDKit)", "features and batches", "model", "writing")
    steps: dict[str, list[float]] = {name: [] for name in names}
    for piece in chunks_of(model.features, path):
        for clock in clocks:
            clock.seconds = 0.0
        rows = reading.around(piece.read)(model.features)
        features = reading.seconds - parsing.seconds - asking.seconds
        parsing.around(kept.clear)()
        table = predicting.around(prediction_table)(model, rows)
        writing.around(write_parts)([Part(table, [])], scratch / "piece.csv")
        found = (parsing, asking, features + batching.seconds, predicting.seconds - batching.seconds, writing)
        for name, seconds in zip(names, found, strict=True):
            steps[name].append(seconds.seconds if isinstance(seconds, Clock) else seconds)
    medians = {step: statistics.median(times[1:]) for step, times in steps.items()}  # the first warms up
    total = sum(medians.values())
    for step, median in medians.items():
        print(f"{step:<24}{1e3 * median:8.1f} ms per 1000 molecules  {100 * median / total:5.1f} %")
    print(f"one core alone          {1000 / total:8.0f} molecules per second of processor time", flush=True)


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """The memory of this process and its workers (pages they share counted once), looked at every second."""
    seen: list[int] = []
    over = threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not over.wait(1):
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


def stream(model: Path, rows: int, workers: int, scratch: Path) -> None:
    """A library of many rows into a folder of parts: memory in the tenths of the run."""
    path = scratch / "library.smi"
    with path.open("w") as file:
        file.writelines(f"{SMALL[row % len(SMALL)]} {row}\n" for row in range(rows))
    start = time.perf_counter()
    with watched_memory() as seen:
        screen(model, path, scratch / "screened", workers=workers)
    elapsed = time.perf_counter() - start
    print(f"{workers} workers: {rows} rows in {elapsed:.0f} s, {rows / elapsed:.0f} per second")
    tenths = [statistics.median(seen[len(seen) * part // 10 : len(seen) * (part + 1) // 10]) for part in range(10)]
    print("memory, median of every tenth:", ", ".join(f"{tenth / 2**20:.0f}" for tenth in tenths), "MiB")
    growth = (tenths[9] - tenths[4]) / (0.5 * rows) * 1e6 / 2**20
    print(f"growth over the second half: {growth:+.1f} MiB per million rows", flush=True)


class Pace:
    """When how many rows were done."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.seen: list[tuple[float, int]] = []

    def add(self, rows: int) -> None:
        """Takes down that so many rows are done now."""
        self.seen.append((time.perf_counter() - self.start, rows))

    def tell(self, what: str) -> None:
        """Prints rows per second after the first quarter of the rows."""
        seconds, rows = self.seen[-1]
        before, done = next((when, some) for when, some in self.seen if some >= rows / 4)
        rate = (rows - done) / (seconds - before) if rows > done else rows / seconds
        print(f"{what:<58}{rate:9.0f} per second  ({rows} rows in {seconds:.1f} s)", flush=True)


def repeated(what: str, work: Callable[[], Any], rows: int, least: float = 2.0) -> None:
    """Prints how many rows per second of the clock a function does again and again."""
    work()  # compiles kernels
    pace = Pace()
    while not pace.seen or pace.seen[-1][0] < least:
        work()
        pace.add((len(pace.seen) + 1) * rows)
    pace.tell(what)


def nothing(model: TrainedModel, rows: Rows) -> pyarrow.Table:
    return pyarrow.table({"id": rows.ids})


def evaluating(model: TrainedModel, pieces: Sequence[Rows]) -> None:
    """One process with rows that are read: the model alone, and all that it does until there is a table."""
    place, rows = model.device.type, sum(len(piece.ids) for piece in pieces)
    size = BATCH if place == "cpu" else GPU_BATCH
    batches = [
        piece.graphs.batch(ids).to(place) for piece in pieces for ids in torch.arange(len(piece.graphs)).split(size)
    ]
    with torch.inference_mode():
        repeated(f"the model alone, {place}", lambda: [model.models[0].run(b).logits.cpu() for b in batches], rows)
    repeated(
        f"one process, from read rows to a table, {place}",
        lambda: [prediction_table(model, piece) for piece in pieces],
        rows,
    )


def sides(folder: Path, path: Path, device: str, workers: int, scratch: Path) -> None:
    """Reading by workers, the process that evaluates the model: each alone, and both together."""
    model = TrainedModel.load(folder)
    places = list(dict.fromkeys(("cpu", device)))
    where = torch.cuda.get_device_name() if device == "cuda" else "no GPU"
    print(f"{workers} workers, {psutil.cpu_count()} cores, {where}")
    pieces = [piece.read(model.features) for piece in islice(chunks_of(model.features, path), 4)]
    for place in places:
        evaluating(model.on(place), pieces)
    pace = Pace()
    parts = read_by_workers(model, folder, chunks_of(model.features, path), nothing, workers)
    for rows in accumulate(len(part.table) for part in parts):
        pace.add(rows)
    pace.tell("workers alone, which read and send")
    for what, work, place in (
        ("one file", predict, device),
        *(("a folder of parts", screen, place) for place in places),
    ):
        pace, out = Pace(), scratch / (f"{place}.parquet" if work is predict else place)
        work(folder, path, out, id="id", workers=workers, device=place, progress=pace.add)
        pace.tell(f"into {what}, {place}")


def on_ray(model: Path, path: Path, rows: int, nodes: int, scratch: Path) -> None:
    """A cluster of nodes with one core each, on this machine; the last node is killed while it works."""
    import_ray()
    from ray.cluster_utils import Cluster

    watch = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 5}
    size = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster, out = Cluster(), scratch / "screened"
    try:
        cluster.add_node(**size, include_dashboard=False, _system_config=watch)
        last = [cluster.add_node(**size) for _ in range(nodes - 1)][-1]
        os.environ["RAY_ADDRESS"] = cluster.address
        pace = Pace()
        killed_at: list[int] = []

        def watched(done: int) -> None:
            pace.add(done)
            if done >= rows / 2 and not killed_at:
                killed_at.append(done)
                cluster.remove_node(last, allow_graceful=False)

        screen(model, path, out, id="id", on="ray", progress=watched)
    finally:
        import_ray().shutdown()
        cluster.shutdown()
    pace.tell(f"{nodes} nodes, one killed after {killed_at[0]} of the rows")
    found = pyarrow.parquet.read_table(sorted(out.glob("part-*.parquet")), columns=["id"]).column("id").to_pylist()
    print("every row is there once, in order" if found == [str(row) for row in range(rows)] else "ROWS ARE MISSING")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--arch", default="gcn")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-rows", type=int, default=0)
    parser.add_argument("--device", choices=["cpu", "cuda"], help="measure each side alone, and both together")
    parser.add_argument("--nodes", type=int, default=0, help="nodes of a Ray cluster on this machine, 2 or more")
    options = parser.parse_args()
    if options.nodes == 1:
        parser.error("--nodes is 1, but one node is killed while another works on: give 2 or more.")
    rows = 3000 if options.quick else options.rows
    as_worker(psutil.Process().ppid())
    smiles = molecules()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        make_model(smiles, options.arch, scratch / "model")
        if options.memory_rows:
            stream(scratch / "model", options.memory_rows, options.workers, scratch)
            return
        path = write_rows(smiles, rows, scratch / "rows.csv")
        if options.device or options.nodes:
            screening.PART_CHUNKS = 2  # so that a short library keeps every worker busy
        if options.device:
            sides(scratch / "model", path, options.device, options.workers, scratch)
            return
        if options.nodes:
            on_ray(scratch / "model", path, rows, options.nodes, scratch)
            return
        model = TrainedModel.load(scratch / "model")
        print(f"{options.arch}, {rows} molecules")
        shares(model, write_rows(smiles, min(rows, 6000), scratch / "shares.csv"), scratch)
        start = time.perf_counter()
        with watched_memory() as seen:
            predict(scratch / "model", path, scratch / "out.csv", id="id", workers=options.workers, device="cpu")
        elapsed = time.perf_counter() - start
        print(f"{options.workers} workers: {rows} rows in {elapsed:.1f} s, {rows / elapsed:.0f} per second")
        print(f"memory at most: {max(seen, default=0) / 2**20:.0f} MiB, workers included")


if __name__ == "__main__":
    main()
