"""New graphs get the columns of the training set, or a sentence that names the difference."""

import dataclasses

import networkx as nx
import pytest
import torch
from helpers.small_models import graphs
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply.features import Features
from ssread.data import from_networkx, from_pyg
from ssread.errors import InputError


def network(roles: str, **edge: object) -> nx.Graph:
    graph = nx.path_graph(len(roles))
    nx.set_node_attributes(graph, dict(enumerate(roles)), "role")
    for name, value in edge.items():
        nx.set_edge_attributes(graph, value, name)
    return graph


TRAINED = Features.of(from_networkx([network("abc"), network("abca")], [0, 1], node_label="role"))


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=4))
def test_columns_stand_where_training_had_them_whichever_categories_occur(roles):
    new = TRAINED.arrange(from_networkx([network(text) for text in roles], node_label="role"))
    assert new.node_feature_names == ("role=a", "role=b", "role=c")
    every = "".join(roles)
    assert new.x.tolist() == [[float(role == wanted) for wanted in "abc"] for role in every]


@given(st.permutations(range(6)))
def test_the_order_of_columns_does_not_matter(order):
    data = graphs(8)
    width = data.num_node_features
    order = [column for column in order if column < width] + list(range(6, width))
    shuffled = dataclasses.replace(
        data, x=data.x[:, order].contiguous(), node_feature_names=tuple(data.node_feature_names[c] for c in order)
    )
    assert torch.equal(Features.of(data).arrange(shuffled).x, data.x)


def test_a_category_that_training_never_saw_is_named():
    new = from_networkx([network("ab"), network("acd")], node_label="role")
    with pytest.raises(
        InputError, match="graph 1 has the node feature 'role=d', which no graph of the training set had"
    ):
        TRAINED.arrange(new)
    usable, misfits = TRAINED.arrange_usable(new)
    assert list(misfits) == [1]
    assert usable.x.shape == (5, 3)


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        (lambda: from_networkx([network("ab")]), "'constant'"),
        (
            lambda: from_networkx([network("ab", length=1.5)], node_label="role", edge_attributes=["length"]),
            "has 1 edge features, but the model was trained with none",
        ),
        (
            lambda: from_pyg([next(iter(from_networkx([network("ab")])))]),
            "has 1 node features, but the model was trained with 3",
        ),
    ],
)
def test_other_columns_are_an_error_that_names_the_difference(new, sentence):
    with pytest.raises(InputError, match=sentence):
        TRAINED.arrange(new())


def test_a_number_that_is_missing_is_an_error():
    train = from_networkx([network("ab", length=1.5)] * 2, [0, 1], node_label="role", edge_attributes=["length"])
    with pytest.raises(InputError, match="has no edge features, but the model was trained with 1"):
        Features.of(train).arrange(from_networkx([network("ab")], node_label="role"))
    heights = from_networkx([network("ab")], node_label="role")
    heights = dataclasses.replace(heights, x=heights.x * 2.5, node_feature_names=("height", "role=b"))
    with pytest.raises(InputError, match="lacks the node feature 'height' that the model was trained with"):
        Features.of(heights).arrange(from_networkx([network("ab")], node_label="role"))


def test_graphs_without_a_single_edge_need_no_edge_features():
    train = from_networkx([network("ab", length=1.5)] * 2, [0, 1], edge_attributes=["length"])
    alone = nx.empty_graph(2)
    arranged = Features.of(train).arrange(from_networkx([alone], edge_attributes=["length"]))
    assert arranged.edge_attr.shape == (0, 1)


def test_options_of_training_are_kept_and_cannot_be_changed():
    train = from_networkx([network("ab"), network("ba")], [0, 1], node_label="role")
    features = Features.of(train, {"node_label": "role", "ids": ["x", "y"]})
    assert features.options == {"node_label": "role"}
    assert features.load([network("ba")]).node_feature_names == ("role=a", "role=b")
    with pytest.raises(InputError, match="node_label cannot be 'other': the model was trained with 'role'"):
        features.load([network("ba")], node_label="other")
    assert Features.from_dict(features.as_dict()) == features
