"""The command line: a thin shell over the library, one function per verb."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ssread.errors import InputError


class _Verbs(TyperGroup):
    """Prints the sentence of an ``InputError`` alone, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_Verbs,
    help="Graph classification that shows which structural role every node plays.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _main() -> None:  # a verb is named even while there is only one
    pass


@app.command()
def datasets() -> None:
    """List the datasets that can be had, from where, with the paper's Table I beside our counts."""
    from rich.console import Console

    from ssread.data.listing import as_table, list_datasets

    console = Console()
    console.width = max(console.width, 116)  # a table that is cut to the width of a pipe or a small window is no use
    console.print(as_table(list_datasets()))


@app.command()
def models(
    dataset: Annotated[str | None, typer.Argument(help="Sizes are those of this dataset instead of MUTAG's.")] = None,
) -> None:
    """Print the layers and the number of parameters of every model beside the paper's Table II."""
    from rich.console import Console

    from ssread.models.table import MUTAG, as_table, describe_all

    sizes = MUTAG
    if dataset is not None:
        from ssread.data import load

        graphs = load(dataset)
        sizes = {
            "in_channels": graphs.num_node_features,
            "num_classes": graphs.num_classes,
            "edge_channels": graphs.num_edge_features,
            "max_nodes": int(graphs.node_counts.max()),
        }
    console = Console()
    console.width = max(console.width, 140)
    title = f"Models (paper: Table II; parameters for {dataset or 'MUTAG'} with either readout, K = 4)"
    console.print(as_table(describe_all(**sizes), title))
