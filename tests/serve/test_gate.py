"""What every request passes first, around a small application."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ssread.serve.gate import HEADERS, Gate
from ssread.serve.metrics import Metrics
from ssread.serve.settings import Limits

TOKEN = "a-token-of-sixteen-signs"


async def told(request):
    return PlainTextResponse(str(len(await request.body())))


def asked(method="GET", path="/api/models", token=None, body=b"", headers=None, limits=None):
    routes = [Route("/{path:path}", told, methods=["GET", "POST"])]
    gate = Gate(Starlette(routes=routes), limits or Limits(), Metrics(), token)

    async def ask():
        transport = httpx.ASGITransport(app=gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, content=body, headers=headers or {})

    return asyncio.run(ask())


def test_without_a_token_nothing_but_the_page_and_health_is_answered():
    assert asked(token=TOKEN).status_code == 401
    assert asked(token=TOKEN).headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer wrong", f"Basic {TOKEN}", TOKEN[:-1], "Bearer ", f"Bearer {TOKEN}x"):
        assert asked(token=TOKEN, headers={"Authorization": wrong}).status_code == 401
    assert asked(token=TOKEN, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    for path in ("/", "/static/serve.js", "/health", "/ready"):
        assert asked(path=path, token=TOKEN).status_code == 200
    for path in ("/metrics", "/api/openapi.json", "/static", "/staticx", "/healthy"):
        assert asked(path=path, token=TOKEN).status_code == 401


def test_with_a_token_any_name_of_the_machine_will_do():
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "server.example:8000"}
    assert asked(token=TOKEN, headers=headers).status_code == 200
    assert asked(headers={"Host": "server.example"}).status_code == 403
    assert asked(headers={"Host": "[::1]:8000"}).status_code == 200
    assert asked(headers={"Host": ""}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1.evil.example", "http://[", ""]
)
def test_pages_of_others_are_refused(origin):
    assert asked("POST", headers={"Origin": origin}).status_code == 403
    assert asked("POST", headers={"Origin": "http://127.0.0.1"}).status_code == 200


@pytest.mark.parametrize("host", ["[", "[foo]", "127.0.0.1]", "[::1", "a@[b", "127.0.0.1:x:y[", "\u2100.example"])
def test_names_that_are_none_are_refused_with_a_sentence(host):
    for name in ("Host", "Origin"):
        headers = {name: (host if name == "Host" else f"http://{host}").encode()}
        for token in (None, TOKEN):
            answer = asked(token=token, headers=headers)
            assert answer.status_code == (401 if token and name == "Host" else 403)
            assert answer.json()["detail"].endswith(".")
            assert all(answer.headers[header] == value for header, value in HEADERS.items())


def test_a_body_is_taken_up_to_its_limit():
    limits = Limits(body=100)
    assert asked("POST", body=b"x" * 100, limits=limits).text == "100"
    answer = asked("POST", body=b"x" * 101, limits=limits)
    assert (answer.status_code, "more than 100 bytes" in answer.json()["detail"]) == (413, True)
    assert asked("POST", headers={"Content-Length": "nonsense"}).status_code == 413


def test_every_answer_has_the_headers():
    for answer in (asked(), asked(token=TOKEN), asked(headers={"Host": "elsewhere"})):
        assert all(answer.headers[name] == value for name, value in HEADERS.items())


def test_a_body_that_does_not_arrive_is_given_up():
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    asyncio.run(Gate(None, Limits(seconds=0.05), Metrics(), None)(scope, receive, send))
    assert sent[0]["status"] == 408
