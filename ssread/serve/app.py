"""The application: the interface, the page, and what every request passes first."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from ssread.common.versions import VERSION
from ssread.errors import InputError
from ssread.serve.gate import Gate
from ssread.serve.metrics import Metrics
from ssread.serve.openapi import complete_schema
from ssread.serve.pool import RefusedError, WorkerPool
from ssread.serve.routes import make_routes
from ssread.serve.settings import Limits

__all__ = ["make_app"]

logger = logging.getLogger(__name__)

#: The header of an answer that the browser unpacks.
COMPRESSED = {"content-encoding": "gzip"}

OWN_SCRIPTS = ("state", "panel", "files", "serve", "sketch")

#: The files of the page: package, name and type. They are read once; a path of a client is never opened.
PAGE = {
    "report.css": ("ssread.report", "page.css", "text/css"),
    "serve.css": ("ssread.serve", "page/serve.css", "text/css"),
    "graph.css": ("ssread.report", "graph.css", "text/css"),
    "elements.js": ("ssread.report", "elements.js", "text/javascript"),
    "graph.js": ("ssread.report", "graph.js", "text/javascript"),
    # The editor of OpenChemLib 9.25.0, as its package on npm has it; its licence (BSD) is beside it.
    "openchemlib.js": ("ssread.serve", "page/openchemlib.js.gz", "text/javascript"),
    **{f"{name}.js": ("ssread.serve", f"page/{name}.js", "text/javascript") for name in OWN_SCRIPTS},
}


def make_app(
    models: Mapping[str, Path],
    *,
    workers: int = 1,
    limits: Limits | None = None,
    token: str | None = None,
    on_failure: Callable[[InputError], None] = logger.error,
) -> Any:
    """An ASGI application that serves models; its worker processes start and end with it.

    Args:
        models: The folders of the models by name.
        workers: The number of worker processes.
        limits: What it takes.
        token: What requests must have; None to let all of this machine in.
        on_failure: Callback, called with the error where the models cannot be loaded.
    """
    limits = limits or Limits()
    metrics = Metrics()

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        pool = app.state.pool = WorkerPool(models, workers, limits, metrics)
        loading = asyncio.create_task(_load(pool, on_failure))
        yield
        loading.cancel()
        await pool.close()

    app = FastAPI(
        title="ssread",
        summary="Predict, embed and explain molecules and other graphs.",
        version=VERSION,
        lifespan=running,
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.include_router(make_routes(models, limits, metrics))
    _add_page(app)
    complete_schema(app, with_token=token is not None)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(InputError, _wrong_input)
    app.add_exception_handler(HTTPException, _wrong_address)
    return Gate(app, limits, metrics, token)


async def _load(pool: WorkerPool, on_failure: Callable[[InputError], None]) -> None:
    try:
        await pool.start()
    except InputError as error:
        on_failure(error)


def _add_page(app: FastAPI) -> None:
    contents = {name: (files(package) / path).read_bytes() for name, (package, path, _) in PAGE.items()}
    page = (files("ssread.serve") / "page/index.html").read_bytes()

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return Response(page, media_type="text/html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in contents:
            raise HTTPException(404)
        _, path, media_type = PAGE[name]
        return Response(contents[name], headers=COMPRESSED if path.endswith(".gz") else None, media_type=media_type)


async def _wrong_request(_: Request, error: Exception) -> JSONResponse:
    """The first thing that is wrong with a request, as a sentence."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "value_error":  # a sentence of ours
        return _sentence(str(first["ctx"]["error"]), 422)
    if tuple(first["loc"]) == ("body",):
        need = "The body must be a JSON object, with the header Content-Type: application/json"
        return _sentence(f"{need}; /api/openapi.json says what belongs into it.", 422)
    if first["type"] == "json_invalid":
        return _sentence(f"The body is not valid JSON: {first['ctx']['error']} (character {first['loc'][-1]}).", 422)
    place = ".".join(str(part) for part in first["loc"] if part not in ("body", "query"))
    return _sentence(f"{place or 'The request'}: {first['msg']}.", 422)


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RefusedError)
    return _sentence(error.sentence, error.status)


async def _wrong_input(_: Request, error: Exception) -> JSONResponse:
    return _sentence(str(error), 422)


async def _wrong_address(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {404: "There is nothing at this address: see /api/openapi.json.", 405: "This address has no such method."}
    known[400] = "The request is not valid JSON in UTF-8."
    return _sentence(known.get(error.status_code, str(error.detail)), error.status_code)


def _sentence(text: str, status: int) -> JSONResponse:
    headers = {"retry-after": "5"} if status == 503 else None
    return JSONResponse({"detail": text}, status, headers)
