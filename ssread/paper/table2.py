"""Table II: the layers of the classifiers, read from the models, next to the paper's."""

from pathlib import Path

from ssread.common.files import write_text
from ssread.common.markdown import markdown_table
from ssread.models.architectures import ARCHITECTURES
from ssread.models.model_table import MUTAG, as_table, describe_all
from ssread.paper.registry import PAPER, Context, Progress

__all__ = ["progress", "run"]

IN_PAPER = PAPER["table2"].rows


def progress(context: Context) -> Progress:
    """Always complete: the classifiers are part of this package."""
    return Progress(len(IN_PAPER), len(IN_PAPER), "classifiers")


def run(context: Context) -> list[Path]:
    """Describes every chosen classifier, with the input sizes of MUTAG."""
    described = describe_all(**MUTAG)
    described = {name: described[name] for name in context.chosen_rows(IN_PAPER)}
    context.console.print(as_table(described, "Models (parameters for MUTAG with either readout, K = 4)"))
    rows = []
    for name, by_readout in described.items():
        sizes = [f"{by_readout[readout].parameters:,}" for readout in ("global", "ssread")]
        rows += [[name, "paper", *(ARCHITECTURES[name].paper or ()), "", ""]]
        rows += [["", "ours", *by_readout["global"].cells, *sizes]]
    headings = ["model", "", "message passing", "pooling", "ratio", "architecture", "readout", "head"]
    headings += ["parameters, GRead", "parameters, SSRead"]
    text = markdown_table(headings, rows) + "\nParameters for MUTAG, K = 4.\n"
    return [write_text(context.folder("table2") / "table2.md", text)]
