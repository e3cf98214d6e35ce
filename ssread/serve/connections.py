"""Connections to the server: how many may be open, how long and large the headers of a request may be, and how long
a client may leave an answer unread.

uvicorn limits neither; what follows the headers is limited in :mod:`ssread.serve.gate`.
"""

import asyncio
import http
import json
from typing import Any

from ssread.serve.settings import Limits

__all__ = ["limited_connections"]

#: The most bytes of the headers of a request.
HEADER_BYTES = 65_536


def limited_connections(limits: Limits, base: Any = None) -> type[asyncio.Protocol]:
    """uvicorn's protocol for HTTP with limits: what exceeds one gets a sentence, and the connection is closed.

    Args:
        limits: What the server takes.
        base: The protocol; the one that uvicorn would choose by default.
    """
    if base is None:
        from uvicorn.protocols.http.auto import AutoHTTPProtocol

        base = AutoHTTPProtocol

    class LimitedConnection(base):
        """Waits for the headers of a request from its first byte on; for those of the first from the beginning."""

        _timer: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None
        _bytes = 0
        _heading = False  # whether the headers of a request have begun; only httptools says so

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._bytes, self._heading = 0, True

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            transport.set_write_buffer_limits(high=0)  # so that it tells of everything that a client has not taken
            if len(self.connections) > limits.connections:
                self._refuse(503, f"{limits.connections} connections are open already: try again in a few seconds.")
            else:
                self._wait()

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            heading = self._heading
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:  # the headers are complete
                self._stop_waiting()
                return
            if self._timer is None:
                self._wait()
            if self._heading == heading:  # else they begin in here, perhaps after the rest of an old body
                self._bytes += len(data)
            if self._bytes > HEADER_BYTES + (limits.body if self._in_old_body else 0):
                self._refuse(431, f"The headers of the request have more than {HEADER_BYTES} bytes: send fewer.")

        def send_400_response(self, msg: str) -> None:
            """Answers what is not HTTP, or has a method that HTTP does not know."""
            self._refuse(400, "This is not a valid HTTP request.")

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            self._stop_watching()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stop_watching()
            self._watch(self.transport.get_write_buffer_size())

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop_watching()

        def _watch(self, size: int) -> None:
            self._unread = self.loop.call_later(limits.seconds, self._end_where_unread, size)

        def _stop_watching(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
            self._unread = None

        def _end_where_unread(self, before: int) -> None:
            """Ends the connection where the client has taken nothing since."""
            size = self.transport.get_write_buffer_size()
            if size < before:
                self._watch(size)
            else:
                self.transport.abort()

        def _wait(self) -> None:
            self._timer = self.loop.call_later(limits.seconds, self._too_slow)

        def _stop_waiting(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._bytes, self._heading = None, 0, False

        @property
        def _in_old_body(self) -> bool:
            """Whether the last request was answered before its body had arrived, so that the rest of it may follow.

            uvicorn does not say when that has ended, but when the next request begins; h11 does not, and has a limit of
            its own for headers.
            """
            return not self._heading and self.cycle is not None and self.cycle.more_body

        def _too_slow(self) -> None:
            if self._in_old_body or not self._bytes:  # nothing was asked, so nothing is answered
                self.transport.close()
                return
            self._refuse(408, f"The headers of the request did not arrive within {limits.seconds:g} seconds.")

        def _refuse(self, status: int, sentence: str) -> None:
            if not self.transport.is_closing():
                self.transport.write(_answer(status, sentence))
                self.transport.close()

    return LimitedConnection


def _answer(status: int, sentence: str) -> bytes:
    body = json.dumps({"detail": sentence}).encode()
    lines = [
        f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *(["retry-after: 5"] if status == 503 else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
