"""Where trainings happen on more machines than this one: a Ray cluster (extra ``ray``)."""

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
from ssread.evaluate.runners import cohorts, train_cohort
from ssread.train.runs import Run, RunResult, Training

__all__ = ["RayRunner"]

#: How often a task may lose its worker or its node before it is given up.
RETRIES = 5

#: Seconds an address may take to answer; Ray's client tries three times.
CONNECT_SECONDS = 3

#: How often a cluster that answers may fail to let us in: a busy one may be too slow to start what serves us.
ATTEMPTS = 3

#: Seconds without a result after which the cluster is asked whether anything is left to work on.
LOOK_SECONDS = 30

#: Seconds that tasks may take to end when they are told to.
STOP_SECONDS = 10

CLIENT_PORT = 10001


class RayRunner:
    """A Ray cluster: a cohort for every GPU where it has any, else single-threaded tasks of one encoder for every core.

    The dataset is sent once. A node that dies costs what ran on it a new start elsewhere. The connection is the
    process's own, as always with Ray: one that is there is used, and ``ray.shutdown()`` ends it.

    Args:
        address: ``ray`` for the cluster that this machine is part of (or that the environment variable ``RAY_ADDRESS``
            names), or one on this machine's cores where there is none; ``ray://host:port`` for a cluster elsewhere.
            Every node needs ssread.
        say: Told in a sentence when a cohort has to be made smaller.
    """

    def __init__(self, address: str = "ray", say: Callable[[str], None] = lambda _: None):
        if address != "ray" and not address.startswith("ray://"):
            raise InputError(f"{address!r} is no address of a Ray cluster; use ray or ray://host:port.")
        self.address = address
        self._ray = _connected(address)
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
                done, _ = ray.wait(list(pending), timeout=LOOK_SECONDS)
                if not done:
                    self._require_nodes()
                for task in done:
                    yield from self._results(task, pending.pop(task))
        finally:
            self._stop(list(pending))

    def __repr__(self) -> str:
        resource, unit = ("GPU", "GPU") if self.device == "cuda" else ("CPU", "core")
        count = self._units(resource)
        return f"Ray cluster of {count} {unit}{'s' * (count != 1)}"

    def _results(self, task: Any, part: Sequence[Run]) -> list[RunResult]:
        """What a finished task gave; what was raised in it, it raises here."""
        exceptions = self._ray.exceptions
        try:
            results, sentences = self._ray.get(task)
        except exceptions.RayTaskError as error:
            raise error.cause from error
        except exceptions.RayError as error:
            names = ", ".join(f"seed {run.seed} fold {run.fold}" for run in part)
            raise InputError(
                f"The Ray cluster lost the training of {part[0].model} ({names}) {RETRIES + 1} times and it was given "
                f"up ({_first_line(error)}); look whether the memory of its nodes suffices, then start again."
            ) from error
        for sentence in sentences:
            self._say(sentence)
        return results

    def _stop(self, tasks: list[Any]) -> None:
        """Ends tasks that run or wait. Ray now and then overlooks a task that is just about to start: asked again."""
        ray = self._ray
        deadline = time.monotonic() + STOP_SECONDS
        while tasks and time.monotonic() < deadline and ray.is_initialized():
            for task in tasks:
                ray.cancel(task, force=True)
            _, tasks = ray.wait(tasks, num_returns=len(tasks), timeout=1)

    def _units(self, resource: str) -> int:
        """How many GPUs or CPUs the cluster has now."""
        return int(self._ray.cluster_resources().get(resource, 0))

    def _require_nodes(self) -> None:
        resource = "GPU" if self.device == "cuda" else "CPU"
        if not self._units(resource):
            raise InputError(
                f"The Ray cluster ({self.address}) has no node with a {resource} (any more), so nothing can be trained "
                "on it; add nodes, then start again."
            )


def shares(runs: Sequence[Run], gpus: int) -> list[list[Run]]:
    """Runs of equal shape together, but no more of them than an even share of all for each GPU."""
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
    """What a node does: trains, and hands back the results and what there is to say about it."""
    sentences: list[str] = []
    torch.set_num_threads(1)
    return train_cohort(graphs, runs, training, device, sentences.append), sentences


def import_ray() -> Any:
    """The ``ray`` package, told to be quiet and quick: what it reads from the environment, it reads once, here."""
    wishes = {
        "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here tells nobody
        "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # the only way to keep news of dying nodes off the standard output
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's coming default; without it, it warns
        "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": str(CONNECT_SECONDS),
        "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": str(CONNECT_SECONDS),
    }
    for name, value in wishes.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise missing_extra("Ray", "ray", "Training on a cluster") from None
    return ray


def _connected(address: str) -> Any:
    """The ``ray`` package, connected."""
    ray = import_ray()
    if ray.is_initialized():
        if address == "ray":
            return ray
        raise InputError(
            f"This process is connected to a Ray cluster already; use the address ray for that one, or call "
            f"ray.shutdown() before connecting to {address}."
        )
    target = os.environ.get("RAY_ADDRESS", "") if address == "ray" else address
    if "://" in target and find_spec("grpc") is None:
        raise missing_extra("Ray's client (grpcio)", "ray", f"Training on {target}")
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
    """Fails within seconds where nobody listens; Ray itself would try for minutes."""
    if ":" not in target:
        return
    parts = urlsplit(target if "://" in target else f"ray://{target}")
    try:
        host, port = parts.hostname, parts.port or CLIENT_PORT
    except ValueError:
        host = None
    if not host:
        raise InputError(f"{target!r} is no address of a Ray cluster; use ray or ray://host:port.")
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"No Ray cluster answers at {target} ({error}); start one there with "
            f"`ray start --head --ray-client-server-port {port}`, or mend the address."
        ) from None


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
