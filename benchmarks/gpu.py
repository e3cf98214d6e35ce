"""The GPU engine, timed: against many plain processes side by side, and against the least that it must move.

    python benchmarks/gpu.py [--quick] [--parts rivals command kernels steps growth cell] [--datasets NCI1 MUTAG ...]
    python benchmarks/gpu.py --parts rivals --archs gcn --widths 128 300 --processes 16 20

*rivals*: passes of trainings per second, of plain PyG loops in many processes and of our stacks
(``benchmarks/side_by_side.py``). *command*: the same for what ``ssread compare`` does, from its first line on. *cell*:
a whole table cell with early stopping, and the share of its slots that are idle: models that have stopped, but stay in
the stack. Every step is that of a cohort, recorded as a CUDA graph: batch building, forward, backward, optimizer.
*floor* counts every node tensor that a step must read or write, once for each time it is needed, at the speed of a
large copy measured in the same run; *products* are its matrix products at the speed of a large one in the same
precision. The plain loop is that of ``benchmarks/protocol.py``, one model after another.
"""

import argparse
import statistics
import time

import torch
from measuring import captured, dataset
from protocol import PlainLoop
from rich.console import Console
from rich.table import Table
from rivals import Race, race
from side_by_side import LAYERS

from ssread.data.graphset import GraphSet
from ssread.data.splits import stratified_folds
from ssread.evaluate.runners import GPURunner
from ssread.published.datasets import TABLE_1
from ssread.train import Run, Training
from ssread.train.batch_plans import full_plan, large_batches_together
from ssread.train.cohort import Cohort
from ssread.train.fit import fit, fold_of_run

D, B = 128, 128
#: Node tensors read and written by one layer, forward and backward, its matrix products, layers and width. A level of
#: Graph U-Net has two layers; DiffPool's layers are those of both its stacks, its clusters are not counted.
PASSES = {"gcn": 19, "gin": 33, "dgcnn": 11, "diffpool": 22, "sagpool": 19, "gunet": 33}
PRODUCTS = {"gcn": 3, "gin": 6, "dgcnn": 3, "diffpool": 6, "sagpool": 3, "gunet": 6}
LEVELS = {**LAYERS, "dgcnn": 3, "diffpool": 6, "sagpool": 3, "gunet": 3}
WIDTHS = {"dgcnn": 32}

NAMES = [row.name for row in TABLE_1]


def model(arch: str, readout: str = "ssread", positions: int = 8) -> dict:
    """A model as the recipe fair has it; GCN and GIN with the sum, the others with their own aggregation."""
    own = {"aggr": "sum"} if arch in LAYERS else {}
    return {"name": arch, "readout": readout, "num_positions": positions, "normalize": True, **own}


class TimedCohort:
    """R models ready to be stepped."""

    def __init__(self, graphs: GraphSet, arguments: dict, replicas: int):
        runs = [Run(arguments, seed=r // 10, fold=r % 10) for r in range(replicas)]
        seeds = {run.seed: stratified_folds(graphs, 10, seed=run.seed) for run in runs}
        members = [seeds[run.seed][run.fold].train for run in runs]
        generators = [torch.Generator().manual_seed(r) for r in range(replicas)]
        training = Training()
        drawn = [full_plan(members, generators, training.batch_size) for _ in range(4)]
        plans = [large_batches_together(plan, graphs, epoch) for epoch, plan in enumerate(drawn)]
        self.plans = [plan.repeat(max(1, 8 // len(plan)), 1, 1) for plan in plans]
        self.engine = Cohort(graphs, runs, training, "cuda", print)
        for plan in 3 * self.plans:  # every size of batch is run, then recorded
            self.engine.train_epoch(plan)

    def milliseconds(self, least: float = 0.5) -> float:
        """The median time of a step: passes, each timed as a whole."""
        times, until = [], time.perf_counter() + least
        while time.perf_counter() < until or len(times) < len(self.plans):
            plan = self.plans[len(times) % len(self.plans)]
            torch.cuda.synchronize()
            start = time.perf_counter()
            self.engine.train_epoch(plan)
            times.append((time.perf_counter() - start) / len(plan))
        return 1e3 * statistics.median(times)

    def edges(self) -> int:
        """Edges of a step, of all models, on average."""
        return self._per_step(self.engine._on_host.edge_counts)

    def nodes(self) -> int:
        """Nodes of a step, of all models, on average, without padding."""
        return self._per_step(self.engine._on_host.node_counts)

    def padded_nodes(self) -> int:
        """The same with padding."""
        rooms = [room.num_nodes for plan in self.plans for room in self.engine.make_room(plan)]
        return int(statistics.mean(rooms)) * self.plans[0].size(1)

    def _per_step(self, counts: torch.Tensor) -> int:
        steps = sum(len(plan) for plan in self.plans)
        return sum(int((counts[plan.clamp(min=0)] * (plan >= 0)).sum()) for plan in self.plans) // steps


def median_ms(function, least: float = 0.2, calls: int = 5) -> float:
    """The median of a GPU function's time, several calls recorded as one CUDA graph: no launch is in it."""
    run = captured(lambda: [function() for _ in range(calls)])
    times, until = [], time.perf_counter() + least
    while time.perf_counter() < until or len(times) < 5:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return statistics.median(times)


def ceilings() -> tuple[float, float]:
    """Bytes per second of a large copy, and operations per second of large float32 matrix products."""
    a = torch.randn(1 << 28, device="cuda")
    b = torch.empty_like(a)
    copy = 2 * a.numel() * 4 / (median_ms(lambda: torch.neg(a, out=b)) / 1e3)  # by a kernel, as all else
    x, w = torch.randn(50, 4096, D, device="cuda"), torch.randn(50, D, D, device="cuda")
    rate = 2 * 50 * 4096 * D * D / (median_ms(lambda: torch.bmm(x, w)) / 1e3)
    return copy, rate


def floor_ms(arch: str, nodes: int, features: int, readout: str, ceiling: tuple[float, float]) -> tuple[float, float]:
    """Milliseconds that the bytes and the matrix products of a step need at least."""
    width = WIDTHS.get(arch, D)
    passes = PASSES[arch] * LEVELS[arch] + 2 + (4 if readout == "ssread" else 2)
    moved = 4 * nodes * (passes * width + 2 * features)
    products = 2 * nodes * width * (PRODUCTS[arch] * LEVELS[arch] * width + 2 * features)
    return 1e3 * moved / ceiling[0], 1e3 * products / ceiling[1]


def steps(sets: list[GraphSet], archs: list[str], ceiling: tuple[float, float]) -> Table:
    """A step of 50 models by architecture, readout and dataset."""
    table = Table(title="One step of 50 models (batch 128, d = 128, K = 8)")
    for column in ("dataset", "classifier", "readout", "ms", "floor", "products", "over floor", "GB/s", "over GRead",
                   "ns / edge", "padding", "GB held", "over plain loop"):  # fmt: skip
        table.add_column(column, justify="left" if column in ("dataset", "classifier", "readout") else "right")
    for graphs in sets:
        plain = 0.0
        for arch in archs:
            times = {}
            for readout in ("global", "ssread"):
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
                cohort = TimedCohort(graphs, model(arch, readout), 50)
                times[readout] = cohort.milliseconds()
                moved, products = floor_ms(arch, cohort.nodes(), graphs.num_node_features, readout, ceiling)
                if arch == "gcn" and readout == "ssread":
                    plain = 50 * plain_step_ms(graphs)
                ratio = f"{plain / times[readout]:.0f}x" if arch == "gcn" and readout == "ssread" else ""
                table.add_row(
                    graphs.name, arch, readout, f"{times[readout]:.2f}", f"{moved:.2f}", f"{products:.2f}",
                    f"{times[readout] / moved:.1f}x", f"{moved / times[readout] * ceiling[0] / 1e9:.0f}",
                    f"{times[readout] / times['global']:.3f}", f"{1e6 * times[readout] / cohort.edges():.1f}",
                    f"{1 - cohort.nodes() / cohort.padded_nodes():.0%}",
                    f"{torch.cuda.max_memory_allocated() / 1e9:.1f}", ratio,
                )  # fmt: skip
                del cohort
    return table


def plain_step_ms(graphs: GraphSet) -> float:
    """Milliseconds of a step of the plain loop, validation left out of the count of steps but not of the time."""
    loop = PlainLoop(graphs, Run(model("gcn"), seed=0, fold=0), Training(), "cuda")
    loop.one_pass()
    start = time.perf_counter()
    loop.one_pass()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / len(loop.train)


def growth(graphs: GraphSet, sizes: list[int]) -> Table:
    """How a step grows with the number of models."""
    table = Table("models", "ms", "ms / model", title=f"{graphs.name}: GCN + SSRead(sum, K = 8)")
    for replicas in sizes:
        cohort = TimedCohort(graphs, model("gcn"), replicas)
        ms = cohort.milliseconds(0.3)
        table.add_row(str(replicas), f"{ms:.2f}", f"{ms / replicas:.3f}")
    return table


def kernels(ceiling: tuple[float, float]) -> Table:
    """Every fused kernel alone, against plain torch code for the same and against the bytes it must move."""
    import kernel_twins

    table = Table(
        "kernel", "ms", "floor", "over floor", "torch", "faster", title="Kernels alone, sizes of an NCI1 step"
    )
    for name, fused, twin, moved in kernel_twins.cases():
        ours, theirs, floor = median_ms(fused), median_ms(twin), 1e3 * moved / ceiling[0]
        table.add_row(
            name, f"{ours:.3f}", f"{floor:.3f}", f"{ours / floor:.1f}x", f"{theirs:.3f}", f"{theirs / ours:.1f}x"
        )
    return table


class CountedCohort(Cohort):
    """Counts the passes of all its slots, also of those whose model has stopped."""

    slots = 0

    def train_epoch(self, plan: torch.Tensor) -> torch.Tensor:
        """See :class:`ssread.train.engine.Engine`."""
        self.slots += plan.size(1)
        return super().train_epoch(plan)


def cell(graphs: GraphSet, seeds: int) -> tuple[Table, bool]:
    """A whole table cell with early stopping, twice: its time, and whether both runs agree bit by bit."""
    title = f"{graphs.name}: GCN + SSRead(sum, K = 8)"
    table = Table("cell", "trainings", "passes", "idle slots", "s", "accuracy", title=title)
    runs = [Run(model("gcn"), seed=seed, fold=fold) for seed in range(seeds) for fold in range(10)]
    outcomes = []
    for number in (1, 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        engine = CountedCohort(graphs, runs, Training(), "cuda")
        results = fit(engine, graphs, runs, [fold_of_run(graphs, run) for run in runs], Training())
        seconds = time.perf_counter() - start
        right = [(r.test_predictions.argmax(1) == r.test_targets).mean() for r in results]
        passes = sum(r.epochs for r in results)
        table.add_row(
            str(number), str(len(runs)), str(passes), f"{1 - passes / engine.slots:.0%}", f"{seconds:.1f}",
            f"{100 * statistics.mean(right):.2f}",
        )  # fmt: skip
        outcomes.append([r.test_predictions.tobytes() for r in results])
    return table, outcomes[0] == outcomes[1]


def command(graphs: GraphSet, epochs: int) -> Table:
    """Stacks of 50 models by the runner that ``ssread compare`` uses, twice: starting everything, and started."""
    table = Table("", "stacks", "at a time", "passes", "s", "passes / s", title=f"{graphs.name}: GCN + SSRead(sum)")
    runner = GPURunner(say=print)
    sizes = (2, 4, 8, 12, 16, 24, 32, 48)
    runs = [Run(model("gcn", positions=k), seed, fold) for k in sizes for seed in range(5) for fold in range(10)]
    for which in ("first", "again"):
        start = time.perf_counter()
        passes = sum(r.epochs for r in runner.train(graphs, runs, Training(epochs=epochs, patience=epochs)))
        seconds = time.perf_counter() - start
        numbers = (f"{len(sizes)}", f"{runner._sharing.workers}", f"{passes}", f"{seconds:.1f}")
        table.add_row(which, *numbers, f"{passes / seconds:.0f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest case of each")
    parts = ["rivals", "command", "kernels", "steps", "growth", "cell"]
    parser.add_argument("--parts", nargs="+", default=parts, choices=parts)
    parser.add_argument("--datasets", nargs="+", default=["NCI1", "MUTAG", "IMDB-BINARY", "PROTEINS"], choices=NAMES)
    archs = ["gcn", "gin", "dgcnn", "diffpool", "sagpool", "gunet"]
    parser.add_argument("--archs", nargs="+", default=archs[:2], choices=archs, help="of rivals and steps")
    parser.add_argument("--widths", nargs="+", type=int, default=[128, 300], help="of the rivals")
    parser.add_argument("--processes", nargs="+", type=int, default=[16, 20], help="how many plain ones")
    parser.add_argument("--stacks", type=int, default=4, help="how many of ours stand against them")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long passes are counted")
    options = parser.parse_args()
    console = Console(width=160)
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a GPU that torch can use; there is none here.")
    began = time.perf_counter()
    if "rivals" in options.parts:  # first, while this process does not use the GPU
        name = options.datasets[0]
        who = Race(options.archs, options.widths, options.processes, options.stacks, seconds=options.seconds)
        if options.quick:
            who = Race(["gcn"], [128], [2], stacks=2, seconds=1.0)
        console.print(f"Against plain processes: about {who.expected_seconds()} s")
        console.print(race(name, options.quick, who))
    if "command" in options.parts:
        console.print(command(dataset(options.datasets[0], options.quick), 3 if options.quick else 40))
    if set(options.parts) & {"kernels", "steps", "growth", "cell"}:
        this_process(options, console)
    console.print(f"{time.perf_counter() - began:.0f} s in all")


def this_process(options: argparse.Namespace, console: Console) -> None:
    """The parts that this process measures alone."""
    ceiling = ceilings()
    console.print(
        f"{GPURunner()!r}: copies {ceiling[0] / 1e12:.2f} TB/s, float32 products {ceiling[1] / 1e12:.0f} TFLOP/s"
    )
    sets = [dataset(name, options.quick) for name in options.datasets]
    if "kernels" in options.parts:
        console.print(kernels(ceiling))
    if "steps" in options.parts:
        console.print(steps(sets, options.archs[:1] if options.quick else options.archs, ceiling))
    if "growth" in options.parts:
        console.print(growth(sets[0], [1, 50] if options.quick else [1, 5, 10, 25, 50, 100]))
    if "cell" in options.parts:
        for graphs in sets[:1] if options.quick else sets:
            table, same = cell(graphs, 1 if options.quick else 5)
            console.print(table)
            console.print(f"bitwise the same twice: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
