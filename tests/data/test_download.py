import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from helpers.tu_files import write_zip

from ssread.data import load
from ssread.data.download import ABANDONED_SECONDS, download
from ssread.errors import InputError

CONTENT_FILES = {"A": "1,2\n2,1\n" * 5000, "graph_indicator": "1\n1\n", "graph_labels": "0\n"}


class Site:
    """A web server with one file that can break off and ignore ranges, as real ones do."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.break_after: int | None = None  # bytes after which the connection is cut, once
        self.supports_ranges = True
        self.requests: list[str | None] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def _handler(site) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler below
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/SET.zip":
                    self.send_error(404)
                    return
                wanted = self.headers.get("Range")
                site.requests.append(wanted)
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and site.supports_ranges else 0
                if start >= len(site.content):
                    self.send_error(416)
                    return
                body = site.content[start:]
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                cut, site.break_after = site.break_after, None
                self.wfile.write(body[:cut])

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(write_zip(CONTENT_FILES, tmp_path / "original.zip").read_bytes())
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


def test_a_download_is_complete(site: Site, tmp_path: Path) -> None:
    target = tmp_path / "folder" / "SET.zip"
    assert download(f"{site.address}/SET.zip", target) == target
    assert target.read_bytes() == site.content
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("supports_ranges", [True, False])
def test_an_interrupted_download_is_resumed(site: Site, tmp_path: Path, supports_ranges: bool) -> None:
    target = tmp_path / "folder" / "SET.zip"
    site.break_after, site.supports_ranges = 300, supports_ranges
    with pytest.raises(InputError, match=r"The download of .* failed .* run again to resume it"):
        download(f"{site.address}/SET.zip", target)
    assert not target.exists()
    download(f"{site.address}/SET.zip", target)
    assert target.read_bytes() == site.content
    assert site.requests == [None, "bytes=300-"]
    assert list(target.parent.iterdir()) == [target]


def test_a_part_of_another_file_is_discarded(site: Site, tmp_path: Path) -> None:
    for left_over in (b"x" * 100, b"y" * 2 * len(site.content)):
        target = tmp_path / "SET.zip"
        target.with_name("SET.zip.part").write_bytes(left_over)
        download(f"{site.address}/SET.zip", target)
        assert target.read_bytes() == site.content
        target.unlink()


def test_the_part_of_a_killed_process_is_resumed(site: Site, tmp_path: Path) -> None:
    target = tmp_path / "SET.zip"
    dead, alive = target.with_name("SET.zip.part.1"), target.with_name("SET.zip.part.2")
    dead.write_bytes(site.content[:200])
    alive.write_bytes(site.content[:100])
    long_ago = time.time() - 2 * ABANDONED_SECONDS
    os.utime(dead, (long_ago, long_ago))
    download(f"{site.address}/SET.zip", target)
    assert site.requests == ["bytes=200-"]
    assert not dead.exists()
    assert alive.exists()


def test_a_file_that_is_not_a_zip_leaves_nothing_behind(site: Site, tmp_path: Path) -> None:
    site.content = b"<html>Please log in</html>"
    target = tmp_path / "folder" / "SET.zip"
    with pytest.raises(InputError, match="is not an intact zip"):
        download(f"{site.address}/SET.zip", target)
    assert list(target.parent.iterdir()) == []


def test_a_wrong_name_and_a_dead_server(site: Site, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"OTHER.zip cannot be downloaded \(404 .*check the name"):
        download(f"{site.address}/OTHER.zip", tmp_path / "OTHER.zip")
    with pytest.raises(InputError, match=r"The download of .* failed .* SSREAD_MIRROR"):
        download("http://127.0.0.1:9/SET.zip", tmp_path / "SET.zip")
    assert [file.name for file in tmp_path.iterdir()] == ["original.zip"]


@pytest.mark.slow
def test_two_processes_at_once(site: Site, tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from ssread.data.download import download; "
        "download(sys.argv[1], pathlib.Path(sys.argv[2]))"
    )
    target = tmp_path / "folder" / "SET.zip"
    command = [sys.executable, "-c", program, f"{site.address}/SET.zip", str(target)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert target.read_bytes() == site.content
    assert list(target.parent.iterdir()) == [target]


def test_a_complete_part_is_not_requested_again(site: Site, tmp_path: Path) -> None:
    target = tmp_path / "SET.zip"
    target.with_name("SET.zip.part").write_bytes(site.content)
    assert download(f"{site.address}/SET.zip", target).read_bytes() == site.content
    assert site.requests == []


def test_a_dataset_from_a_mirror_on_the_web(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SSREAD_MIRROR", site.address)
    assert load("SET").repairs == {"duplicate edges removed": 9998}
    assert load("SET", self_loops="drop").name == "SET"
    assert site.requests == [None]  # the second time it is in the data folder
    with pytest.raises(InputError, match=r"OTHER.zip cannot be downloaded \(404"):
        load("OTHER")
