"""What all tests share: settings of Hypothesis, and every device this machine has."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("ssread", deadline=None, max_examples=50)
settings.load_profile("ssread")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
