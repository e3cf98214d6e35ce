"""Trainings side by side on one GPU: plain processes, as most people run them, and stacks of ours.

Every process waits for the others, then trains for the same seconds; passes are counted together. Loading data,
compiling and warming up are not counted on either side. All run under NVIDIA's Multi-Process Service if there is one.

- *loader*: a plain PyG loop with a ``DataLoader``, one model per process;
- *resident*: the same with batches that are collated once and stay on the GPU; only their order is shuffled;
- *single*: our code, one model per process, for classifiers that PyG has no single layer for;
- *stack*: our cohort of models.
"""

import gc
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from measuring import dataset
from protocol import PlainConv
from torch import Tensor, nn
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINEConv, global_add_pool

from ssread.data import stratified_folds
from ssread.data.graphset import GraphSet
from ssread.evaluate.multi_process_service import multi_process_service
from ssread.train import Run, Training
from ssread.train.cohort import Cohort
from ssread.train.engine import Engine
from ssread.train.fit import Loop, fold_of_run
from ssread.train.single import Single

LAYERS = {"gcn": 3, "gin": 5}
ALWAYS = Training(epochs=1_000_000, patience=1_000_000)

#: Seconds of training before passes are counted; ours records every size of a step then.
WARM_UP = {"loader": 1.0, "resident": 1.0, "single": 1.0, "stack": 6.0}


class PlainClassifier(nn.Module):
    """GCN or GIN with a sum over nodes, from PyG's and torch's layers."""

    def __init__(self, graphs: GraphSet, arch: str, width: int):
        super().__init__()
        edges = max(graphs.num_edge_features, 1)
        self.encoder = nn.Linear(graphs.num_node_features, width)
        self.convs = nn.ModuleList(
            PlainConv(edges, width) if arch == "gcn" else GINEConv(_mlp(width), train_eps=True, edge_dim=edges)
            for _ in range(LAYERS[arch])
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in self.convs)
        self.head = nn.Linear(width, graphs.num_classes)

    def forward(self, data: Batch) -> Tensor:
        """Logits."""
        h = self.encoder(data.x)
        edge_attr = data.edge_attr if data.edge_attr is not None else h.new_ones(data.edge_index.size(1), 1)
        for layer, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True), start=1):
            h = norm(conv(h, data.edge_index, edge_attr))
            h = F.dropout(F.relu(h) if layer < len(self.convs) else h, 0.5, self.training)
        return self.head(global_add_pool(h, data.batch, data.num_graphs))


def _mlp(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))


class OnePass(Protocol):
    """Models in training, a pass over their data at a time."""

    def one_pass(self) -> int:
        """Trains for a pass, looks at the validation part, and returns how many models did."""


class Plain:
    """One model in a plain loop; its batches are collated anew in every pass, or (``resident``) once, on the GPU."""

    def __init__(self, graphs: GraphSet, number: int, device: str, arch: str, width: int, resident: bool):
        fold = stratified_folds(graphs, 10, seed=number // 10)[number % 10]
        data, size = graphs.to_pyg(), ALWAYS.batch_size
        self.train: Any = DataLoader([data[i] for i in fold.train], batch_size=size, shuffle=True)
        self.valid: Any = DataLoader([data[i] for i in fold.validation], batch_size=size)
        if resident:
            self.train, self.valid = ([batch.to(device) for batch in part] for part in (self.train, self.valid))
        self.device = device
        self.model = PlainClassifier(graphs, arch, width).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, weight_decay=1e-4, fused=True)

    def one_pass(self) -> int:
        """See :class:`OnePass`."""
        self.model.train()
        for data in self._in_order():
            data = data.to(self.device)
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(data), data.y).backward()
            self.optimizer.step()
        self.model.eval()
        right = torch.zeros((), device=self.device)
        with torch.no_grad():
            for data in self.valid:
                data = data.to(self.device)
                right += (self.model(data).argmax(dim=1) == data.y).sum()
        right.item()
        return 1

    def _in_order(self) -> Any:
        if isinstance(self.train, DataLoader):
            return self.train  # shuffles
        return [self.train[number] for number in torch.randperm(len(self.train)).tolist()]


class Ours:
    """Our own loop: one model, or a stack of them, halved until it fits into memory."""

    def __init__(self, graphs: GraphSet, number: int, device: str, arguments: dict[str, Any], models: int):
        runs = [Run(arguments, seed=100 * number + model // 10, fold=model % 10) for model in range(models)]
        self.models, self._epoch = models, 0
        engine: Engine = (
            Cohort(graphs, runs, ALWAYS, device, print)
            if models > 1
            else Single(graphs.to(device), runs[0], ALWAYS, device)
        )
        self._loop = Loop(engine, graphs, runs, [fold_of_run(graphs, run) for run in runs], ALWAYS)

    def one_pass(self) -> int:
        """See :class:`OnePass`."""
        self._epoch += 1
        self._loop.run_epoch(self._epoch, None)
        return self.models


class Crew:
    """Processes that train side by side, one CPU thread each."""

    def __init__(self, processes: list[Any], pipes: list[Any]):
        self._processes, self._pipes = processes, pipes

    def passes_per_second(self, count: int, kind: str, seconds: float, **arguments: Any) -> tuple[float, int]:
        """Passes per second of ``count`` processes together, and the models of each."""
        pipes = self._pipes[:count]
        for pipe in pipes:
            pipe.send((kind, seconds, arguments))
        models = [self._receive(pipe) for pipe in pipes]
        for pipe in pipes:
            pipe.send("go")
        return sum(self._receive(pipe) for pipe in pipes), min(models)

    def _receive(self, pipe: Any) -> Any:
        while not pipe.poll(1):
            if any(process.exitcode is not None for process in self._processes):
                raise SystemExit("One of the processes that train side by side has failed; its error is above.")
        return pipe.recv()


@contextmanager
def crew(count: int, name: str, quick: bool) -> Iterator[Crew]:
    """Starts processes that have loaded a dataset; ends them at the end."""
    service = multi_process_service()
    if not service.running:
        print(service.problem or "There is no Multi-Process Service here: processes take turns on the GPU.")
    start = multiprocessing.get_context("spawn")
    processes, pipes = [], []
    try:
        for number in range(count):
            ours, theirs = start.Pipe()
            arguments = (theirs, number, service.environment, name, quick)
            processes.append(start.Process(target=_serve, args=arguments, daemon=True))
            pipes.append(ours)
            processes[-1].start()
            theirs.close()
        yield Crew(processes, pipes)
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join(10)
            process.kill()


def _serve(pipe: Any, number: int, environment: dict[str, str], *data: Any) -> None:
    """What every process does: train when told to, until the pipe is closed."""
    os.environ.update(environment)
    torch.set_num_threads(1)
    torch.manual_seed(number)
    graphs = dataset(*data)
    while True:
        try:
            kind, seconds, arguments = pipe.recv()
        except EOFError:
            return
        models = _warm(graphs, number, kind, arguments)
        _wait_for_gpu()
        pipe.send(getattr(models, "models", 1))
        pipe.recv()
        passes, start = 0, time.perf_counter()
        while time.perf_counter() < start + seconds:
            passes += models.one_pass()
        _wait_for_gpu()
        pipe.send(passes / (time.perf_counter() - start))
        del models
        gc.collect()
        torch.cuda.empty_cache()


def _warm(graphs: GraphSet, number: int, kind: str, arguments: dict[str, Any]) -> OnePass:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    while True:
        try:
            models: OnePass
            if kind in ("loader", "resident"):
                models = Plain(graphs, number, device, resident=kind == "resident", **arguments)
            else:
                models = Ours(graphs, number, device, **arguments)
            models.one_pass()  # kernels are compiled
            until = time.perf_counter() + WARM_UP[kind]
            while time.perf_counter() < until:
                models.one_pass()
            return models
        except torch.OutOfMemoryError:
            if arguments.get("models", 1) == 1:
                raise
        arguments["models"] //= 2
        models = None  # type: ignore[assignment]  # frees the stack that did not fit
        gc.collect()
        torch.cuda.empty_cache()


def _wait_for_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
