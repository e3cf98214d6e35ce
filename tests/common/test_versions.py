import platform
from importlib.metadata import version

import torch

import ssread
from ssread.common.versions import VERSION, versions


def test_the_versions_are_those_of_the_installed_packages():
    found = versions()
    assert found["ssread"] == VERSION == ssread.__version__
    assert found["torch"] == torch.__version__
    assert found["torch_geometric"] == version("torch_geometric")
    assert found["python"] == platform.python_version()
