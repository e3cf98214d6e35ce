"""What every request passes first: who may ask, how much may be sent, and the headers of every answer."""

import asyncio
import hmac
import json
import time
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ssread.serve.metrics import Metrics
from ssread.serve.settings import Limits, is_loopback

__all__ = ["HEADERS", "Gate"]

#: Nothing from elsewhere, no script or style within a page, no page of others around ours.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

#: What anybody who reaches the server may see: the page without data, and whether the server is up.
OPEN = ("/", "/health", "/ready")


class Gate:
    """An ASGI application around another.

    Args:
        app: The application.
        limits: What the server takes.
        metrics: Counts the requests.
        token: What requests must have in ``Authorization: Bearer``; None to let all of this machine in. Then requests
            must also be addressed to this machine by name: a web page of others could lead its own name here.
    """

    def __init__(self, app: Any, limits: Limits, metrics: Metrics, token: str | None):
        self.app, self.limits, self.metrics, self.token = app, limits, metrics, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def send_with_headers(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *ours]}
            await send(message)

        self.metrics.begin()
        try:
            refused = self._refused(scope)
            body = b""
            if refused is None:
                body, refused = await self._body(scope, receive)
            if refused is not None:
                await _answer(send_with_headers, *refused)
                return
            await self.app(scope, _replayed(body, receive), send_with_headers)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.end(route, status, time.perf_counter() - started)

    def _refused(self, scope: Any) -> tuple[int, str] | None:
        """Why a request may not ask this, with the status; None where it may."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self.token is None and not is_loopback(_parts(f"//{host}").hostname or ""):
            return 403, "This server answers only to this machine: open it as http://127.0.0.1 or localhost."
        origin = headers.get(b"origin")
        if origin is not None and _parts(origin).netloc != host:
            return 403, "Another site asked for this; only the server's own page may."
        path = scope["path"]
        if self.token is None or path in OPEN or path.startswith("/static/"):
            return None
        given = headers.get(b"authorization", "").removeprefix("Bearer ").strip()
        if hmac.compare_digest(given.encode("latin-1"), self.token.encode()):
            return None
        return 401, "A token is needed: send it in the header Authorization: Bearer TOKEN."

    async def _body(self, scope: Any, receive: Any) -> tuple[bytes, tuple[int, str] | None]:
        """The whole body of a request, or why it is not taken."""
        too_large = 413, f"The request has more than {self.limits.body:.0f} bytes, the most that this server takes."
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > self.limits.body:
            return b"", too_large
        parts, size, more = [], 0, scope["method"] not in ("GET", "HEAD")
        deadline = time.monotonic() + self.limits.seconds
        while more:
            try:
                message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.001))
            except asyncio.TimeoutError:
                return b"", (408, f"The request did not arrive within {self.limits.seconds:g} seconds.")
            if message["type"] == "http.disconnect":
                return b"", (400, "The request was broken off.")
            part = message.get("body", b"")
            size += len(part)
            if size > self.limits.body:
                return b"", too_large
            parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts), None


def _parts(address: str) -> SplitResult:
    """The parts of an address; of one that is none, no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _replayed(body: bytes, receive: Any) -> Any:
    """Gives the application the body in one piece; afterwards what else happens to the connection."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return pending.pop() if pending else await receive()

    return replay


async def _answer(send: Any, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (408, 413):
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
