"""What SSRead costs inside every classifier: the paper's figure 8, as ratios within one run.

    python benchmarks/models.py [--quick] [--device cuda [--eager]] [--threads 1] [--rounds 20] [--models gcn gin]

A training step (forward, backward, Adam) with the global readout and with SSRead for K = 2, 4, 8, 16, on a batch of 128
graphs of NCI1 and of DD, DD's largest graph (5,748 nodes) among them; planted graphs of their mean sizes stand in where
the datasets are not on this machine. The variants take turns within every round. Printed are the median time, the
median over rounds of the ratio to the global readout, and the most memory a step holds beyond what stood before it.
On a GPU the step is a captured CUDA graph, as in training (its memory was taken when it was captured); with --eager,
Python launches every kernel and the ratios count kernels.
"""

import argparse

import torch
import torch.nn.functional as F
from measuring import Step, captured, dataset, measure
from rich.console import Console
from rich.table import Table

from ssread.data.graphset import GraphSet
from ssread.models import ARCHITECTURES, GraphClassifier, model_for

GRAPHS = 128


def training_step(model: GraphClassifier, graphs: GraphSet, device: str, eager: bool) -> Step:
    """Forward, backward and Adam on one batch that holds the largest graph."""
    chosen = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:GRAPHS]
    chosen[0] = graphs.node_counts.argmax()
    batch = graphs.batch(chosen).to(device)
    model = model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True, capturable=device == "cuda")

    def step() -> None:
        optimizer.zero_grad()
        output = model.run(batch)
        loss = F.cross_entropy(output.logits, batch.y)
        (loss + output.alignment_loss() + output.auxiliary_loss()).backward()
        optimizer.step()

    return step if eager or device == "cpu" else captured(step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="K = 8 and NCI1 only, two rounds")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cpu", "cuda"])
    parser.add_argument("--eager", action="store_true", help="on a GPU: do not capture the step")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")
    parser.add_argument("--rounds", type=int, default=20, help="measured repetitions (default 20)")
    parser.add_argument("--models", nargs="+", default=list(ARCHITECTURES), choices=list(ARCHITECTURES))
    parser.add_argument("--datasets", nargs="+", default=["NCI1", "DD"], choices=["NCI1", "DD"])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    positions = (8,) if options.quick else (2, 4, 8, 16)
    rounds = 2 if options.quick else options.rounds
    machine = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} CPU thread(s)"
    console = Console(width=120)
    for name in options.datasets[: 1 if options.quick else None]:
        graphs = dataset(name, options.quick)
        table = Table(title=f"Training step, {GRAPHS} graphs of {graphs.name}, torch {torch.__version__}, {machine}")
        for column in ("model", "readout", "ms", "ratio", "peak MB"):
            table.add_column(column, justify="left" if column in ("model", "readout") else "right")
        for architecture in options.models:
            models = {"global": model_for(graphs, architecture, readout="global")}
            for K in positions:
                models[f"ssread K={K}"] = model_for(graphs, architecture, readout="ssread", num_positions=K)
            steps = {
                variant: training_step(model, graphs, options.device, options.eager)
                for variant, model in models.items()
            }
            for variant, (ms, ratio, megabytes) in measure(steps, rounds, options.device).items():
                table.add_row(architecture, variant, f"{ms:.2f}", f"{ratio:.3f}", f"{megabytes:.0f}")
            table.add_section()
        console.print(table)


if __name__ == "__main__":
    main()
