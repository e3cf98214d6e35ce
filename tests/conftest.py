"""What all tests share: settings of Hypothesis, every device this machine has, data from wherever they are."""

import functools
import importlib.util
import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from ssread.data import GraphSet, load

settings.register_profile("ssread", deadline=None, max_examples=50)
settings.load_profile("ssread")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]

ZIPS = Path(os.environ.get("SSREAD_MIRROR") or Path(__file__).parents[2] / "shared" / "tudataset")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def _own_ray_clusters() -> Iterator[None]:
    """Ray finds clusters of this machine by a folder: tests of another process must not join them.

    Its processes know each other by a token, which it would leave in the user's home.
    """
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        patch.setenv("RAY_TMPDIR", folder)  # short: the paths of sockets have 107 letters at most
        token = Path(folder, "token")
        token.write_text(secrets.token_hex(32))
        patch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        patch.delenv("RAY_ADDRESS", raising=False)
        yield


@pytest.fixture(scope="session")
def session_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data-folder")


@pytest.fixture(autouse=True)
def _nothing_falls_into_the_net(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw shows its traceback and has an exit code of its own, which no test takes."""
    monkeypatch.setenv("SSREAD_DEBUG", "1")


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch: pytest.MonkeyPatch, session_data: Path) -> None:
    """Tests neither read nor fill the user's data folder."""
    monkeypatch.setenv("SSREAD_DATA", str(session_data))
    monkeypatch.delenv("SSREAD_MIRROR", raising=False)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    if not (ZIPS / "NCI1.zip").is_file():
        pytest.skip("the zips of the paper's datasets are not here (SSREAD_MIRROR)")
    monkeypatch.setenv("SSREAD_MIRROR", str(ZIPS))
    return ZIPS


@pytest.fixture
def molecule_files() -> Path:
    """The folder of public sets of molecules: tox21.csv, clintox.csv, esol.csv."""
    folder = ZIPS.parent / "molecules"
    if not (folder / "tox21.csv").is_file():
        pytest.skip("the public sets of molecules are not here")
    return folder


@pytest.fixture
def mutag(monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    if importlib.util.find_spec("grakel") is None:
        if not (ZIPS / "MUTAG.zip").is_file():
            pytest.skip("MUTAG is neither in an installed package nor in a mirror")
        monkeypatch.setenv("SSREAD_MIRROR", str(ZIPS))
    return load("MUTAG")


@pytest.fixture
def heeding_ctrl_c():
    """For ``Popen(preexec_fn=...)``: a job in the background of a shell ignores Ctrl-C, and these tests may be one."""
    return functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
