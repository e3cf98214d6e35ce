"""``ssread serve``: the application behind uvicorn, until it is asked to end."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from joblib import cpu_count

from ssread.errors import InputError, missing_extra
from ssread.serve.settings import TOKEN_VARIABLE, Limits, check_address, name_models, token_for

__all__ = ["serve"]

#: Idle connections are closed after this many seconds.
KEEP_ALIVE = 20

#: When it is asked to end, clients have this many seconds more than requests may take to get their answers.
GRACE = 5


def serve(
    folders: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int | None = None,
    limits: Limits | None = None,
) -> None:
    """Serves models until the process is asked to end; then it finishes the requests that it has accepted.

    Args:
        folders: The folders of the models.
        host: Where to listen. On an address that others can reach, requests need a token: that of the environment
            variable ``SSREAD_TOKEN``, or a new one, which is printed.
        port: The port; 0 for a free one.
        workers: Worker processes; one per core by default.
        limits: What a request may ask for.
    """
    models = name_models(folders)
    token = token_for(host)
    check_address(host, port)
    try:
        import uvicorn

        from ssread.serve.app import make_app
        from ssread.serve.connections import limited_connections
    except ImportError as error:
        raise missing_extra("FastAPI, uvicorn and prometheus-client", "serve", "Serving models") from error
    limits = limits or Limits()
    failures: list[InputError] = []

    class Announcing(uvicorn.Server):
        """Says where it listens once it does, and ends where the models cannot be loaded."""

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                listening = self.servers[0].sockets[0].getsockname()[1]
                shown = "..." if TOKEN_VARIABLE in os.environ else token  # what was given stays out of logs
                print(f"Serving {', '.join(models)} at {address(host, listening, shown)}", flush=True)

        def stop(self, error: InputError) -> None:
            failures.append(error)
            self.should_exit = True

    app = make_app(
        models, workers=workers or cpu_count(), limits=limits, token=token, on_failure=lambda e: server.stop(e)
    )
    settings = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=limited_connections(limits),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=math.ceil(limits.seconds) + GRACE,
    )
    server = Announcing(settings)
    server.run()
    if failures:
        raise failures[0]


def address(host: str, port: int, token: str | None) -> str:
    """The address to open in a browser; the token is in its fragment, which browsers do not send.

    >>> address("0.0.0.0", 8000, "secret")
    'http://127.0.0.1:8000/#token=secret'
    """
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # no browser opens the address of all addresses
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + ("" if token is None else f"#token={token}")
