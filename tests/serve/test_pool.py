"""Batches, time limits and processes that end, with real worker processes."""

import asyncio
import json
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
        (process,) = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
        first = asyncio.gather(*(pool.submit(kind, [Molecule("CCO")] * 8) for _ in range(8)))
        await asyncio.sleep(0.01)
        process.kill()
        assert len(await first) == 8, "tried again by the new process"
        await pool.submit(kind, [Molecule("CCO")])  # where all were answered before the kill, this one starts it
        (process,) = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
        process.suspend()
        pool.limits = replace(pool.limits, seconds=1.0)
        with pytest.raises(RefusedError, match="longer than 1 seconds") as refused:
            await pool.submit(kind, [Molecule("CCO")])
        assert refused.value.status == 504
        pool.limits = replace(pool.limits, seconds=60.0)
        return await pool.submit(kind, [Molecule("CCO")])

    assert with_pool(models, ask, seconds=60.0)


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
