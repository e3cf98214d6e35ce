"""The protocol, timed: ours against a plain PyG loop, and how the cost grows.

    python benchmarks/protocol.py [--quick] [--device cuda] [--datasets NCI1 MUTAG]

The job is the paper's cell GCN + SSRead(sum, K = 8): 50 trainings (10 folds x 5 seeds), shortened equally for both
sides to a few trainings of a few passes. *Plain* is what most people write: a PyG ``DataLoader``, a ``MessagePassing``
layer, one model after another with torch's default threads. *Ours* is what ``ssread compare`` does: single-threaded
workers on the cores, or one stack of models on the GPU. Both train on the same graphs with the same settings, pass
after pass with a look at the validation part. The two take turns, so that a slow moment of the machine meets both.
"""

import argparse
import os
import statistics
import time

import torch
import torch.nn.functional as F
from measuring import dataset
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import degree

from ssread import SSRead
from ssread.data import planted, stratified_folds
from ssread.data.graphset import GraphSet
from ssread.evaluate.runners import CPURunner, GPURunner
from ssread.train import Run, Training
from ssread.train.fit import fit
from ssread.train.single import Single

K, D, LAYERS = 8, 128, 3
MODEL = {"name": "gcn", "readout": "ssread", "aggr": "sum", "num_positions": K}
CELL = 50


class PlainConv(MessagePassing):
    """The edge-aware GCN layer as the Open Graph Benchmark's examples write it."""

    def __init__(self, edge_channels: int, width: int = D):
        super().__init__(aggr="add")
        self.linear, self.root = nn.Linear(width, width), nn.Parameter(torch.randn(width))
        self.edge = nn.Linear(max(edge_channels, 1), width)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Node vectors to node vectors."""
        x = self.linear(x)
        row, col = edge_index
        deg = degree(row, x.size(0), dtype=x.dtype) + 1
        norm = deg.pow(-0.5)[row] * deg.pow(-0.5)[col]
        out = self.propagate(edge_index, x=x, edge_attr=self.edge(edge_attr), norm=norm)
        return out + F.relu(x + self.root) / deg.view(-1, 1)

    def message(self, x_j: Tensor, edge_attr: Tensor, norm: Tensor) -> Tensor:
        """What an edge carries."""
        return norm.view(-1, 1) * F.relu(x_j + edge_attr)


class PlainModel(nn.Module):
    """The same classifier as ours, from PyG's and torch's layers."""

    def __init__(self, graphs: GraphSet):
        super().__init__()
        self.encoder = nn.Linear(graphs.num_node_features, D)
        self.convs = nn.ModuleList(PlainConv(graphs.num_edge_features) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm1d(D) for _ in range(LAYERS))
        self.readout = SSRead(D, K)
        self.head = nn.Linear(K * D, graphs.num_classes)

    def forward(self, data: object) -> tuple[Tensor, Tensor]:
        """Logits and alignment loss."""
        h = self.encoder(data.x)
        edge_attr = data.edge_attr if data.edge_attr is not None else h.new_ones(data.edge_index.size(1), 1)
        for layer, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True), start=1):
            h = norm(conv(h, data.edge_index, edge_attr))
            h = F.dropout(F.relu(h) if layer < LAYERS else h, 0.5, self.training)
        reading = self.readout.read(h, data.batch, dim_size=data.num_graphs)
        return self.head(reading.vectors), reading.alignment_loss()


class PlainLoop:
    """One training of the plain loop, a pass at a time."""

    def __init__(self, graphs: GraphSet, run: Run, training: Training, device: str):
        fold = stratified_folds(graphs, run.num_folds, seed=run.seed)[run.fold]
        data = graphs.to_pyg()
        self.device = device
        self.train = DataLoader([data[i] for i in fold.train], batch_size=training.batch_size, shuffle=True)
        self.valid = DataLoader([data[i] for i in fold.validation], batch_size=training.batch_size)
        self.model = PlainModel(graphs).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, weight_decay=1e-4)

    def one_pass(self) -> float:
        """Trains one epoch, looks at the validation part, and gives its accuracy."""
        self.model.train()
        for data in self.train:
            data = data.to(self.device)
            logits, alignment = self.model(data)
            self.optimizer.zero_grad()
            (F.cross_entropy(logits, data.y) + alignment).backward()
            self.optimizer.step()
        self.model.eval()
        right = 0
        with torch.no_grad():
            for data in self.valid:
                data = data.to(self.device)
                right += int((self.model(data)[0].argmax(dim=1) == data.y).sum())
        return right / len(self.valid.dataset)


def cell(graphs: GraphSet, runs: int, epochs: int, rounds: int, device: str) -> tuple[float, float]:
    """Seconds per pass of one training: of the plain loop, and of ours when it trains ``runs`` side by side."""
    training = Training(epochs=epochs, patience=epochs)
    which = [Run(MODEL, seed=seed, fold=fold) for seed in range(5) for fold in range(10)][:runs]
    runner = CPURunner() if device == "cpu" else GPURunner(device)
    one_epoch = Training(epochs=1, patience=1)
    list(runner.train(graphs, which, one_epoch))  # the workers start
    loop = PlainLoop(graphs, which[0], training, device)
    loop.one_pass()
    plain, ours = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(epochs):
            loop.one_pass()
        plain.append((time.perf_counter() - start) / epochs)
        start = time.perf_counter()
        list(runner.train(graphs, which, training))
        ours.append((time.perf_counter() - start) / epochs / runs)
    return statistics.median(plain), statistics.median(ours)


def over_matrix_products(graphs: GraphSet, rounds: int) -> tuple[float, float]:
    """Milliseconds of one CPU step of ours, and of its dense matrix products alone, one thread."""
    run = Run(MODEL, seed=0, fold=0)
    engine, ids = Single(graphs, run, Training()), torch.arange(128).view(1, 1, -1)
    batch = graphs.batch(ids.flatten())
    nodes, features = batch.x.shape
    x, h, w = batch.x, torch.randn(nodes, D), torch.randn(D, D)
    encode, P = torch.randn(features, D), torch.randn(K, D)

    def products() -> None:
        x @ encode, x.T @ h  # the encoder has no gradient to its input
        for _ in range(LAYERS):
            h @ w, h @ w.T, h.T @ h
        P @ h.T, torch.randn(K, nodes) @ h

    steps, alone = [], []
    for _ in range(rounds):
        for function, times in ((lambda: engine.train_epoch(ids), steps), (products, alone)):
            start = time.perf_counter()
            function()
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(steps), statistics.median(alone)


def epoch_seconds(graphs: GraphSet, model: dict, device: str, runs: int = 1) -> float:
    """Seconds of one pass of ``runs`` trainings together, after a first one."""
    which = [Run(model, seed=0, fold=fold % 10) for fold in range(runs)]
    folds = stratified_folds(graphs, 10)
    if device == "cpu":
        torch.set_num_threads(1)
        engine = Single(graphs, which[0], Training())
        fit(engine, graphs, which[:1], folds[:1], Training(epochs=1))
        start = time.perf_counter()
        fit(engine, graphs, which[:1], folds[:1], Training(epochs=1))
        return (time.perf_counter() - start) * runs  # one after another
    runner = GPURunner(device)
    list(runner.train(graphs, which, Training(epochs=1, patience=1)))
    start = time.perf_counter()
    list(runner.train(graphs, which, Training(epochs=3, patience=3)))
    return (time.perf_counter() - start) / 3


def growth(device: str, quick: bool) -> Table:
    """How one pass grows with graphs, nodes per graph, K and trainings."""
    table = Table(title="One pass of GCN + SSRead(sum), planted graphs")
    for column in ("what grows", "to", "s", "over the first"):
        table.add_column(column, justify="left" if column == "what grows" else "right")
    few = 500 if quick else 1000

    def rows(what: str, sizes: list[int], seconds: dict[int, float]) -> None:
        for size in sizes:
            table.add_row(what, f"{size:,}", f"{seconds[size]:.3f}", f"{seconds[size] / seconds[sizes[0]]:.2f}")
        table.add_section()

    sizes = [few, 10 * few] if quick else [1_000, 10_000, 100_000]
    rows("graphs", sizes, {n: epoch_seconds(planted(n, nodes=20), MODEL, device) for n in sizes})
    sizes = [20, 40, 80] if quick else [20, 40, 80, 160, 320]
    rows("nodes per graph", sizes, {n: epoch_seconds(planted(few, nodes=n), MODEL, device) for n in sizes})
    sizes, graphs = [2, 8] if quick else [2, 4, 8, 16, 32], planted(few, nodes=20)
    rows("positions K", sizes, {k: epoch_seconds(graphs, {**MODEL, "num_positions": k}, device) for k in sizes})
    sizes = [1, 10] if quick else [1, 5, 10, 25, 50]
    rows("trainings", sizes, {r: epoch_seconds(graphs, MODEL, device, runs=r) for r in sizes})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round, small sizes")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--datasets", nargs="+", default=["NCI1", "MUTAG"], help="default: NCI1 MUTAG")
    options = parser.parse_args()
    cuda = options.device == "cuda"
    machine = torch.cuda.get_device_name() if cuda else f"{os.cpu_count()} cores"
    console = Console(width=120)
    table = Table(title=f"A cell of {CELL} trainings, GCN + SSRead(sum, K={K}), torch {torch.__version__}, {machine}")
    for column in ("dataset", "plain: s per pass", "ours: s per pass", "ratio", "plain: cell of 150 passes", "ours"):
        table.add_column(column, justify="right")
    for name in options.datasets:
        graphs = dataset(name, options.quick)
        epochs = 1 if options.quick else (8 if len(graphs) > 1000 else 60)
        runs = (CELL if cuda else 4) if not options.quick else 2
        plain, ours = cell(graphs, runs, epochs, 1 if options.quick else 3, options.device)
        minutes = [f"{150 * CELL * seconds / 60:.1f} min" for seconds in (plain, ours)]
        table.add_row(graphs.name, f"{plain:.3f}", f"{ours:.4f}", f"{plain / ours:.1f}x", *minutes)
    console.print(table)
    if not cuda:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        for name in options.datasets:
            step, products = over_matrix_products(dataset(name, options.quick), 5 if options.quick else 30)
            both = f"a step takes {step:.1f} ms, its matrix products alone {products:.1f} ms"
            console.print(f"{name}: {both}: {step / products:.1f}x")
        torch.set_num_threads(threads)
    console.print(growth(options.device, options.quick))


if __name__ == "__main__":
    main()
