from dataclasses import replace

import numpy as np
import pytest
import torch

from ssread.data import GraphSet, planted
from ssread.evaluate.keys import DatasetId, fingerprint, identify, run_key
from ssread.train.runs import Run, Training

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
