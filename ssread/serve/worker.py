"""A worker process: it loads the models once and answers one batch after another."""

import signal
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ssread.errors import InputError
from ssread.serve.jobs import Answer, Kind, Refusal
from ssread.serve.settings import Limits

__all__ = ["READY", "work"]

#: What a worker sends when its models are loaded.
READY = "ready"


def work(pipe: Connection, folders: Mapping[str, Path], limits: Limits, parent: int) -> None:
    """Answers what comes through the pipe until the other end is closed.

    Ctrl-C and a signal to end reach all processes of the server; the workers leave it to the server to finish what it
    has accepted, and to close the pipe.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        from ssread.apply.trained_model import TrainedModel
        from ssread.common.workers import as_worker

        as_worker(parent)
        models = {name: TrainedModel.load(folder) for name, folder in folders.items()}
        _warm_up(models)
    except InputError as error:
        pipe.send(str(error))
        return
    pipe.send(READY)
    while True:
        try:
            kind, items = pipe.recv()
        except EOFError:
            return
        pipe.send(_answered(models, kind, items, limits))


def _answered(models: Mapping[str, Any], kind: Kind, items: Any, limits: Limits) -> Answer | Refusal:
    from ssread.serve.answers import answer
    from ssread.serve.tables import TooLargeError

    try:
        return answer(models[kind.model], kind, items, limits)
    except TooLargeError as error:
        return Refusal(str(error), 413)
    except InputError as error:
        return Refusal(str(error))
    except Exception as error:  # a worker outlives what it did not expect; the server logs it and answers with 500
        import traceback

        traceback.print_exc()
        return Refusal(f"The server failed at this ({type(error).__name__}); its log says more.", 500)


def _warm_up(models: Mapping[str, Any]) -> None:
    """Imports everything that an answer needs, so that the first request does not wait for it."""
    import pandas as pd

    from ssread.data.graph_features import own_columns
    from ssread.serve import answers
    from ssread.serve.jobs import File

    for name, model in models.items():
        columns = {"smiles": ["CCO"], **{column: [1.0] for column in own_columns(model.features.sources)}}
        file = File("ethanol.csv", pd.DataFrame(columns).to_csv(index=False).encode())
        for what in ("predict", "embed", "explain"):
            try:
                answers.answer(model, Kind(name, what, item="table"), [file], Limits())
            except InputError:  # a model of other graphs
                continue
