import pytest
import torch


@pytest.fixture
def double():
    """Rounding may put a node on the other side of two positions, and a different path from there on is no mistake."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
