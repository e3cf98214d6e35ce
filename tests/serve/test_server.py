"""The process that serves: what it says when it starts, and when it cannot."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from helpers.serving import ROOT, served

from ssread.serve.server import address

pytestmark = pytest.mark.xdist_group("serve")


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.2", "127.0.0.2"),
        ("localhost", "localhost"),
        ("::1", "[::1]"),
        ("2001:db8::1", "[2001:db8::1]"),
        ("192.168.1.4", "192.168.1.4"),
        ("example.org", "example.org"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
    ],
)
def test_the_address_to_open_is_one_where_it_listens(host, shown):
    assert address(host, 8000, None) == f"http://{shown}:8000/"
    assert address(host, 8000, "secret") == f"http://{shown}:8000/#token=secret"


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.2", "::1", "localhost"])
def test_a_server_answers_at_the_address_that_it_prints(models, host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as trial:
            trial.bind((host, 0))
    except OSError:
        pytest.skip(f"{host} is not an address of this machine")
    with served(models[:1], "--host", host) as server:
        assert server.client.get("/api/models").status_code == 200


@pytest.mark.slow
def test_a_token_that_was_given_is_not_printed(models):
    with served(models[:1], "--host", "0.0.0.0", token="a-token-of-sixteen-signs") as server:
        assert server.said.endswith("/#token=...\n")
        assert server.client.get("/api/models").status_code == 200


@pytest.mark.slow
def test_clients_that_take_no_answer_do_not_keep_it_from_ending(models):
    body = json.dumps({"smiles": ["CCO"] * 1000}).encode()
    head = f"POST /api/models/rings/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with served(models[:1], "--timeout", "4") as server, ExitStack() as opened:
        host, port = server.address.removeprefix("http://").split(":")
        for _ in range(3):
            connection = opened.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((host, int(port)))
            connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        time.sleep(3)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(12)


@pytest.mark.slow
def test_a_model_that_workers_cannot_load_ends_it_with_one_sentence(models, tmp_path):
    shutil.copytree(models[0], tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nonsense")
    command = [sys.executable, "-m", "ssread", "serve", str(tmp_path / "broken"), "--port", "0", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "does not match the checksum in config.json: copy the model again." in done.stderr
