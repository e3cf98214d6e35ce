"""One server for all tests that only ask it."""

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("rdkit")
from helpers.serving import save_models, served


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def server(models):
    with served(
        models, "--max-molecules", "40", "--max-atoms", "60", "--max-megabytes", "0.2", "--timeout", "120"
    ) as running:
        yield running
