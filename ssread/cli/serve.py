"""Models behind a page and an HTTP interface."""

from pathlib import Path
from typing import Annotated

import typer

from ssread.cli.app import app
from ssread.cli.options import WORKERS


@app.command()
def serve(
    models: Annotated[list[Path], typer.Argument(help="The folders of models, as ssread train writes them.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on. One that others can reach needs a token (docs/serve.md).")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8000,
    max_molecules: Annotated[int, typer.Option(min=1, help="Most molecules of a request.")] = 1000,
    max_atoms: Annotated[int, typer.Option(min=1, help="Most atoms of a molecule.")] = 500,
    max_megabytes: Annotated[float, typer.Option(help="Largest request.")] = 10.0,
    timeout: Annotated[float, typer.Option(help="Most seconds of a request.")] = 30.0,
    workers: WORKERS = None,
) -> None:
    """Serve models: a page to type molecules into and see why, and an HTTP interface for programs.

    The page shows predictions with their uncertainty, positions and contributions of atoms, the nearest training
    molecules and the card. The interface predicts, embeds and explains; its schema is at /api/openapi.json.

    Examples:

    - ssread serve model

    - ssread serve toxicity solubility --port 8080
    """
    from ssread.evaluate.placement import check_workers
    from ssread.serve.settings import Limits, name_models

    check_workers(workers)
    name_models(models)
    limits = Limits(body=1e6 * max_megabytes, molecules=max_molecules, atoms=max_atoms, seconds=timeout)
    from ssread.serve.server import serve as run

    run(models, host=host, port=port, workers=workers, limits=limits)
