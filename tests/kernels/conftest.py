from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="session")
def where() -> str:
    """The device of the kernels: a GPU if there is one, else the CPU, where Triton interprets them."""
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True, scope="session")
def new_memory_is_nan() -> Iterator[None]:
    """Fills new tensors with NaN, so that an entry that a kernel forgets to write is not zero by chance."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)  # only then does torch fill new tensors
    yield
    torch.use_deterministic_algorithms(before)
