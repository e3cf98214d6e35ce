"""Which datasets and models there are."""

from typing import Annotated

import typer

from ssread.cli.app import app, wide_console


@app.command()
def datasets() -> None:
    """List the datasets, where each comes from, and its size beside the paper's Table I."""
    from ssread.data.listing import as_table, list_datasets

    wide_console(116).print(as_table(list_datasets()))


@app.command()
def models(
    dataset: Annotated[str | None, typer.Argument(help="Count parameters for this dataset. (default: MUTAG)")] = None,
) -> None:
    """List the models: their layers beside the paper's Table II, and their numbers of parameters."""
    from ssread.models.model_table import MUTAG, as_table, describe_all

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
    title = f"Models (paper: Table II; parameters for {dataset or 'MUTAG'} with either readout, K = 4)"
    wide_console(140).print(as_table(describe_all(**sizes), title))
