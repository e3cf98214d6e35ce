import pytest
import torch


@pytest.fixture(scope="session")
def where() -> str:
    """The kernels run on a GPU where there is one, and otherwise in Triton's interpreter on the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"
