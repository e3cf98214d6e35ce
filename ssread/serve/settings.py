"""What a server takes and where it listens; checked without importing anything that takes time."""

import ipaddress
import math
import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ssread.apply.model_folder import read_config
from ssread.errors import InputError

__all__ = ["TOKEN_VARIABLE", "Limits", "check_address", "is_loopback", "name_models", "token_for"]

#: The environment variable that holds the token; a command line could be read by every user of the machine.
TOKEN_VARIABLE = "SSREAD_TOKEN"

#: A shorter token could be guessed.
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for, and how much may be asked at once.

    Attributes:
        body: Bytes of a request.
        molecules: Molecules, or other graphs, of a request.
        explained: Of these, how many may be explained at once: each is also drawn.
        atoms: Atoms of a molecule, or nodes of another graph.
        characters: Characters of a SMILES.
        seconds: The time until a request is answered, that its headers, and then its body, may take to arrive, and
            that a client may take nothing of its answer.
        waiting: Molecules that may wait for a worker, of all requests together; one to explain counts as four.
        connections: Connections that may be open at once; a process may usually open 1024 files.
    """

    body: float = 10_000_000
    molecules: int = 1000
    explained: int = 50
    atoms: int = 500
    characters: int = 5000
    seconds: float = 30.0
    waiting: int = 20_000
    connections: int = 500

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < math.inf:
                raise InputError(f"The limit {name} must be positive and finite, but {value} was given.")

    def most(self, what: str) -> int:
        """How many molecules a request may send to have them predicted, embedded or explained."""
        return min(self.explained, self.molecules) if what == "explain" else self.molecules


def name_models(folders: Sequence[Path]) -> dict[str, Path]:
    """The models by the names of their folders; each must hold a model that this version reads."""
    models: dict[str, Path] = {}
    for folder in folders:
        read_config(folder)
        name = folder.resolve().name
        if name in models:
            raise InputError(f"{models[name]} and {folder} have the same name: rename one of the folders.")
        models[name] = folder.resolve()
    if not models:
        raise InputError("There is no model to serve: give the folder of one that ssread train wrote.")
    return models


def check_address(host: str, port: int) -> None:
    """Raises an ``InputError`` where no server can listen, before the models are loaded."""
    try:
        if not host:
            raise ValueError("the address is empty")
        kind, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except (OSError, ValueError) as error:  # a UnicodeError is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"The server cannot listen on host {host[:100]!r}, port {port}: {reason}.") from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def token_for(host: str) -> str | None:
    """The token that requests must have: the one in the environment, or a new one for an address others can reach."""
    token = os.environ.get(TOKEN_VARIABLE)
    if token is not None:
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            raise InputError(
                f"The token in {TOKEN_VARIABLE} must have {SHORTEST_TOKEN} or more letters, digits or signs, "
                "without blanks."
            )
        return token
    return None if is_loopback(host) else secrets.token_urlsafe(32)
