"""Requests of many clients put together into batches, on one pool of worker processes.

A worker that is free takes everything of one kind that waits, up to a batch; nothing waits for a batch to fill. So a
single client is answered at once, and many clients share the cost of a call.
"""

import asyncio
import logging
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssread.errors import InputError
from ssread.serve.jobs import Answer, Kind, Refusal
from ssread.serve.metrics import Metrics
from ssread.serve.settings import Limits
from ssread.serve.worker import READY, work

__all__ = ["RefusedError", "WorkerPool"]

logger = logging.getLogger(__name__)

#: The most items that a worker takes at once.
BATCH = 64

#: How many predictions cost as much as an item of the others, about: an explanation, or two before and after a change.
COST = {"explain": 4, "change": 8}


class RefusedError(Exception):
    """A job that is not done, with a sentence and an HTTP status."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


@dataclass(eq=False)
class _Job:
    """Items of one request that wait for a worker."""

    kind: Kind
    items: Sequence[Any]
    done: asyncio.Future[Answer] = field(repr=False)
    alone: bool = False

    @property
    def cost(self) -> int:
        return len(self.items) * COST.get(self.kind.what, 1)

    def refuse(self, sentence: str, status: int) -> None:
        if not self.done.done():
            self.done.set_exception(RefusedError(sentence, status))


class WorkerPool:
    """Worker processes, each with all models, and the jobs that wait for one of them.

    Args:
        models: The folders of the models by name.
        workers: The number of processes.
        limits: What the server takes.
        metrics: Counts what happens.
    """

    def __init__(self, models: Mapping[str, Path], workers: int, limits: Limits, metrics: Metrics):
        self.models, self.limits, self.metrics = dict(models), limits, metrics
        self._waiting: deque[_Job] = deque()
        self._arrived = asyncio.Condition()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker-pipe")
        self._workers = [_Worker(self.models, limits, self._threads) for _ in range(workers)]
        self._tasks: list[asyncio.Task[None]] = []
        self._started = self._closing = False
        self._unanswered = 0

    @property
    def ready(self) -> bool:
        """Whether a worker can answer."""
        return any(worker.ready for worker in self._workers)

    async def start(self) -> None:
        """Starts the processes; returns when one of them is ready. A model that cannot be loaded raises an error."""
        starts = [asyncio.create_task(worker.start()) for worker in self._workers]
        await asyncio.wait(starts, return_when=asyncio.FIRST_COMPLETED)
        if not self.ready:
            ended = await asyncio.gather(*starts, return_exceptions=True)
            if not self.ready:  # none of the others was luckier
                raise next(error for error in ended if error is not None)
        self._started = True
        self._tasks = [asyncio.create_task(self._serve(*pair)) for pair in zip(self._workers, starts, strict=True)]

    async def submit(self, kind: Kind, items: Sequence[Any]) -> list[Answer]:
        """The answers for the items of a request, in order, a batch at a time."""
        size = BATCH // COST.get(kind.what, 1)
        if self._closing or not self._started:
            raise RefusedError("The server is starting or ending: try again in a few seconds.", 503)
        loop = asyncio.get_running_loop()
        jobs = [_Job(kind, items[start : start + size], loop.create_future()) for start in range(0, len(items), size)]
        waiting = sum(job.cost for job in self._waiting if not job.done.done())
        if waiting + sum(job.cost for job in jobs) > self.limits.waiting:
            raise RefusedError("Too many molecules are waiting already: try again in a few seconds.", 503)
        self._unanswered += 1
        try:
            async with self._arrived:
                self._waiting.extend(jobs)
                self._arrived.notify(len(jobs))
            return await asyncio.wait_for(asyncio.gather(*(job.done for job in jobs)), self.limits.seconds)
        except asyncio.TimeoutError:
            raise RefusedError(f"This took longer than {self.limits.seconds:g} seconds: ask for less.", 504) from None
        finally:
            self._unanswered -= 1
            for job in jobs:  # of a client that left, or after the first refusal
                job.done.cancel()

    async def close(self) -> None:
        """Ends the workers, once what was submitted is answered, or there is no worker left that could answer it."""
        self._closing = True
        while self._unanswered and not all(task.done() for task in self._tasks):
            await asyncio.sleep(0.02)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._workers:
            worker.close()
        self._threads.shutdown()

    async def _serve(self, worker: "_Worker", start: "asyncio.Task[None]") -> None:
        """Gives batches to one worker for as long as the server runs; after a failure with a new process."""
        try:
            await start
            while True:
                batch = await self._take()
                try:
                    await self._run(worker, batch)
                except Exception as error:  # whatever it is: else what waits for this worker would wait for nothing
                    await self._after_failure(batch, error)
                    self.metrics.restart()
                    worker.close()
                    await worker.start()
        except Exception as error:  # its process cannot be started (again); the others go on
            logger.error("A worker is lost: %s", error)

    async def _take(self) -> list[_Job]:
        """The job that has waited longest, and others of its kind that fit into a batch with it."""
        async with self._arrived:
            while True:
                while self._waiting and self._waiting[0].done.done():  # its client is gone
                    self._waiting.popleft()
                if self._waiting:
                    break
                await self._arrived.wait()
            first = self._waiting.popleft()
            batch, size = [first], len(first.items)
            if first.alone or first.kind.item == "table":
                return batch
            others: deque[_Job] = deque()
            while self._waiting and size < BATCH:
                job = self._waiting.popleft()
                fits = job.kind == first.kind and size + len(job.items) <= BATCH and not job.alone
                if job.done.done():
                    continue
                (batch if fits else others).append(job)
                size += len(job.items) if fits else 0
            self._waiting.extendleft(reversed(others))
            return batch

    async def _run(self, worker: "_Worker", batch: list[_Job]) -> None:
        items = [item for job in batch for item in job.items]
        self.metrics.batch(batch[0].kind, len(items))
        # Not what is left of the requests' own time: a healthy process would be killed where they waited for long.
        found = await worker.ask(batch[0].kind, items, timeout=self.limits.seconds)
        if isinstance(found, Refusal):
            if len(batch) > 1:
                await self._one_by_one(batch)
            else:
                batch[0].refuse(found.sentence, found.status)
            return
        start = 0
        for job in batch:
            stop = len(found.rows) if job.kind.item == "table" else start + len(job.items)
            if not job.done.done():
                job.done.set_result(found.part(start, stop))
            start = stop

    async def _after_failure(self, batch: list[_Job], error: Exception) -> None:
        """Answers a batch whose worker failed, or has its jobs tried again one by one.

        A process may have ended before it got a job, so a job that was alone by chance is tried again, too.
        """
        if isinstance(error, asyncio.TimeoutError):
            return  # so did all requests of the batch, and `submit` has said so
        if not isinstance(error, EOFError | OSError):
            logger.error("A batch cannot be exchanged with a worker.", exc_info=error)
            for job in batch:
                job.refuse(f"The server failed at this ({type(error).__name__}); its log says more.", 500)
        elif len(batch) > 1 or not batch[0].alone:
            await self._one_by_one(batch)
        else:
            batch[0].refuse("The process that worked on this ended; what was sent may be too much for it.", 500)

    async def _one_by_one(self, batch: list[_Job]) -> None:
        for job in batch:
            job.alone = True
        async with self._arrived:
            self._waiting.extendleft(reversed(batch))
            self._arrived.notify(len(batch))


class _Worker:
    """One process and the pipe to it. Blocking calls run in a thread."""

    def __init__(self, models: Mapping[str, Path], limits: Limits, threads: ThreadPoolExecutor):
        self.models, self.limits, self._threads = models, limits, threads
        self.ready = False
        self._process: Any = None

    async def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, self.models, self.limits, os.getpid())
        self._process = context.Process(target=work, args=arguments, daemon=True, name="ssread-serve-worker")
        self._process.start()
        theirs.close()
        try:
            said = await self._in_thread(self._pipe.recv)
        except EOFError:
            raise InputError("A worker process ended before it was ready: see what it printed.") from None
        if said != READY:
            raise InputError(said)
        self.ready = True

    async def ask(self, kind: Kind, items: Sequence[Any], timeout: float) -> Answer | Refusal:
        pipe = self._pipe

        def exchange() -> Any:
            pipe.send((kind, items))
            return pipe.recv()

        return await asyncio.wait_for(self._in_thread(exchange), timeout)

    async def _in_thread(self, function: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    def close(self) -> None:
        """Ends the process at once."""
        self.ready = False
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
