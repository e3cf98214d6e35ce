from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.run_results import make_result

from ssread.common.plain_json import canonical_json
from ssread.data import GraphSet, planted
from ssread.evaluate import Store
from ssread.evaluate.keys import DatasetId, aggregation_name, fingerprint, identify, run_key, run_of, run_settings
from ssread.models.architectures import ARCHITECTURES
from ssread.train.recipes import RECIPES
from ssread.train.runs import OBJECTIVES, Run, Training

DATASET = DatasetId("MUTAG", "0" * 64)
RUN = Run({"name": "gcn", "readout": "ssread", "aggr": "sum", "num_positions": 4}, seed=0, fold=0)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return planted(20, seed=0)


def test_a_fingerprint_is_of_the_content_alone(graphs: GraphSet, tmp_path) -> None:
    graphs.save(tmp_path / "saved.safetensors")
    assert fingerprint(GraphSet.load(tmp_path / "saved.safetensors")) == fingerprint(graphs)
    assert fingerprint(replace(graphs, name="another", repairs={"edges added": 3})) == fingerprint(graphs)
    assert fingerprint(graphs[2:12]) == fingerprint(graphs[list(range(2, 12))])
    assert identify(graphs) == (graphs.name, fingerprint(graphs))


@pytest.mark.parametrize("column", ["x", "edge_index", "y", "node_ptr", "edge_ptr"])
def test_any_changed_value_changes_the_fingerprint(graphs: GraphSet, column: str) -> None:
    changed = getattr(graphs, column).clone()
    changed.view(-1)[-1] += 1
    assert fingerprint(replace(graphs, **{column: changed})) != fingerprint(graphs)


def test_shapes_and_missing_columns_count(graphs: GraphSet) -> None:
    prints = {
        fingerprint(graphs),
        fingerprint(replace(graphs, x=graphs.x.reshape(1, -1))),
        fingerprint(replace(graphs, y=None)),
        fingerprint(replace(graphs, edge_attr=torch.empty(graphs.edge_index.size(1), 0))),
        fingerprint(graphs[:0]),
    }
    assert len(prints) == 5


def test_every_setting_is_part_of_the_key() -> None:
    training = Training()
    keys = {
        run_key(DATASET, RUN, training),
        run_key(DATASET._replace(name="own"), RUN, training),
        run_key(DATASET._replace(fingerprint="1" * 64), RUN, training),
        run_key(DATASET, replace(RUN, seed=1), training),
        run_key(DATASET, replace(RUN, fold=1), training),
        run_key(DATASET, replace(RUN, num_folds=5), training),
        *(run_key(DATASET, replace(RUN, model=RUN.model | {"gamma": gamma}), training) for gamma in (0.1, 0.01)),
        run_key(DATASET, RUN, replace(training, epochs=10)),
        run_key(DATASET, RUN, replace(training, patience=10)),
        run_key(DATASET, RUN, replace(training, batch_size=10)),
        run_key(DATASET, RUN, replace(training, learning_rate=0.1)),
        run_key(DATASET, RUN, replace(training, weight_decay=0.0)),
    }
    assert len(keys) == 13


def test_how_a_setting_is_written_is_not_part_of_the_key() -> None:
    def key(**model: object) -> str:
        return run_key(DATASET, replace(RUN, model=model), Training())

    assert key(name="gcn", aggr=["max", "mean"]) == key(aggr=("max", "mean"), name="gcn")
    assert key(gamma=1) == key(gamma=1.0) == key(gamma=np.float64(1))


def test_aggregations_have_one_name() -> None:
    assert aggregation_name("gcn", ["max", "mean"]) == aggregation_name("sagpool", None) == "max+mean"


def test_results_from_before_a_change_of_the_numerics_are_not_found_again(monkeypatch, tmp_path) -> None:
    """A version of the architecture and one of the objective are part of the key, and come back from the store."""
    keys = [run_key(DATASET, RUN, Training())]
    monkeypatch.setitem(ARCHITECTURES, "gcn", replace(ARCHITECTURES["gcn"], numerics=2))
    keys.append(run_key(DATASET, RUN, Training()))
    monkeypatch.setitem(OBJECTIVES, "supervised", 2)
    keys.append(run_key(DATASET, RUN, Training()))
    assert len(set(keys)) == 3
    assert run_settings(RUN)["numerics"] == [2, 2]
    assert run_of(canonical_json(run_settings(RUN))) == RUN
    other = replace(RUN, model={**RUN.model, "name": "gin"}, learn="graphcl")
    assert "numerics" not in run_settings(other), "others are found as before"
    with Store(tmp_path / "store.sqlite") as store:
        store.add(DATASET, make_result(), Training(), "cpu")  # a result of RUN
        assert [result.run for result in store.results(keys).values()] == [RUN]
        assert store.has(keys) == {keys[2]}


@pytest.mark.parametrize("recipe", RECIPES)
def test_results_of_different_recipes_and_splits_never_mix(recipe: str) -> None:
    others = {name: other.training for name, other in RECIPES.items() if name != recipe}
    key = run_key(DATASET, RUN, RECIPES[recipe].training)
    assert key not in {run_key(DATASET, RUN, training) for training in others.values()}
    assert key != run_key(DATASET, replace(RUN, split="scaffold"), RECIPES[recipe].training)
    renamed = replace(RECIPES[recipe].training, recipe=next(iter(others)))
    assert key != run_key(DATASET, RUN, renamed), "the name itself counts"
