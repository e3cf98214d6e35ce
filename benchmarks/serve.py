"""Requests per second and latencies of ssread serve, beside the same model behind a plain FastAPI handler.

    python benchmarks/serve.py [--quick] [--clients 1 16 64] [--seconds 10] [--molecules FILE.csv]
    python benchmarks/serve.py --mixed 600      minutes of good and bad requests: no leak, no error of the server

Both servers run on this machine with one process for the model, and so do the clients: requests of one molecule each,
sent one after another by every client. Plain: a handler that reads the molecule, runs the model and answers, in
FastAPI's pool of threads. Servers take turns, so that a busy machine hurts both; the ratio is what counts.
The model has random weights; its size is that of the default recipe.
"""

import argparse
import asyncio
import csv
import io
import json
import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import pyarrow
import pyarrow.parquet

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples" / "mutag.csv"
AS_JSON = "Content-Type: application/json"


def damaged_parquet() -> bytes:
    """Fifteen rows, of which one byte was changed."""
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"smiles": ["CCO"] * 15}), written)
    content = bytearray(written.getvalue())
    content[50] ^= 1
    return bytes(content)


#: Where it is sent, what, and with which header.
BAD: list[tuple[str, bytes, str]] = [
    ("predict", json.dumps({"smiles": "C1CC"}).encode(), AS_JSON),
    ("predict", b"{", AS_JSON),
    ("predict", b"\x80\x04\x95", AS_JSON),
    ("predict", json.dumps({"smiles": "C" * 3000}).encode(), AS_JSON),
    ("predict", json.dumps({"smiles": ["C"] * 5000}).encode(), AS_JSON),
    ("predict", json.dumps({"path": "/etc/passwd"}).encode(), AS_JSON),
    ("explain", json.dumps({"smiles": ["CCO", "nonsense", ""]}).encode(), AS_JSON),
    ("change", json.dumps({"smiles": "CCO", "atom": 1, "element": "F"}).encode(), AS_JSON),
    ("file/predict?name=x.csv", b"a,b\n1,2\n", AS_JSON),
    ("file/predict?name=../x.csv", b"", AS_JSON),
    ("file/explain?name=x.graphml", b"<x>", AS_JSON),
    ("predict", json.dumps({"smiles": "CCO"}).encode(), "Content-Type: text/plain"),
    ("predict", json.dumps({"smiles": "CCO"}).encode(), "Origin: http://["),
    ("file/predict?name=x.parquet", damaged_parquet(), "Content-Type: application/octet-stream"),
]


def save_model(smiles: list[str], folder: Path) -> None:
    from ssread.apply import TrainedModel
    from ssread.apply.features import Features
    from ssread.apply.reference import Reference
    from ssread.data import from_smiles
    from ssread.models import model_for

    graphs = from_smiles(smiles[:100], [row % 2 for row in range(len(smiles[:100]))])
    model = TrainedModel([model_for(graphs, "gcn")], ["0", "1"], Features.of(graphs))
    model.reference = Reference.of(model, graphs)
    model.save(folder)


def plain_app(folder: Path) -> Any:
    """The same model without batches: every request runs it for its own molecule."""
    import torch
    from fastapi import FastAPI
    from pydantic import BaseModel

    from ssread.apply import TrainedModel
    from ssread.apply.chunks import MoleculeChunk
    from ssread.apply.prediction import prediction_table
    from ssread.data.molecule_rows import Block

    torch.set_num_threads(1)
    model, app = TrainedModel.load(folder), FastAPI()

    class Asked(BaseModel):
        smiles: str

    @app.get("/ready")
    def ready() -> str:
        return "ready"

    @app.post("/api/models/model/predict")
    def predict(asked: Asked) -> Any:
        rows = MoleculeChunk(Block(Path("request"), "molecule", [0], [asked.smiles]), {}).read(model.features)
        return {"model": "model", "rows": prediction_table(model, rows).to_pylist()}

    return app


def run_plain(folder: Path, port: int) -> None:
    import uvicorn

    uvicorn.run(plain_app(folder), port=port, log_level="error", access_log=False)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(name: str, folder: Path, port: int) -> Any:
    if name == "plain":
        process: Any = multiprocessing.get_context("spawn").Process(target=run_plain, args=(folder, port), daemon=True)
        process.start()
    else:
        command = [sys.executable, "-m", "ssread", "serve", str(folder), "--port", str(port), "--workers", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
    for _ in range(1200):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/ready").status_code == 200:
                return process
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"the server {name} does not start")


class Client:
    """A connection that is kept open, in as little Python as can be: clients take processor time from the servers."""

    def __init__(self, port: int):
        self.port = port

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.writer.close()

    async def post(self, path: str, body: bytes, header: str = AS_JSON) -> int:
        """Sends a request; returns the status of the answer."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}\r\nContent-Length: {len(body)}"
        self.writer.write(head.encode() + b"\r\n\r\n" + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        told = answer.lower()
        start = told.index(b"content-length:") + 15
        await self.reader.readexactly(int(told[start : told.index(b"\r\n", start)]))
        if b"connection: close" in told:
            self.writer.close()
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return int(answer[9:12])


async def load(port: int, clients: int, seconds: float, bodies: list[bytes]) -> list[float]:
    """The latencies of all requests that were answered in some seconds."""
    until, times = time.perf_counter() + seconds, list[float]()

    async def one(number: int) -> None:
        async with Client(port) as client:
            turn = number
            while (begin := time.perf_counter()) < until:
                status = await client.post("/api/models/model/predict", bodies[turn % len(bodies)])
                if status != 200:
                    raise SystemExit(f"status {status}")
                times.append(time.perf_counter() - begin)
                turn += clients

    await asyncio.gather(*(one(number) for number in range(clients)))
    return times


def processor_seconds(process: Any) -> float:
    """Of a server and its workers."""
    me = psutil.Process(process.pid)
    return sum(sum(p.cpu_times()[:2]) for p in [me, *me.children(recursive=True)])


def compare(folder: Path, bodies: list[bytes], clients: list[int], seconds: float, rounds: int) -> None:
    ports = {"plain": free_port(), "ssread serve": free_port()}
    processes = {name: start(name, folder, port) for name, port in ports.items()}
    try:
        for count in clients:
            found: dict[str, list[list[float]]] = {name: [] for name in ports}
            used = dict.fromkeys(ports, 0.0)
            for turn in range(rounds):
                for name in list(ports) if turn % 2 else list(reversed(ports)):
                    asyncio.run(load(ports[name], count, 0.3, bodies))
                    before = processor_seconds(processes[name])
                    found[name].append(asyncio.run(load(ports[name], count, seconds, bodies)))
                    used[name] += processor_seconds(processes[name]) - before
            for name, turns in found.items():
                times = sorted(latency for turn in turns for latency in turn)
                rate = len(times) / seconds / rounds
                ratio = statistics.median(
                    len(own) / max(len(base), 1) for own, base in zip(turns, found["plain"], strict=True)
                )
                p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
                told = f"{rate:7.0f} requests/s  p50 {1e3 * p50:7.1f} ms  p99 {1e3 * p99:7.1f} ms"
                cost = f"{1e3 * used[name] / len(times):6.2f} ms of processor a request"
                print(f"{count:>3} clients  {name:<13} {told}  {cost}  {ratio:5.2f} times plain", flush=True)
    finally:
        for process in processes.values():
            process.terminate()


async def mixed(port: int, seconds: float, bodies: list[bytes], process: Any) -> None:
    """Good and bad requests in turn; the memory of the server and of its worker, and how fast both grow in the end."""
    until, counts = time.perf_counter() + seconds, dict[int, int]()
    memory: dict[str, list[float]] = {"server": [], "worker": []}

    async def one(number: int) -> None:
        draw = random.Random(number)
        async with Client(port) as client:
            while time.perf_counter() < until:
                good = "predict", draw.choice(bodies), AS_JSON
                what, body, header = draw.choice(BAD) if draw.random() < 0.3 else good
                if what == "predict" and draw.random() < 0.05:
                    what = draw.choice(["explain", "embed"])
                status = await client.post(f"/api/models/model/{what}", body, header)
                counts[status] = counts.get(status, 0) + 1

    async def broken() -> None:
        """Connections that break off in the middle of a request."""
        while time.perf_counter() < until:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /api/models/model/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            await asyncio.sleep(0.2)
            writer.close()

    async def watch() -> None:
        me = psutil.Process(process.pid)
        while time.perf_counter() < until:
            for name, processes in (("server", [me]), ("worker", me.children(recursive=True))):
                memory[name].append(sum(p.memory_full_info().uss for p in processes) / 2**20)
            await asyncio.sleep(seconds / 40)

    await asyncio.gather(*(one(number) for number in range(16)), broken(), watch())
    print(f"{seconds:.0f} s, answers by status: {dict(sorted(counts.items()))}")
    for name, sizes in memory.items():
        third = len(sizes) // 3
        parts = [statistics.median(sizes[part * third : (part + 1) * third]) for part in range(3)]
        growth = 60 * (parts[2] - parts[1]) / (seconds / 3)  # the first third also fills caches
        told = ", ".join(f"{part:.1f} MiB" for part in parts)
        print(
            f"memory of the {name}, medians of thirds: {told}; from the second to the last {growth:+.2f} MiB a minute"
        )
    if any(status >= 500 for status in counts):
        raise SystemExit("an error of the server")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--molecules", type=Path, default=EXAMPLES)
    parser.add_argument("--mixed", type=float, default=0.0, help="seconds of good and bad requests")
    options = parser.parse_args()
    with options.molecules.open() as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    bodies = [json.dumps({"smiles": text}).encode() for text in smiles]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        save_model(smiles, folder)
        if options.mixed:
            port = free_port()
            process = start("ssread serve", folder, port)
            try:
                asyncio.run(mixed(port, 3.0 if options.quick else options.mixed, bodies, process))
            finally:
                process.terminate()
        elif options.quick:
            compare(folder, bodies, [4], 1.0, 1)
        else:
            compare(folder, bodies, options.clients, options.seconds, options.rounds)


if __name__ == "__main__":
    main()
