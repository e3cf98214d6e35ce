import pytest
import torch
from torch_geometric.nn import aggr as pyg

from ssread import InputError
from ssread.aggregate import NAMES, Concat, Foreign, Max, Sort, make_aggregation


@pytest.mark.parametrize("name", NAMES)
def test_by_name(name):
    phi = make_aggregation(name, 4)
    assert type(phi) is NAMES[name]
    assert phi.in_channels == 4


def test_what_is_built_already_stays_what_it_is():
    ours, theirs = Sort(4), pyg.MedianAggregation()
    assert make_aggregation(ours, 4) is ours
    assert make_aggregation(theirs, 4).aggregation is theirs
    several = make_aggregation(["max", ours, theirs], 4)
    assert isinstance(several, Concat)
    assert [type(part) for part in several.parts] == [Max, Sort, Foreign]
    assert several.parts[1] is ours
    assert several(torch.randn(3, 4)).shape == (1, 12)


@pytest.mark.parametrize(
    ("aggr", "kwargs", "sentence"),
    [
        ("median", {}, "no aggregation 'median'. Choose one of sum, max, mean, attention, set2set, sort"),
        ("sort", {"size": 3}, "sort has no argument 'size'; it takes k"),
        ("sum", {"k": 3}, "sum has no argument 'k'; it takes none"),
        ("sort", {"k": 0}, "k must be 1 or more, but 0 was given"),
        ("set2set", {"processing_steps": 0}, "processing_steps of 1 or more"),
        ([], {}, "at least one entry"),
        (["sum"], {"k": 3}, "no further arguments"),
        (pyg.SumAggregation(), {"k": 3}, "no further arguments"),
        (Sort(3), {}, "was built for 3 channels, but 4 are asked for"),
        (3, {}, "must be a name, a PyG Aggregation or a list of these, not 3"),
    ],
)
def test_wrong_arguments_get_a_sentence(aggr, kwargs, sentence):
    with pytest.raises(InputError, match=sentence.replace(".", r"\.")):
        make_aggregation(aggr, 4, **kwargs)
