"""One server for all tests that only ask it."""

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("rdkit")
from helpers.serving import save_model_of_labels, save_model_with_columns, save_models, served


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return save_models(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def with_columns(tmp_path_factory):
    return save_model_with_columns(tmp_path_factory.mktemp("with_columns"))


@pytest.fixture(scope="session")
def server(models, with_columns, tmp_path_factory):
    labels = save_model_of_labels(tmp_path_factory.mktemp("labels"))
    limits = ["--max-molecules", "60", "--max-atoms", "60", "--max-megabytes", "0.2", "--timeout", "120"]
    with served([*models, with_columns, labels], *limits) as running:
        yield running
