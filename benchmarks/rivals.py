"""How many passes of trainings a GPU does in a second: by plain processes, and by our stacks of models."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table
from side_by_side import LAYERS, crew


@dataclass(frozen=True)
class Race:
    """Who trains side by side.

    Attributes:
        archs: The classifiers.
        widths: Their widths.
        processes: The numbers of plain processes.
        stacks: The number of our processes.
        models: The models in each of our stacks.
        seconds: How long passes are counted.
    """

    archs: list[str]
    widths: list[int]
    processes: list[int]
    stacks: int = 4
    models: int = 50
    seconds: float = 6.0

    def rivals(self, arch: str) -> list[tuple[str, int]]:
        """Kinds and numbers of processes that a classifier is trained by, beside our stacks."""
        kinds = ["loader", "resident"] if arch in LAYERS else ["single"]
        return [(kind, count) for kind in kinds for count in self.processes]

    def expected_seconds(self) -> int:
        """About how long all this takes, starting 20 processes included."""
        rivals = sum(len(self.rivals(arch)) for arch in self.archs)
        return int(30 + len(self.widths) * ((self.seconds + 5) * rivals + (self.seconds + 12) * 2 * len(self.archs)))


def race(name: str, quick: bool, who: Race) -> Table:
    """Passes per second of all processes together: ours by either readout, and what plain processes do with a sum."""
    title = f"{name}: passes of trainings per second, all processes together; {who.stacks} stacks of ours"
    table = Table("ours / best rival", "classifier", "width", "ours, GRead", "ours, SSRead", "models", title=title)
    for kind in ("loader", "resident", "single"):
        for count in who.processes:
            table.add_column(f"{count} x {kind}", justify="right")
    with crew(max(*who.processes, who.stacks), name, quick) as together:
        for arch in who.archs:
            for width in who.widths:
                plain = {"arch": arch, "width": width}
                rivals = {}
                for kind, count in who.rivals(arch):
                    arguments = plain if arch in LAYERS else {"arguments": _model(arch, width, "global"), "models": 1}
                    rivals[kind, count], _ = together.passes_per_second(count, kind, who.seconds, **arguments)
                    print(f"{arch}, width {width}: {count} x {kind}: {rivals[kind, count]:.1f} passes/s", flush=True)
                ours, models = {}, who.models
                for readout in ("global", "ssread"):
                    arguments = {"arguments": _model(arch, width, readout), "models": who.models}
                    ours[readout], fit = together.passes_per_second(who.stacks, "stack", who.seconds, **arguments)
                    models = min(models, fit)
                    print(f"{arch}, width {width}: ours, {readout}: {ours[readout]:.0f} passes/s", flush=True)
                table.add_row(
                    f"{ours['global'] / max(rivals.values()):.1f}x", arch, str(width),
                    f"{ours['global']:.0f}", f"{ours['ssread']:.0f}", str(models),
                    *(f"{rivals[kind, count]:.1f}" if (kind, count) in rivals else ""
                      for kind in ("loader", "resident", "single") for count in who.processes),
                )  # fmt: skip
    return table


def _model(arch: str, width: int, readout: str) -> dict[str, Any]:
    own = {"aggr": "sum"} if arch in LAYERS else {}  # the others have an aggregation of their own
    return {"name": arch, "hidden_channels": width, "readout": readout, "num_positions": 8, **own}
