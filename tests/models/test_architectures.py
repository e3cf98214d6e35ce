"""What can be chosen by name without torch is what there is with it."""

import pytest

from ssread.aggregate import NAMES
from ssread.models.architectures import AGGREGATIONS, ARCHITECTURES
from ssread.models.graphs import Encoder


def test_the_aggregations_are_those_that_can_be_made():
    assert {*NAMES} == {*AGGREGATIONS}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture_names_its_encoder_and_its_aggregations(name):
    architecture = ARCHITECTURES[name]
    assert issubclass(architecture.encoder, Encoder)
    aggr = [architecture.aggr] if isinstance(architecture.aggr, str) else architecture.aggr
    assert {*aggr} <= {*AGGREGATIONS}
