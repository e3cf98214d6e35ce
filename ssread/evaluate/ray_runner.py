"""Trainings on several machines: a Ray cluster (extra ``ray``)."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import torch

from ssread.data.graphset import GraphSet
from ssread.errors import InputError, missing_extra
from ssread.evaluate.linear_evaluation import by_encoder
from ssread.evaluate.stacks import cohorts, train_cohort, train_stack
from ssread.train.runs import Run, RunResult, Training

__all__ = ["RayRunner", "connected", "finished", "require_nodes"]

#: How often a task is retried after it lost its worker or its node.
RETRIES = 5

#: Seconds an address may take to answer; Ray's client tries three times.
CONNECT_SECONDS = 3

#: How often to try to connect to a cluster that answers: a busy one may be too slow at first.
ATTEMPTS = 3

#: Seconds without a result after which to check that the cluster still has nodes to work on.
LOOK_SECONDS = 30

#: Seconds that tasks may take to end when they are cancelled.
STOP_SECONDS = 10

CLIENT_PORT = 10001


class RayRunner:
    """A Ray cluster: one cohort per GPU if it has any, else one single-threaded task of one encoder per core.

    The dataset is sent once. If a node dies, its tasks are restarted elsewhere. As always with Ray, the
    connection belongs to the process: an existing one is used, and ``ray.shutdown()`` ends it.

    Args:
        address: ``ray`` for the cluster that this machine is part of (or that the environment variable ``RAY_ADDRESS``
            names), or for a new one on this machine if there is none; ``ray://host:port`` for a cluster elsewhere.
            Every node needs ssread.
        say: Called with a sentence if a cohort has to be made smaller.
    """

    def __init__(self, address: str = "ray", say: Callable[[str], None] = lambda _: None):
        if address != "ray" and not address.startswith("ray://"):
            raise InputError(f"{address!r} is not a valid address of a Ray cluster; use ray or ray://host:port.")
        self.address = address
        self._ray = connected(address)
        self._say = say
        self.device = "cuda" if self._units("GPU") else "cpu"
        self._require_nodes()

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        """See :class:`~ssread.evaluate.runners.Runner`."""
        self._require_nodes()
        ray = self._ray
        on_gpu = self.device == "cuda"
        work = ray.remote(num_cpus=1, num_gpus=int(on_gpu), max_retries=RETRIES)(_train_on_node)
        parts = shares(runs, self._units("GPU")) if on_gpu else by_encoder(runs)
        stored = ray.put(graphs)
        pending = {work.remote(stored, part, training, self.device): part for part in parts}
        try:
            while pending:
                for task in finished(ray, list(pending), self._resource, self.address):
                    yield from self._results(task, pending.pop(task))
        finally:
            self._stop(list(pending))

    def __repr__(self) -> str:
        unit = "GPU" if self.device == "cuda" else "core"
        count = self._units(self._resource)
        return f"Ray cluster of {count} {unit}{'s' * (count != 1)}"

    def _results(self, task: Any, part: Sequence[Run]) -> list[RunResult]:
        """Returns the results of a finished task; an exception in it is raised here."""
        exceptions = self._ray.exceptions
        try:
            results, sentences = self._ray.get(task)
        except exceptions.RayTaskError as error:
            raise error.cause from error
        except exceptions.RayError as error:
            names = ", ".join(f"seed {run.seed} fold {run.fold}" for run in part)
            raise InputError(
                f"The Ray cluster lost the training of {part[0].model} ({names}) {RETRIES + 1} times and gave up "
                f"({_first_line(error)}); check that its nodes have enough memory, then start again."
            ) from error
        for sentence in sentences:
            self._say(sentence)
        return results

    def _stop(self, tasks: list[Any]) -> None:
        """Cancels tasks. Repeats this, since Ray sometimes misses a task that is just about to start."""
        ray = self._ray
        deadline = time.monotonic() + STOP_SECONDS
        while tasks and time.monotonic() < deadline and ray.is_initialized():
            for task in tasks:
                ray.cancel(task, force=True)
            _, tasks = ray.wait(tasks, num_returns=len(tasks), timeout=1)

    def _units(self, resource: str) -> int:
        """Returns how many GPUs or CPUs the cluster has now."""
        return int(self._ray.cluster_resources().get(resource, 0))

    @property
    def _resource(self) -> str:
        return "GPU" if self.device == "cuda" else "CPU"

    def _require_nodes(self) -> None:
        require_nodes(self._ray, self._resource, self.address)


def shares(runs: Sequence[Run], gpus: int) -> list[list[Run]]:
    """Groups runs of equal shape, but no more in a group than an even share for each GPU."""
    most = -(-len(by_encoder(runs)) // max(gpus, 1))
    return [
        [run for part in group[piece::pieces] for run in part]
        for group in map(by_encoder, cohorts(runs))
        for pieces in [-(-len(group) // most)]
        for piece in range(pieces)
    ]


def _train_on_node(
    graphs: GraphSet, runs: Sequence[Run], training: Training, device: str
) -> tuple[list[RunResult], list[str]]:
    """Trains on a node; returns the results, and the sentences for the user."""
    sentences: list[str] = []
    torch.set_num_threads(1)
    if device == "cpu":
        return train_cohort(graphs, runs, training, device, sentences.append), sentences
    return train_stack(graphs, runs, training, device, sentences.append), sentences


def import_ray() -> Any:
    """Imports ``ray`` with settings that make it quiet and quick; it reads them once, when it is imported."""
    settings = {
        "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here sends no usage statistics
        "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # the only way to keep messages about dying nodes off the standard output
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's future default; avoids a warning
        "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": str(CONNECT_SECONDS),
        "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": str(CONNECT_SECONDS),
    }
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise missing_extra("Ray", "ray", "Working on a cluster") from None
    return ray


def finished(ray: Any, tasks: list[Any], resource: str, address: str) -> list[Any]:
    """Waits until a task has finished, and returns those that have.

    Raises an ``InputError`` if the cluster has no GPU or CPU, which is the ``resource`` that tasks need, left.
    """
    while not (done := ray.wait(tasks, timeout=LOOK_SECONDS)[0]):
        require_nodes(ray, resource, address)
    return done


def require_nodes(ray: Any, resource: str, address: str) -> None:
    """Raises an ``InputError`` unless the cluster has a node with a GPU or CPU, which is the ``resource`` needed."""
    if not int(ray.cluster_resources().get(resource, 0)):
        raise InputError(
            f"The Ray cluster ({address}) has no node with a {resource} left to work on; add nodes, then start again."
        )


def connected(address: str) -> Any:
    """Returns the ``ray`` package, connected to a cluster."""
    ray = import_ray()
    if ray.is_initialized():
        if address == "ray":
            return ray
        raise InputError(
            f"This process is already connected to a Ray cluster; use the address ray for that one, or call "
            f"ray.shutdown() before connecting to {address}."
        )
    target = os.environ.get("RAY_ADDRESS", "") if address == "ray" else address
    if "://" in target and find_spec("grpc") is None:
        raise missing_extra("Ray's client (grpcio)", "ray", f"Working on {target}")
    _require_answer(target)
    options: dict[str, Any] = {} if "://" in target else {"include_dashboard": False}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ray.init(None if address == "ray" else address, logging_level=logging.ERROR, log_to_driver=False, **options)
            break
        except (ConnectionError, RuntimeError, ValueError, TimeoutError, ray.exceptions.RayError) as error:
            if attempt == ATTEMPTS:
                why = " ".join(str(error).split())[:300] or type(error).__name__
                raise InputError(f"The Ray cluster ({target or address}) cannot be used: {why}") from error
    return ray


def _require_answer(target: str) -> None:
    """Raises an error within seconds if nothing listens; Ray itself would try for minutes."""
    if ":" not in target:
        return
    parts = urlsplit(target if "://" in target else f"ray://{target}")
    try:
        host, port = parts.hostname, parts.port or CLIENT_PORT
    except ValueError:
        host = None
    if not host:
        raise InputError(f"{target!r} is not a valid address of a Ray cluster; use ray or ray://host:port.")
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"No Ray cluster answers at {target} ({error}); start one there with "
            f"`ray start --head --ray-client-server-port {port}`, or fix the address."
        ) from None


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
