"""The schema tells what is really answered: every status, its type and its form."""

import asyncio

import httpx
import pytest

from ssread.serve.app import make_app
from ssread.serve.metrics import Metrics
from ssread.serve.openapi import PARQUET
from ssread.serve.pool import WorkerPool
from ssread.serve.settings import Limits

pytestmark = pytest.mark.xdist_group("serve")

TOKEN = "a-token-of-sixteen-signs"
PREDICT, FILE = "/api/models/{model}/predict", "/api/models/{model}/file/{what}"


def check(schema, path, answer, status):
    """That an answer is one that the schema has for its address."""
    assert answer.status_code == status, answer.text
    declared = schema["paths"][path][answer.request.method.lower()]["responses"][str(status)]["content"]
    form = declared[answer.headers["content-type"].split(";")[0]]["schema"]
    if status != 200:
        assert form == {"$ref": "#/components/schemas/Sentence"}
        assert list(answer.json()) == schema["components"]["schemas"]["Sentence"]["required"] == ["detail"]
        assert isinstance(answer.json()["detail"], str)


def test_answers_of_a_server_are_those_of_its_schema(server):
    client, address = server.client, PREDICT.format(model="rings")
    schema = client.get("/api/openapi.json").json()
    for content, headers, status in (
        (b'{"smiles": "CCO"}', {}, 200),
        (b'{"smiles": "CCO"}', {"Accept": PARQUET}, 200),
        (b"\x80\x04", {}, 400),
        (b"{}", {"Origin": "https://evil.example"}, 403),
        (b'{"smiles": "%s"}' % (b"C" * 70), {}, 413),
        (b" " * 300_000, {}, 413),
        (b"{", {}, 422),
        (b'{"smiles": "C1CC"}', {}, 422),
        (b'{"smiles": "C", "coverage": 2}', {}, 422),
    ):
        headers = {"Content-Type": "application/json", **headers}
        check(schema, PREDICT, client.post(address, content=content, headers=headers), status)
    check(schema, PREDICT, server.ask("predict", model="nobody", smiles="C"), 404)
    (taken,) = schema["paths"][FILE]["post"]["requestBody"]["content"].items()
    assert taken == ("application/octet-stream", {"schema": {"type": "string", "format": "binary"}})
    file = FILE.format(model="rings", what="embed") + "?name=some.csv"
    check(schema, FILE, client.post(file, content=b"smiles\nCCO\n"), 200)
    check(schema, FILE, client.post(file, content=b"smiles\nCCO\n", headers={"Accept": PARQUET}), 200)
    check(schema, FILE, client.post(file, content=b""), 422)
    for path in ("/health", "/ready", "/metrics", "/api/models"):
        check(schema, path, client.get(path), 200)
        check(schema, path, client.get(path, headers={"Host": "evil.example"}), 403)
    assert "securitySchemes" not in schema["components"]
    assert "HTTPValidationError" not in str(schema)


def test_so_are_those_of_a_server_with_a_token_that_is_not_ready_or_too_slow(models):
    limits = Limits(seconds=0.05)
    folders = {folder.name: folder for folder in models}

    async def ask():
        gate = make_app(folders, limits=limits, token=TOKEN)
        pool = gate.app.state.pool = WorkerPool(folders, 1, limits, Metrics())  # its processes are not started
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app=gate), base_url="http://here", headers=headers)
        schema = (await client.get("/api/openapi.json")).json()

        async def predict(status, **request):
            request = request or {"json": {"smiles": "C"}}
            check(schema, PREDICT, await client.post(PREDICT.format(model="rings"), **request), status)

        async def slow():
            await asyncio.sleep(60)
            yield b""

        await predict(503)
        await predict(408, content=slow())
        check(schema, "/ready", await client.get("/ready"), 503)
        pool._started = True
        await predict(504)
        client.headers["Authorization"] = "Bearer wrong"
        await predict(401)
        for path in ("/metrics", "/api/models"):
            check(schema, path, await client.get(path), 401)
        return schema

    schema = asyncio.run(ask())
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    needing = {path for path, found in schema["paths"].items() for one in found.values() if "security" in one}
    assert needing == set(schema["paths"]) - {"/health", "/ready"}
