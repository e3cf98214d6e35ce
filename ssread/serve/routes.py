"""The addresses of the interface."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow
import pyarrow.parquet
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import PlainTextResponse, Response

from ssread.errors import InputError
from ssread.serve.jobs import GRAPH_ENDINGS, TABLE_ENDINGS, Answer, Edit, File, Kind, Molecule, What, check_name
from ssread.serve.metrics import Metrics
from ssread.serve.model_info import model_info
from ssread.serve.openapi import FILE_BODY, PARQUET
from ssread.serve.pool import RefusedError, WorkerPool
from ssread.serve.schemas import (
    Ask,
    Change,
    ChangedAnswer,
    Embeddings,
    Explanations,
    ModelInfo,
    PredictAsk,
    Predictions,
)
from ssread.serve.settings import Limits

__all__ = ["make_routes"]

JSON = "application/json"

Accept = Annotated[str, Header(description=f"{PARQUET} for a Parquet file instead of JSON.", max_length=1000)]
FileName = Annotated[
    str, Query(max_length=200, description=f"Its name, which ends in {', '.join((*TABLE_ENDINGS, *GRAPH_ENDINGS))}.")
]
Column = Annotated[str | None, Query(max_length=200)]
Coverage = Annotated[float | None, Query(gt=0, lt=1)]


def make_routes(models: Mapping[str, Path], limits: Limits, metrics: Metrics) -> APIRouter:
    """The routes of a server with these models."""
    router = APIRouter()
    infos = {name: model_info(name, folder) for name, folder in models.items()}

    def named(model: str) -> ModelInfo:
        if model not in infos:
            raise RefusedError(f"There is no model {model!r}. The models here are {', '.join(infos)}.", 404)
        return infos[model]

    # Routes are tried in this order, so that the most used ones come first.
    @router.post("/api/models/{model}/predict", tags=["molecules"], response_model=Predictions)
    async def predict(request: Request, model: str, ask: PredictAsk, accept: Accept = "") -> Response:
        """Predict molecules: classes, labels or numbers, how sure they are, shares of positions."""
        return await _asked(request, named(model), ask, "predict", accept, ask.coverage)

    @router.post("/api/models/{model}/embed", tags=["molecules"], response_model=Embeddings)
    async def embed(request: Request, model: str, ask: Ask, accept: Accept = "") -> Response:
        """Compute the graph vectors of molecules."""
        return await _asked(request, named(model), ask, "embed", accept, None)

    @router.post("/api/models/{model}/explain", tags=["molecules"], response_model=Explanations)
    async def explain(request: Request, model: str, ask: PredictAsk) -> Response:
        """Explain predictions: positions and contributions of atoms, and the nearest training molecules."""
        return await _asked(request, named(model), ask, "explain", "", ask.coverage)

    @router.post("/api/models/{model}/change", tags=["molecules"], response_model=ChangedAnswer)
    async def change(request: Request, model: str, ask: Change) -> Response:
        """Put another element at one atom, and explain the molecule before and after."""
        _check_length([ask.smiles], limits)
        edit, kind = Edit(ask.smiles, ask.atom, ask.element), _kind(named(model), "change", ask.coverage)
        (answer,) = await _pool(request).submit(kind, [edit])
        return Response(b'{"model":%s,%s' % (json.dumps(model).encode(), answer.rows[0][1:]), media_type=JSON)

    answers = Predictions | Embeddings | Explanations

    @router.post("/api/models/{model}/file/{what}", tags=["files"], response_model=answers, openapi_extra=FILE_BODY)
    async def file(
        request: Request,
        model: str,
        what: Literal["predict", "embed", "explain"],
        name: FileName,
        smiles: Column = None,
        id: Column = None,
        coverage: Coverage = None,
        accept: Accept = "",
    ) -> Response:
        """The same for a file: a table of molecules, or one graph."""
        check_name(name)
        item: Any = "graph" if name.lower().endswith(GRAPH_ENDINGS) else "table"
        form: Any = "table" if PARQUET in accept and what != "explain" else "json"
        kind = Kind(model, what, _coverage(named(model), coverage), form, item, smiles, id)
        return _response(kind, await _pool(request).submit(kind, [File(name, await request.body())]))

    @router.get("/health", tags=["server"])
    async def health() -> dict[str, str]:
        """Whether the server runs."""
        return {"status": "ok"}

    @router.get("/ready", tags=["server"])
    async def ready(request: Request) -> dict[str, str]:
        """Whether requests are answered: the models are loaded."""
        if not _pool(request).ready:
            raise RefusedError("The models are not loaded yet: try again in a few seconds.", 503)
        return {"status": "ready"}

    @router.get("/metrics", tags=["server"], response_class=PlainTextResponse)
    async def counted() -> Response:
        """Counters for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @router.get("/api/models", tags=["models"])
    async def list_models() -> list[ModelInfo]:
        """All models, with their cards."""
        return list(infos.values())

    async def _asked(
        request: Request, model: ModelInfo, ask: Ask, what: What, accept: str, coverage: float | None
    ) -> Response:
        items = _items(ask, limits.most(what))
        if ask.smiles is not None:
            _check_length([item.smiles for item in items], limits)
        kind = _kind(model, what, coverage, accept, "molecule" if ask.smiles is not None else "graph")
        return _response(kind, await _pool(request).submit(kind, items))

    return router


def _pool(request: Request) -> WorkerPool:
    return request.app.state.pool


def _kind(model: ModelInfo, what: What, coverage: float | None, accept: str = "", item: Any = "molecule") -> Kind:
    return Kind(model.name, what, _coverage(model, coverage), "table" if PARQUET in accept else "json", item)


def _coverage(model: ModelInfo, coverage: float | None) -> float | None:
    if coverage is not None and not model.calibrated:
        raise InputError("The model has no calibration, so that no coverage can be promised.")
    return coverage


def _items(ask: Ask, most: int) -> list[Any]:
    """The molecules or graphs of a request."""
    if (ask.smiles is None) == (ask.graphs is None):
        raise InputError("Send either smiles or graphs.")
    count = len(ask.smiles or ask.graphs or ())
    if count > most:
        raise RefusedError(f"There are {count} molecules or graphs; this server takes {most} at once here.", 413)
    if ask.smiles is not None:
        ids: Sequence[str | None] = ask.ids or [None] * len(ask.smiles)
        if len(ids) != len(ask.smiles):
            raise InputError(f"There are {len(ask.smiles)} SMILES but {len(ids)} ids.")
        pairs = zip(ask.smiles, ids, strict=True)
        return [Molecule(text, id, number) for number, (text, id) in enumerate(pairs)]
    return [File(f"graph {number}", json.dumps(graph).encode()) for number, graph in enumerate(ask.graphs or ())]


def _check_length(texts: Sequence[str], limits: Limits) -> None:
    for number, text in enumerate(texts):
        if len(text) > limits.characters:
            sentence = f"The SMILES {number} has {len(text)} characters; this server takes {limits.characters}."
            raise RefusedError(sentence, 413)


def _check_usable(answers: Sequence[Answer], item: str) -> None:
    """Raises a refusal where no row at all could be used."""
    count = sum(len(answer.rows) for answer in answers)
    if sum(len(answer.problems) for answer in answers) < count:
        return
    problem = next((why for answer in answers for _, why in sorted(answer.problems.items())), "there are no rows")
    large = all(len(answer.too_large) == len(answer.rows) for answer in answers)
    what = f"The {item}" if count == 1 else f"None of the {count} {item}s"
    sentence = f"{what} can{'not' if count == 1 else ''} be used: {problem.rstrip('.')}."
    raise RefusedError(sentence, 413 if large else 422)


def _response(kind: Kind, answers: Sequence[Answer]) -> Response:
    """All rows as JSON, or as a Parquet file."""
    _check_usable(answers, "graph" if kind.item == "graph" else "molecule")
    if isinstance(answers[0].rows, list):
        rows = b",".join(text for answer in answers for text in answer.rows)
        return Response(b'{"model":%s,"rows":[%s]}' % (json.dumps(kind.model).encode(), rows), media_type=JSON)
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.concat_tables([answer.rows for answer in answers]), buffer)
    return Response(buffer.getvalue(), media_type=PARQUET)
