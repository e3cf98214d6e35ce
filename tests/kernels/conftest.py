from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="session")
def where() -> str:
    """The kernels run on a GPU where there is one, and otherwise in Triton's interpreter on the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True, scope="session")
def nothing_is_zero_by_chance() -> Iterator[None]:
    """What a kernel leaves unwritten is not a number here: fresh memory is often zero, and would hide it."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)  # only then torch fills what is new
    yield
    torch.use_deterministic_algorithms(before)
