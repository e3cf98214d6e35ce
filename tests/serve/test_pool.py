"""Batches, time limits and processes that end, with real worker processes."""

import asyncio
import json
import os
import signal
import threading
import time
from dataclasses import replace

import httpx
import psutil
import pytest
from helpers.serving import served
from helpers.small_models import SMILES

from ssread.serve.jobs import Kind, Molecule
from ssread.serve.metrics import Metrics
from ssread.serve.pool import RefusedError, WorkerPool
from ssread.serve.settings import Limits

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]


def with_pool(models, action, **limits):
    """Runs an action with a pool of one worker."""

    async def run():
        pool = WorkerPool({folder.name: folder for folder in models}, 1, Limits(**limits), Metrics())
        await pool.start()
        try:
            return await action(pool)
        finally:
            await pool.close()

    return asyncio.run(run())


def worker_process():
    """The process of the only worker; suspended, it stands for one that takes long."""
    (process,) = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
    return process


def restarts(pool):
    return float(pool.metrics.text().decode().split("\nssread_worker_restarts_total ")[1].split("\n")[0])


async def refusal(submitted):
    with pytest.raises(RefusedError) as refused:
        await submitted
    return refused.value.status, refused.value.sentence


class Deadly:
    """What ends the process that receives it."""

    def __reduce__(self):
        return os._exit, (3,)


def test_requests_of_many_clients_share_batches_and_each_gets_its_own_rows(models):
    async def ask(pool):
        kinds = [Kind("rings", what) for what in ("predict", "embed")]
        jobs = [pool.submit(kinds[n % 2], [Molecule(SMILES[n % 32], f"m{n}")]) for n in range(60)]
        together = await asyncio.gather(*jobs)
        one_by_one = [await pool.submit(kinds[n % 2], [Molecule(SMILES[n % 32], f"m{n}")]) for n in range(4)]
        return together, one_by_one, pool.metrics.text().decode()

    together, alone, counted = with_pool(models, ask)
    assert [b'"id":"m%d"' % number in answer.rows[0] for number, (answer,) in enumerate(together)] == [True] * 60
    for (shared,), (own,) in zip(together[0:4:2], alone[0:4:2], strict=True):
        assert json.loads(shared.rows[0])["p(no)"] == pytest.approx(json.loads(own.rows[0])["p(no)"], abs=1e-6)
    batches = float(counted.split('ssread_batch_items_count{model="rings",what="predict"} ')[1].split("\n")[0])
    assert batches <= 6


def test_a_process_that_ends_or_takes_too_long_is_replaced_and_others_are_answered(models):
    async def ask(pool):
        kind = Kind("rings", "predict")
        process = worker_process()
        first = asyncio.gather(*(pool.submit(kind, [Molecule("CCO")] * 8) for _ in range(8)))
        await asyncio.sleep(0.01)
        process.kill()
        assert len(await first) == 8, "tried again by the new process"
        await pool.submit(kind, [Molecule("CCO")])  # where all were answered before the kill, this one starts it
        process = worker_process()
        process.suspend()
        pool.limits = replace(pool.limits, seconds=1.0)
        with pytest.raises(RefusedError, match="longer than 1 seconds") as refused:
            await pool.submit(kind, [Molecule("CCO")])
        assert refused.value.status == 504
        pool.limits = replace(pool.limits, seconds=60.0)
        return await pool.submit(kind, [Molecule("CCO")])

    assert with_pool(models, ask, seconds=60.0)


def test_requests_that_waited_past_their_time_leave_a_healthy_process_alone(models):
    predict, explain = Kind("rings", "predict"), Kind("rings", "explain")

    async def ask(pool):
        process = worker_process()
        process.suspend()
        first = asyncio.ensure_future(pool.submit(predict, [Molecule("CCO")]))
        second = asyncio.ensure_future(pool.submit(explain, [Molecule("CCO")] * 50))
        await asyncio.sleep(2.5)
        process.resume()
        await first
        process.suspend()  # it has the second one now, whose time ends in a second
        assert await refusal(second) == (504, "This took longer than 4 seconds: ask for less.")
        await asyncio.sleep(0.5)
        process.resume()
        await pool.submit(predict, [Molecule("CCO")])
        assert worker_process() == process
        process.suspend()
        left = asyncio.ensure_future(pool.submit(predict, [Molecule("CCO")]))
        await asyncio.sleep(0.2)
        left.cancel()
        return pool

    pool = with_pool(models, ask, seconds=4.0)
    assert restarts(pool) == 0, "closing does not wait for what nobody waits for"


def test_a_request_that_ends_its_process_is_refused_alone(models):
    async def ask(pool):
        kind, process = Kind("rings", "predict"), worker_process()
        process.suspend()
        blocking = asyncio.ensure_future(pool.submit(Kind("rings", "embed"), [Molecule("CCO")]))
        await asyncio.sleep(0.1)
        good = [asyncio.ensure_future(pool.submit(kind, [Molecule("CCO", f"m{n}")])) for n in range(4)]
        deadly = asyncio.ensure_future(pool.submit(kind, [Deadly()]))
        good += [asyncio.ensure_future(pool.submit(kind, [Molecule("CCO", f"m{n}")])) for n in range(4, 8)]
        await asyncio.sleep(0.1)
        process.resume()
        await blocking
        status, sentence = await refusal(deadly)
        assert (status, sentence.startswith("The process that worked on this ended; ")) == (500, True)
        answers = await asyncio.gather(*good)
        assert [b'"id":"m%d"' % number in answer.rows[0] for number, (answer,) in enumerate(answers)] == [True] * 8
        assert restarts(pool) == 2, "in the batch, and alone"

    with_pool(models, ask, seconds=120.0)


def test_what_a_worker_did_not_expect_is_refused_and_it_goes_on(models):
    async def ask(pool):
        status, sentence = await refusal(pool.submit(Kind("nobody", "predict"), [Molecule("CCO")]))
        assert (status, sentence) == (500, "The server failed at this (KeyError); its log says more.")
        assert await pool.submit(Kind("rings", "predict"), [Molecule("CCO")])
        assert restarts(pool) == 0

    with_pool(models, ask, seconds=60.0)


def test_what_cannot_be_sent_to_a_worker_is_logged_and_refused_and_others_are_answered(models, caplog):
    async def ask(pool):
        status, sentence = await refusal(pool.submit(Kind("rings", "predict"), [lambda: None]))
        assert (status, sentence.startswith("The server failed at this (")) == (500, True)
        assert "A batch cannot be exchanged with a worker." in caplog.text
        assert await pool.submit(Kind("rings", "predict"), [Molecule("CCO")])
        assert restarts(pool) == 1

    with_pool(models, ask, seconds=60.0)


def test_an_explanation_counts_as_four_of_the_molecules_that_may_wait(models):
    async def ask(pool):
        explain = Kind("rings", "explain")
        status, sentence = await refusal(pool.submit(explain, [Molecule("CCO")] * 11))
        assert (status, "waiting already: try again" in sentence) == (503, True)
        assert await pool.submit(explain, [Molecule("CCO")] * 10)
        assert await pool.submit(Kind("rings", "predict"), [Molecule("CCO")] * 40)

    with_pool(models, ask, waiting=40, seconds=60.0)


def test_a_worker_that_ends_before_it_is_ready_is_done_without(models):
    async def run():
        pool = WorkerPool({folder.name: folder for folder in models}, 2, Limits(), Metrics())
        starting = asyncio.ensure_future(pool.start())
        while not (processes := [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]):
            await asyncio.sleep(0.01)
        processes[0].kill()
        await starting
        try:
            return await pool.submit(Kind("rings", "predict"), [Molecule("CCO")])
        finally:
            await pool.close()

    assert asyncio.run(run())


def test_more_than_may_wait_is_refused_at_once(models):
    async def ask(pool):
        kind = Kind("rings", "predict")
        first = [asyncio.ensure_future(pool.submit(kind, [Molecule("CCO")] * 50)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="waiting already: try again") as refused:
            await pool.submit(kind, [Molecule("CCO")] * 90)
        await asyncio.gather(*first)
        return refused.value.status

    assert with_pool(models, ask, waiting=200) == 503


def test_a_signal_to_end_lets_accepted_requests_finish(models):
    answers = []
    with served(models, "--host", "0.0.0.0") as server:
        assert server.token
        assert httpx.get(f"{server.address}/api/models").status_code == 401
        body = {"smiles": SMILES * 10}
        threads = [
            threading.Thread(target=lambda: answers.append(server.ask("predict", **body).status_code)) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        while "ssread_requests_under_way 0.0" in server.client.get("/metrics").text:
            time.sleep(0.005)
        time.sleep(0.1)
        workers = psutil.Process(server.process.pid).children(recursive=True)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        for thread in threads:
            thread.join()
    assert answers == [200] * 6
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
