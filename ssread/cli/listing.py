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


@app.command()
def schema(
    name: Annotated[
        str,
        typer.Argument(help="compare or train: their settings files; model, graph-set, run, training: what is kept."),
    ],
) -> None:
    """Print what a settings file, or another description, may hold, as JSON Schema for editors and programs.

    Example:

    - ssread schema compare > compare.schema.json
    """
    import json

    from ssread.commands.schemas import json_schema

    typer.echo(json.dumps(json_schema(name), indent=2))
