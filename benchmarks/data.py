"""Loading and batching against PyG, as ratios measured in one run.

    python benchmarks/data.py [--quick]

The dataset is NCI1 where it can be had without a download (data folder, SSREAD_MIRROR), MUTAG otherwise.
"""

import argparse
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measuring import MIRROR
from torch_geometric.datasets import TUDataset
from torch_geometric.loader import DataLoader

from ssread.data import GraphSet, load, planted, sources
from ssread.data.tu import read_tu

REPEATS = 5
BATCH_SIZE = 128


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def compare(what: str, ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = REPEATS) -> None:
    """Interleaved runs, so that whatever else the machine does falls on both."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    mine, other = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{what:<44} ssread {mine * 1e3:9.1f} ms   PyG {other * 1e3:9.1f} ms   {ratio:6.1f}x", flush=True)


def raw_files(source: Path, folder: Path) -> None:
    """The text files where PyG looks for them, so that only its processing is timed, not unpacking."""
    folder.mkdir(parents=True)
    if source.is_dir():
        for file in source.glob("*.txt"):
            shutil.copy(file, folder)
        return
    with zipfile.ZipFile(source) as archive:
        for member in archive.namelist():
            if member.endswith(".txt"):
                (folder / Path(member).name).write_bytes(archive.read(member))


def load_times(name: str, source: Path, scratch: Path) -> tuple[GraphSet, TUDataset]:
    os.environ["SSREAD_DATA"] = str(scratch / "ssread")
    root = scratch / "pyg"
    raw_files(source, root / name / "raw")

    def ours_first() -> None:
        shutil.rmtree(scratch / "ssread", ignore_errors=True)
        load(source)

    def theirs_first() -> None:
        shutil.rmtree(root / name / "processed", ignore_errors=True)
        TUDataset(str(root), name)

    sys.stderr = open(os.devnull, "w")  # PyG announces every processing  # noqa: SIM115
    compare(f"{name}: first load (unzip, parse, keep)", ours_first, theirs_first)
    compare(f"{name}: the same without keeping", lambda: read_tu(source), theirs_first)
    compare(f"{name}: load again", lambda: load(source), lambda: TUDataset(str(root), name))
    sys.stderr = sys.__stderr__
    return load(source), TUDataset(str(root), name)


def batch_times(graphs: GraphSet, dataset: TUDataset) -> None:
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(dataset, BATCH_SIZE, shuffle=True)
    compare(
        f"{graphs.name}: an epoch of batches of {BATCH_SIZE}",
        lambda: sum(batch.num_nodes for batch in graphs.batches(BATCH_SIZE, generator=generator)),
        lambda: sum(batch.num_nodes for batch in loader),
    )


def tensor_bytes(tensors: list[torch.Tensor | None]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors if tensor is not None)


def memory(graphs: GraphSet, dataset: TUDataset) -> None:
    ours = tensor_bytes([graphs.x, graphs.node_ptr, graphs.edge_index, graphs.edge_ptr, graphs.edge_attr, graphs.y])
    data, slices = dataset._data, dataset.slices
    theirs = tensor_bytes([data.x, data.edge_index, data.edge_attr, data.y, *slices.values()])
    per_graph = ours / len(graphs), theirs / len(graphs)
    print(
        f"{graphs.name + ': bytes per graph':<44} ssread {per_graph[0]:9.0f}      PyG {per_graph[1]:9.0f}      "
        f"{theirs / ours:6.2f}x"
    )


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def million(num_graphs: int = 1_000_000) -> None:
    """A million small planted graphs: the set is held once, and an epoch over it adds next to nothing."""
    before = peak_megabytes()
    start = time.perf_counter()
    graphs = planted(num_graphs=num_graphs, nodes=(13, 17), seed=0)
    made = time.perf_counter() - start
    size = tensor_bytes([graphs.x, graphs.node_ptr, graphs.edge_index, graphs.edge_ptr, graphs.y])
    size += tensor_bytes([*graphs.node_columns.values(), *graphs.graph_columns.values()])
    with_set = peak_megabytes()
    epoch = seconds(
        lambda: sum(batch.num_nodes for batch in graphs.batches(1024, generator=torch.Generator().manual_seed(0)))
    )
    print(
        f"{num_graphs:,} planted graphs ({graphs.x.size(0) / num_graphs:.1f} nodes each): made in {made:.1f} s, "
        f"{size / 2**20:.0f} MB; peak while making {with_set - before:.0f} MB; an epoch of batches of 1024 "
        f"{epoch:.1f} s ({epoch / num_graphs * 1e6:.2f} microseconds a graph), {peak_megabytes() - with_set:.0f} MB "
        "more at its peak"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10,000 planted graphs instead of a million")
    options = parser.parse_args()
    if MIRROR.is_dir():
        os.environ.setdefault("SSREAD_MIRROR", str(MIRROR))
    # One thread each: with more, a core that something else uses decides the ratio.
    torch.set_num_threads(1)
    # The million first: the peak of a process only grows, and the other parts would hide it.
    million(10_000 if options.quick else 1_000_000)
    name = "NCI1" if sources.find("NCI1").is_local else "MUTAG"
    source = sources.find(name).place
    if not isinstance(source, Path):
        raise SystemExit("Set SSREAD_MIRROR to a folder with NCI1.zip, or install grakel, which brings MUTAG.")
    with tempfile.TemporaryDirectory() as scratch:
        graphs, dataset = load_times(name, source, Path(scratch))
        batch_times(graphs, dataset)
        memory(graphs, dataset)


if __name__ == "__main__":
    main()
