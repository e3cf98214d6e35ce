"""What positions add to predictions, as columns of a table."""

from dataclasses import replace

import pytest
import torch
from helpers.small_models import for_task, untrained

from ssread.apply import predict
from ssread.apply.contribution_columns import contribution_columns


@pytest.mark.parametrize("features", [False, True])
def test_the_columns_of_a_number_add_up_to_it(features):
    graphs = for_task("regression", 8)
    if features:
        graphs = replace(graphs, graph_attr=torch.randn(8, 2), graph_feature_names=("a", "b"))
    model = untrained(graphs, members=2)
    table = predict(model, graphs, contributions=True, workers=1)
    for name in ("first", "second"):
        terms = [f"contribution(position {k}, {name})" for k in range(3)]
        terms += [f"contribution(graph features, {name})"] * features
        total = table[[*terms, f"contribution(rest, {name})"]].sum(axis=1)
        assert torch.allclose(torch.tensor(total.to_numpy()), torch.tensor(table[name].to_numpy()), atol=1e-4)
    assert not [name for name in predict(model, graphs, workers=1) if name.startswith("contribution")]


def test_positions_are_called_by_what_they_mean():
    graphs = for_task("classification", 8)
    model = untrained(graphs)
    model.summary["positions"] = [{"name": "hub"}, {"name": "end of a chain"}, {}]
    table = predict(model, graphs, contributions=True, workers=1)
    assert {"share(hub)", "share(end of a chain)", "position 2"} <= set(table)
    assert {f"contribution(hub, {name})" for name in graphs.class_names} <= set(table)


def test_the_global_readout_has_one_term_and_no_graphs_have_no_rows():
    graphs = for_task("classification", 8)
    columns = contribution_columns(untrained(graphs, readout="global"), None)
    assert list(columns) == [
        f"contribution({part}, {name})" for name in graphs.class_names for part in ("all nodes", "rest")
    ]
    assert all(len(values) == 0 for values, _ in columns.values())
