"""The schema of the interface: what FastAPI derives from the routes, and what the server answers besides."""

from typing import Any

from fastapi import FastAPI

from ssread.serve.gate import OPEN

__all__ = ["FILE_BODY", "PARQUET", "complete_schema"]

#: The type of an answer as a Parquet file, to be asked for in the header Accept.
PARQUET = "application/vnd.apache.parquet"

#: The body of a request that is a file, whatever its content type says.
FILE_BODY = {
    "requestBody": {
        "description": "The file.",
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

#: Why a request that was sent to an address of the interface is not answered, by status.
REASONS = {
    400: "The request is not JSON in UTF-8, or was broken off.",
    403: "The request was addressed to another name than that of this machine, or came from another site.",
    404: "There is no such model.",
    408: "The request arrived too slowly.",
    413: "There is more than the server takes: bytes, molecules, or atoms of a molecule.",
    422: "Something is wrong with the request, or no molecule of it can be used.",
    431: "The headers are too large.",
    500: "The server failed; its log says more.",
    503: "No model is loaded yet, or too many molecules or connections wait: try again after Retry-After seconds.",
    504: "It took too long.",
}

SENTENCE = {
    "title": "Sentence",
    "description": "Why a request is not answered, and what to do.",
    "type": "object",
    "properties": {"detail": {"type": "string"}},
    "required": ["detail"],
}

BEARER = {"type": "http", "scheme": "bearer", "description": "The token that ssread serve was given, or has printed."}


def complete_schema(app: FastAPI, *, with_token: bool) -> None:
    """Has the application tell every answer in its schema, and that it needs a token where it does."""
    derive = app.openapi

    def completed() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = derive()
        for path, operations in schema["paths"].items():
            for method, operation in operations.items():
                _complete(path, method, operation, with_token)
        components = schema["components"]
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        components["schemas"]["Sentence"] = SENTENCE
        if with_token:
            components["securitySchemes"] = {"token": BEARER}
        return schema

    app.openapi = completed  # type: ignore[method-assign]


def _complete(path: str, method: str, operation: dict[str, Any], with_token: bool) -> None:
    """Adds what one address answers."""
    reasons = REASONS if method == "post" else {status: REASONS[status] for status in (403, 408, 431, 503)}
    if with_token and path not in OPEN:
        operation["security"] = [{"token": []}]
        reasons = {401: "The token is missing or wrong.", **reasons}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Sentence"}}}
    responses = operation["responses"]
    for status, reason in reasons.items():
        responses[str(status)] = {"description": reason, "content": content}
    if any(parameter["name"] == "accept" for parameter in operation.get("parameters", ())):
        responses["200"]["content"][PARQUET] = {"schema": {"type": "string", "contentMediaType": PARQUET}}
