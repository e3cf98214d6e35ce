"""Connections over real sockets, to a small application behind uvicorn."""

import asyncio
import importlib
import json
import threading
import time
from contextlib import contextmanager
from socket import SO_RCVBUF, SOL_SOCKET, create_connection, socket

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ssread.serve.connections import limited_connections
from ssread.serve.settings import Limits

SECONDS = 0.6

#: More than the system keeps for a client.
LARGE = 30_000_000


async def told(request):
    if "refused" in request.query_params:
        return PlainTextResponse("no", 401)
    if "large" in request.query_params:
        return PlainTextResponse("x" * LARGE)
    size = len(await request.body())
    await asyncio.sleep(float(request.query_params.get("seconds", 0)))
    return PlainTextResponse(str(size))


@contextmanager
def running(base, **limits):
    app = Starlette(routes=[Route("/", told, methods=["GET", "POST"])])
    protocol = limited_connections(Limits(seconds=SECONDS, **limits), base)
    config = uvicorn.Config(app, port=0, http=protocol, log_level="error", timeout_keep_alive=20)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(params=["h11", "httptools"])
def base(request):
    pytest.importorskip(request.param)
    module = importlib.import_module(f"uvicorn.protocols.http.{request.param}_impl")
    return module.H11Protocol if request.param == "h11" else module.HttpToolsProtocol


def rest_of(connection, every=0.0, part=b""):
    """What the server sends until it closes the connection, while a part is sent again and again; and the seconds."""
    started, got = time.monotonic(), b""
    connection.settimeout(every or 10)
    while time.monotonic() - started < 10:
        try:
            more = connection.recv(10_000)
        except TimeoutError:
            connection.sendall(part)
            continue
        except ConnectionError:
            more = b""
        if not more:
            return got, time.monotonic() - started
        got += more
    raise AssertionError("the connection is still open")


def sentence(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-length: %d\r\n" % len(body) in head
    return int(head.split()[1]), json.loads(body)["detail"]


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_headers_that_arrive_slowly_are_given_up(base, start):
    with running(base) as address, create_connection(address) as connection:
        connection.sendall(start)
        answer, seconds = rest_of(connection, 0.1, b"x-more: 1\r\n" if start else b"")
        if start:
            assert sentence(answer) == (408, f"The headers of the request did not arrive within {SECONDS:g} seconds.")
        else:
            assert answer == b""
        assert SECONDS - 0.1 < seconds < SECONDS + 2


def test_so_are_those_of_a_later_request_on_the_same_connection(base):
    with running(base) as address, create_connection(address) as connection:
        for _ in range(2):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(SECONDS + 0.2)  # idle between requests, which is for uvicorn's own limit
            assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HTTP/1.1\r\n")
        answer, seconds = rest_of(connection, 0.1, b"x-more: 1\r\n")
        assert (sentence(answer)[0], seconds > SECONDS - 0.1) == (408, True)


def test_a_request_may_take_longer_than_its_headers(base):
    """Its body and its answer have limits of their own."""
    with running(base) as address, create_connection(address) as connection:
        connection.sendall(b"POST /?seconds=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        time.sleep(SECONDS + 0.2)
        connection.sendall(b"xx")
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.3)
        assert connection.recv(10_000).count(b"HTTP/1.1 200") == 2


def test_large_headers_are_refused_and_large_bodies_are_not_headers(base):
    with running(base) as address:
        assert httpx.post(f"http://{address[0]}:{address[1]}/", content=b"x" * 1_000_000).text == "1000000"
        by_h11 = base.__module__.endswith("h11_impl")  # which has a smaller limit of its own
        for more, status in ((b"\r\n", 200), (b"x-more: %s" % (b"x" * 1000), 400 if by_h11 else 431)):
            with create_connection(address) as connection:
                for part in (b"GET / HTTP/1.1\r\n", b"Host: localhost\r\nConnection: close\r\n"):
                    connection.sendall(part)
                    time.sleep(0.1)  # every part is read on its own, so that the answer is not lost with what was not
                connection.sendall(b"x: %s\r\n" % (b"x" * (16_000 if by_h11 else 65_300)))
                time.sleep(0.1)
                connection.sendall(more)
                answer = rest_of(connection)[0]
            assert int(answer.split()[1]) == status
            if status == 431:
                assert sentence(answer)[1] == "The headers of the request have more than 65536 bytes: send fewer."


@pytest.mark.parametrize("sent", [b"\x16\x03\x01 nonsense", b"GET / nonsense", b"F(O / HTTP/1.1"])
def test_what_is_not_http_gets_a_sentence(base, sent):
    with running(base) as address, create_connection(address) as connection:
        connection.sendall(sent + b"\r\n\r\n")
        assert sentence(rest_of(connection)[0]) == (400, "This is not a valid HTTP request.")


def test_the_rest_of_a_body_that_was_answered_early_is_not_taken_for_headers(base):
    with running(base) as address, create_connection(address) as connection:
        connection.sendall(b"POST /?refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n")
        time.sleep(0.1)
        connection.sendall(b"x" * 200_000)
        time.sleep(0.1)
        assert connection.recv(10_000).startswith(b"HTTP/1.1 401")
        for part in (b"GET / HTTP/1.1\r\n", b"Host: localhost\r\n\r\n"):
            connection.sendall(part)
            time.sleep(0.1)
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("late", [b"x" * 5, b"x" * 200_000])
def test_headers_after_a_body_that_was_answered_early_are_limited(base, late):
    with running(base) as address, create_connection(address) as connection:
        connection.sendall(b"POST /?refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(late))
        time.sleep(0.1)
        connection.sendall(late + b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        time.sleep(0.1)
        assert connection.recv(10_000).startswith(b"HTTP/1.1 401")
        with pytest.raises(ConnectionError):
            connection.sendall(b"x: %s\r\n" % (b"x" * 1000) * 10_000)


@contextmanager
def asked_for_much(address, kept):
    """A connection over which a large answer comes, of which the system keeps so much."""
    with socket() as connection:
        connection.setsockopt(SOL_SOCKET, SO_RCVBUF, kept)
        connection.connect(address)
        connection.settimeout(10)
        connection.sendall(b"GET /?large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        yield connection


def test_a_client_that_does_not_take_its_answer_is_given_up(base):
    with running(base, connections=1) as address, asked_for_much(address, 4096):
        assert httpx.get(f"http://{address[0]}:{address[1]}/").status_code == 503
        time.sleep(SECONDS + 0.5)
        assert httpx.get(f"http://{address[0]}:{address[1]}/").status_code == 200


def test_a_client_that_takes_its_answer_slowly_gets_all_of_it(base):
    with running(base) as address, asked_for_much(address, 1_000_000) as connection:
        got, started = 0, time.monotonic()
        while got < LARGE:
            more = connection.recv(1_000_000)
            assert more, f"{got} bytes came"
            got += len(more)
            time.sleep(0.04)
        assert time.monotonic() - started > SECONDS


def test_more_connections_than_the_limit_are_refused_until_others_end(base):
    with running(base, connections=2) as address, create_connection(address) as first:
        second = create_connection(address)
        time.sleep(0.1)
        with create_connection(address) as third:
            status, why = sentence(rest_of(third)[0])
            assert (status, why) == (503, "2 connections are open already: try again in a few seconds.")
        rest_of(first)
        second.close()
        assert httpx.get(f"http://{address[0]}:{address[1]}/").status_code == 200
