"""New graphs get the columns of the training set, or a sentence that names the difference."""

import dataclasses
import json

import networkx as nx
import numpy as np
import pytest
import torch
from helpers.small_models import graphs
from hypothesis import given
from hypothesis import strategies as st

from ssread import SSReadClassifier
from ssread.apply import TrainedModel, embed, predict, train
from ssread.apply.features import Features
from ssread.data import from_networkx, from_pyg, planted
from ssread.errors import BadRowsError, InputError


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


SETTINGS = {"quick": True, "epochs": 2, "workers": 1, "folds": 2}
ROWS = [("CCO", 1, "0.5"), ("c1ccccc1", 0, ""), ("CCN", 1, "0.7"), ("c1ccccc1C", 0, "2"), ("CCC", 1, "many")] * 8


def write_doses(path, rows=ROWS, columns=("smiles", "label", "dose")):
    path.write_text("\n".join(",".join(map(str, row)) for row in (columns, *rows)) + "\n")
    return path


def test_a_model_with_features_of_whole_graphs_reads_them_of_new_molecules(tmp_path):
    """Own columns and descriptors, with an empty cell and one that is not a number; saved, predicted, embedded."""
    pytest.importorskip("rdkit")
    file = write_doses(tmp_path / "assay.csv")
    sources = "dose, descriptors"
    model = train(file, tmp_path / "model", **SETTINGS, graph_features=sources)
    assert model.summary["data"]["graphs"] == 32, "rows whose dose is a text are left out"
    skipped = (tmp_path / "model.skipped.csv").read_text()
    assert skipped.count("its 'dose' is 'many', not a number") == 8
    loaded = TrainedModel.load(tmp_path / "model")
    assert loaded.features.graph.names[0] == "dose"
    assert "MolLogP" in loaded.features.graph.names
    predicted = predict(tmp_path / "model", file)
    assert predicted["dose"].tolist()[3] == "2", "the columns of the input stay"
    assert predicted["problem"].notna().tolist() == [row[2] == "many" for row in ROWS]
    usable = predicted["problem"].isna()
    some = write_doses(tmp_path / "some.csv", ROWS[:4])
    again = loaded.predictions(loaded.read(some))
    assert np.allclose(predicted[usable]["p(1)"].to_numpy()[:4], again[:, 1].numpy(), atol=1e-6)
    embed(tmp_path / "model", some, tmp_path / "vectors.csv")
    assert "dose" not in (tmp_path / "vectors.csv").read_text()
    with pytest.raises(InputError, match="no column 'dose'"):
        predict(loaded, write_doses(tmp_path / "without.csv", [row[:2] for row in ROWS], ("smiles", "label")))
    with pytest.raises(InputError, match="The column 'label' is what is to be predicted"):
        train(file, tmp_path / "other", **SETTINGS, graph_features="label")
    with pytest.raises(BadRowsError, match="8 of 40 rows cannot be used: graph 6, 'CCC'"):
        train(file, tmp_path / "other", **SETTINGS, graph_features="dose", on_error="raise")


def test_attributes_of_networks_join_the_model_as_features(tmp_path):
    for number in range(24):
        graph = (nx.cycle_graph if number % 2 else nx.path_graph)(4 + number % 5)
        graph.graph.update({"heat": number / 7} if number != 5 else {})
        (tmp_path / "nets" / "ab"[number % 2]).mkdir(parents=True, exist_ok=True)
        content = nx.node_link_data(graph, edges="links")
        (tmp_path / "nets" / "ab"[number % 2] / f"{number}.json").write_text(json.dumps(content))
    model = train(tmp_path / "nets", tmp_path / "model", **SETTINGS, graph_features="heat")
    assert model.features.graph.names == ("heat",)
    assert predict(tmp_path / "model", tmp_path / "nets")["problem"].isna().all()
    assert len(model.read(tmp_path / "nets").graph_attr) == 24


def test_estimators_take_features_of_whole_graphs():
    pytest.importorskip("rdkit")
    smiles = [row[0] for row in ROWS]
    settings = {"epochs": 2, "hidden_channels": 8, "reading": {"graph_features": "descriptors,fingerprints"}}
    classifier = SSReadClassifier(**settings).fit(smiles, [row[1] for row in ROWS])
    assert classifier.model_.features.graph.count > 2048
    assert classifier.predict(smiles).shape == (40,)


def test_a_set_may_bring_its_own_features_of_whole_graphs():
    values = torch.randn(6, 2)
    graphs = dataclasses.replace(planted(6), graph_attr=values, graph_feature_names=("a", "b"))
    features = Features.from_dict(Features.of(graphs).as_dict())
    swapped = dataclasses.replace(graphs, graph_attr=values[:, [1, 0]], graph_feature_names=("b", "a"))
    assert torch.equal(features.arrange(swapped).graph_attr, values)
    with pytest.raises(InputError, match="has no graph features, but the model was trained with 2"):
        features.arrange(planted(6))
    with pytest.raises(InputError, match="lacks the graph feature 'b'"):
        features.arrange(dataclasses.replace(swapped, graph_feature_names=("c", "a")))
