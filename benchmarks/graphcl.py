"""GraphCL, timed: an epoch against the usual loop over graphs, a cohort of encoders against one after another.

    python benchmarks/graphcl.py [--quick] [--device cuda] [--encoders 50]

The job is an epoch of GraphCL with a GIN encoder (5 layers of 32, all kept) and SSRead(sum, K = 4), batch 128. *Plain*
is what public code does: every graph of a batch is copied and augmented twice in NumPy and Python by a function of its
own, PyG collates the views, a model of PyG's layers runs once per view. *Ours* is what ``ssread compare --learn``
does. On a CPU the plain loop is one process with as many threads as suit it best (one, or torch's default); ours are
single-threaded workers, an encoder each, so that the time of an epoch is that of a worker divided by their number. On a
GPU the cohort is set against single encoders, also ours and by the same kernels, one after another: each launched piece
by piece as torch does it, and each recorded like the cohort.
"""

import argparse
import copy
import os
import statistics
import time

import numpy as np
import torch
from joblib import Parallel, delayed
from measuring import dataset
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv

from ssread import SSRead
from ssread.data.graphset import GraphSet
from ssread.models.graphs import Graphs
from ssread.train import Run, Training
from ssread.train.batch_plans import even_plan, large_batches_together
from ssread.train.cohort import Cohort
from ssread.train.engine import Engine
from ssread.train.graphcl import contrastive_loss
from ssread.train.single import Single
from ssread.train.unsupervised import unlabelled
from ssread.train.views import views, without_masked

WIDTH, LAYERS = 32, 5
MODEL = {
    "name": "gin",
    "hidden_channels": WIDTH,
    "dropout": 0.0,
    "jumping": True,
    "readout": "ssread",
    "num_positions": 4,
}
RATIO = 0.2


def drop_nodes(data: Data, rng: np.random.Generator) -> Data:
    """A fifth of the nodes less."""
    nodes = data.num_nodes
    dropped = set(rng.choice(nodes, min(int(nodes * RATIO), nodes - 1), replace=False).tolist())
    return _part(data, [node for node in range(nodes) if node not in dropped])


def perturb_edges(data: Data, rng: np.random.Generator) -> Data:
    """A fifth of the edges are others."""
    edges = [(a, b) for a, b in data.edge_index.T.tolist() if a <= b]
    moved = set(rng.choice(len(edges), int(len(edges) * RATIO), replace=False).tolist())
    kept = [edge for number, edge in enumerate(edges) if number not in moved]
    added = [tuple(rng.choice(data.num_nodes, 2, replace=False).tolist()) for _ in moved]
    both = [pair for a, b in kept + added for pair in ((a, b), (b, a))]
    data.edge_index = torch.tensor(both, dtype=torch.long).reshape(-1, 2).T
    return data


def mask_attributes(data: Data, rng: np.random.Generator) -> Data:
    """A fifth of the nodes have no features."""
    data.x[torch.from_numpy(rng.choice(data.num_nodes, int(data.num_nodes * RATIO), replace=False))] = 0
    return data


def subgraph(data: Data, rng: np.random.Generator) -> Data:
    """The part that a random walk sees."""
    source, target = data.edge_index.numpy()
    node = int(rng.integers(data.num_nodes))
    seen = {node}
    for _ in range(30):
        neighbours = target[source == node]
        if len(neighbours):
            node = int(rng.choice(neighbours))
            seen.add(node)
    return _part(data, sorted(seen))


def _part(data: Data, nodes: list[int]) -> Data:
    place = {node: number for number, node in enumerate(nodes)}
    edges = [(place[a], place[b]) for a, b in data.edge_index.T.tolist() if a in place and b in place]
    data.x, data.edge_index = data.x[nodes], torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    return data


AUGMENT = (drop_nodes, perturb_edges, mask_attributes, subgraph, lambda data, _: data)


class PlainModel(nn.Module):
    """The same encoder, readout and projection from PyG's and torch's layers."""

    def __init__(self, graphs: GraphSet):
        super().__init__()
        self.encoder = nn.Linear(graphs.num_node_features, WIDTH)
        self.convs = nn.ModuleList(GINConv(self._mlp(), train_eps=True) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in range(LAYERS))
        self.readout = SSRead(LAYERS * WIDTH, 4)
        width = LAYERS * WIDTH
        self.projection = nn.Sequential(nn.Linear(4 * width, width), nn.ReLU(), nn.Linear(width, width))

    @staticmethod
    def _mlp() -> nn.Module:
        return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Projected vectors and alignment loss."""
        h, layers = self.encoder(batch.x), []
        for number, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True), start=1):
            h = norm(conv(h, batch.edge_index))
            h = h.relu() if number < LAYERS else h
            layers.append(h)
        reading = self.readout.read(torch.cat(layers, dim=1), batch.batch, dim_size=batch.num_graphs)
        return self.projection(reading.vectors), reading.alignment_loss()


class PlainLoop:
    """GraphCL as a loop over graphs."""

    def __init__(self, graphs: GraphSet, batch_size: int):
        self.rng = np.random.default_rng(0)
        data = [Data(x=graph.x.clone(), edge_index=graph.edge_index.clone()) for graph in graphs]
        self.loader = DataLoader(data, batch_size, shuffle=True, collate_fn=self._views, drop_last=True)
        self.model = PlainModel(graphs)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, weight_decay=1e-4)

    def _views(self, graphs: list[Data]) -> tuple[Batch, Batch]:
        draw = self.rng.integers(len(AUGMENT), size=(2, len(graphs)))
        one, other = (
            [AUGMENT[which](copy.deepcopy(graph), self.rng) for which, graph in zip(row, graphs, strict=True)]
            for row in draw.tolist()
        )
        return Batch.from_data_list(one), Batch.from_data_list(other)

    def train_epoch(self) -> None:
        """Trains one epoch."""
        for pair in self.loader:
            (one, first), (other, second) = (self.model(batch) for batch in pair)
            loss = contrastive_loss(one, other).mean() + (first + second) / 2
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def views_alone(graphs: GraphSet, loop: PlainLoop, batch_size: int) -> tuple[float, float]:
    """Seconds that the views of an epoch take on one thread: in the plain loop, collated, and in ours."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    for _ in loop.loader:
        pass
    plain = time.perf_counter() - start
    start = time.perf_counter()
    for batch in unlabelled(graphs).batches(batch_size):
        without_masked(views(Graphs.of(batch), ratio=RATIO, steps=30))
    return plain, time.perf_counter() - start


def epochs_of_ours(graphs: GraphSet, training: Training, seed: int, epochs: int) -> float:
    """Seconds that an encoder takes for so many epochs on one thread, after a first one."""
    torch.set_num_threads(1)
    engine = Single(unlabelled(graphs), Run(MODEL, seed, 0, learn="graphcl"), training)
    order = torch.randperm(len(graphs)).unsqueeze(0)
    plan = even_plan(order, training.batch_size)
    engine.train_epoch(plan[:2])
    start = time.perf_counter()
    for _ in range(epochs):
        engine.train_epoch(plan)
    return time.perf_counter() - start


def on_cores(graphs: GraphSet, rounds: int, epochs: int) -> dict[str, tuple[float, float]]:
    """Seconds of an epoch of the plain loop and of ours: its views alone; all of it, ours on one core and on all."""
    training, workers = Training(), os.cpu_count() or 1
    loop, plain, ours, alone = PlainLoop(graphs, training.batch_size), [], [], []
    threads = min((1, torch.get_num_threads()), key=lambda count: _pass_seconds(loop, count))
    pool = Parallel(n_jobs=workers)
    pool(delayed(epochs_of_ours)(graphs, training, seed, 1) for seed in range(workers))  # the workers start
    for _ in range(rounds):
        plain.append(_pass_seconds(loop, threads))
        alone.append(epochs_of_ours(graphs, training, 0, epochs) / epochs)
        times = pool(delayed(epochs_of_ours)(graphs, training, seed, epochs) for seed in range(workers))
        ours.append(statistics.mean(times) / epochs / workers)
    before = statistics.median(plain)
    made = [views_alone(graphs, loop, training.batch_size) for _ in range(rounds)]
    return {
        "the views alone, one core": (statistics.median(a for a, _ in made), statistics.median(b for _, b in made)),
        "one core": (before, statistics.median(alone)),
        f"an encoder on each of {workers} cores": (before, statistics.median(ours)),
    }


def _pass_seconds(loop: PlainLoop, threads: int) -> float:
    torch.set_num_threads(threads)
    start = time.perf_counter()
    loop.train_epoch()
    return time.perf_counter() - start


def on_gpu(graphs: GraphSet, encoders: int, epochs: int) -> dict[str, tuple[float, float]]:
    """Seconds of an epoch of so many encoders: one after another, and as one cohort."""
    graphs = unlabelled(graphs)
    training = Training(epochs=epochs)
    runs = [Run(MODEL, seed, 0, learn="graphcl") for seed in range(encoders)]

    def seconds(engine: Engine, count: int) -> float:
        order = torch.stack([torch.randperm(len(graphs)) for _ in range(count)])
        plan = large_batches_together(even_plan(order, training.batch_size), graphs, epoch=1)
        times = []
        for _ in range(2 + epochs):
            torch.cuda.synchronize()
            start = time.perf_counter()
            engine.train_epoch(plan)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return statistics.median(times[2:])

    cohort = seconds(Cohort(graphs, runs, training, "cuda"), encoders)
    launched = seconds(Single(graphs.to("cuda"), runs[0], training, "cuda"), 1)
    recorded = statistics.median(seconds(Cohort(graphs, [run], training, "cuda"), 1) for run in runs[:3])
    return {
        "one cohort; before: each launched piece by piece": (encoders * launched, cohort),
        "one cohort; before: each recorded, too": (encoders * recorded, cohort),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short round on a part of the dataset")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--encoders", type=int, default=50, help="of the cohort on a GPU")
    parser.add_argument("--dataset", default="NCI1")
    options = parser.parse_args()
    graphs = dataset(options.dataset, options.quick)
    graphs = graphs[:512] if options.quick else graphs
    cuda = options.device == "cuda"
    machine = torch.cuda.get_device_name() if cuda else f"{os.cpu_count()} cores"
    table = Table(title=f"GraphCL, {graphs.name}, {len(graphs)} graphs, torch {torch.__version__}, {machine}")
    before = f"{options.encoders} one after another" if cuda else "plain loop"
    for column in ("what", f"{before}: s per epoch", "ours: s per epoch", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    if cuda:
        rows = on_gpu(graphs, options.encoders, 2 if options.quick else 10)
    else:
        rows = on_cores(graphs, 1 if options.quick else 3, 1 if options.quick else 3)
    for what, (plain, ours) in rows.items():
        table.add_row(what, f"{plain:.3f}", f"{ours:.3f}", f"{plain / ours:.1f}x")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
