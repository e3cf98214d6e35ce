"""What SSRead costs: against PyG's plain sum readout alone, and inside a training step of a 3-layer GIN.

    python benchmarks/readout.py [--quick] [--device cuda] [--compile] [--threads 1] [--rounds 30]

All variants take turns within every round, so that a machine that slows down slows all of them. Printed are the median
time, the median over rounds of the ratio to the first variant, and the most memory a step holds beyond what stood
before it. "K=8 + loss" is SSRead(sum) with its alignment loss, forward and backward. On a GPU the training step is
measured three ways: launched by Python, compiled, and captured as a CUDA graph, which leaves the kernels alone.
"""

import argparse

import torch
import torch.nn.functional as F
from measuring import Step, captured, measure
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch_geometric.nn import GINConv, SumAggregation

from ssread import SSRead

SHAPES = {"like NCI1": (3_800, 8_300), "like DD": (36_000, 183_000)}  # nodes and directed edges of 128 graphs
GRAPHS, D, K = 128, 128, 8


def readout_steps(nodes: int, device: str) -> dict[str, Step]:
    """Forward and backward of the readouts alone."""
    x = torch.randn(nodes, D, device=device, requires_grad=True)
    index = torch.arange(nodes, device=device) * GRAPHS // nodes
    plain, ours, out_grad = SumAggregation(), SSRead(D, K).to(device), torch.randn(GRAPHS, K * D, device=device)

    def global_sum() -> None:
        plain(x, index, dim_size=GRAPHS).backward(out_grad[:, :D])

    def positions() -> None:
        ours(x, index, dim_size=GRAPHS).backward(out_grad)

    def positions_and_loss() -> None:
        reading = ours.read(x, index, dim_size=GRAPHS)
        torch.autograd.backward([reading.vectors, reading.alignment_loss()], [out_grad, None])

    return {"PyG sum": global_sum, "SSRead K=8": positions, "SSRead K=8 + loss": positions_and_loss}


class GIN(nn.Module):
    """Three GIN layers, a readout, a linear head: what most people would write."""

    def __init__(self, readout: nn.Module, out_channels: int):
        super().__init__()
        self.layers = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(D, D), nn.BatchNorm1d(D), nn.ReLU(), nn.Linear(D, D), nn.ReLU()))
            for _ in range(3)
        )
        self.readout, self.head = readout, nn.Linear(out_channels, 2)

    def loss(self, x: Tensor, edge_index: Tensor, index: Tensor, y: Tensor) -> Tensor:
        """The classification loss, and the alignment loss where there is one."""
        for layer in self.layers:
            x = layer(x, edge_index)
        if isinstance(self.readout, SSRead):
            reading = self.readout.read(x, index, dim_size=GRAPHS)
            return F.cross_entropy(self.head(reading.vectors), y) + reading.alignment_loss()
        return F.cross_entropy(self.head(self.readout(x, index, dim_size=GRAPHS)), y)


def training_steps(nodes: int, edges: int, device: str, how: str = "") -> dict[str, Step]:
    """A whole training step: forward, backward, Adam; ``how`` is empty, compiled or captured."""
    x = torch.randn(nodes, D, device=device)
    index = torch.arange(nodes, device=device) * GRAPHS // nodes
    source = torch.randint(nodes, (edges,), device=device)
    first, last = torch.searchsorted(index, index), torch.searchsorted(index, index, right=True)
    within = torch.rand(edges, device=device)  # a random node of the same graph
    target = first[source] + (within * (last - first)[source]).long()
    edge_index, y = torch.stack([source, target]), torch.randint(2, (GRAPHS,), device=device)

    def make(model: GIN) -> Step:
        model = model.to(device)
        loss = torch.compile(model.loss) if how == "compiled" else model.loss
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True, capturable=device == "cuda")

        def step() -> None:
            optimizer.zero_grad()
            loss(x, edge_index, index, y).backward()
            optimizer.step()

        return captured(step) if how == "captured" else step

    return {"PyG sum": make(GIN(SumAggregation(), D)), "SSRead K=8 + loss": make(GIN(SSRead(D, K), K * D))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true", help="three repetitions")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile'd training steps too")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")
    parser.add_argument("--rounds", type=int, default=30, help="measured repetitions (default 30)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    machine = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} CPU thread(s)"
    table = Table(title=f"SSRead(sum, K={K}), {GRAPHS} graphs, d={D}, torch {torch.__version__}, {machine}")
    for column in ("nodes", "what", "variant"):
        table.add_column(column)
    for column in ("ms", "ratio", "peak MB"):
        table.add_column(column, justify="right")
    for shape, (nodes, edges) in SHAPES.items():
        parts = {
            "readout": readout_steps(nodes, options.device),
            "GIN step": training_steps(nodes, edges, options.device),
        }
        ways = ["compiled"] * options.compile + ["captured"] * (options.device == "cuda")
        for how in ways:
            parts[f"GIN step, {how}"] = training_steps(nodes, edges, options.device, how)
        for what, steps in parts.items():
            results = measure(steps, 3 if options.quick else options.rounds, options.device)
            for variant, (ms, ratio, megabytes) in results.items():
                table.add_row(f"{nodes} {shape}", what, variant, f"{ms:.2f}", f"{ratio:.3f}", f"{megabytes:.1f}")
            table.add_section()
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
