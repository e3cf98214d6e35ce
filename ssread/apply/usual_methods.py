"""What is known already: usual methods under the same folds, to tell whether a graph model is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import cpu_count

from ssread.apply.quality import FoldPredictions
from ssread.data.graph_features import morgan_fingerprints
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.data.task_names import CLASSIFICATION, REGRESSION

__all__ = ["FOREST", "GUESS", "STRUCTURE_BLIND", "forest", "guess"]

#: Names in cards.
FOREST, GUESS = "random forest on Morgan fingerprints", "always the same answer"
STRUCTURE_BLIND = "model without edges (MLP on node features)"

#: Trees of the forest.
TREES = 300


def forest(graphs: GraphSet, folds: Sequence[Fold], seed: int, workers: int | None = None) -> list[FoldPredictions]:
    """Returns the test predictions of random forests, trained on training and validation part of every fold.

    A forest per label or number, on the graphs where it is known. No setting is chosen.
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    x, y = morgan_fingerprints(_molecules(graphs)), _targets(graphs)
    kind = RandomForestRegressor if graphs.task == REGRESSION else RandomForestClassifier
    found = []
    for fold in folds:
        seen, test = np.concatenate([fold.train, fold.validation]), fold.test.numpy()
        columns = []
        for column in y[:, None].T if graphs.task == CLASSIFICATION else y.T:
            known = seen[~np.isnan(column[seen])]
            if len(known) == 0:  # never known where it could be learnt
                columns.append(np.zeros(len(test)))
                continue
            model = kind(TREES, random_state=seed, n_jobs=workers or cpu_count()).fit(x[known], column[known])
            if graphs.task == REGRESSION:
                columns.append(model.predict(x[test]))
                continue
            probabilities = np.zeros((len(test), max(graphs.num_classes, 2)))
            probabilities[:, model.classes_.astype(int)] = model.predict_proba(x[test])
            columns += [*probabilities.T] if graphs.task == CLASSIFICATION else [probabilities[:, 1]]
        found.append(FoldPredictions(test, y[test], np.stack(columns, axis=1)))
    return found


def guess(graphs: GraphSet, folds: Sequence[Fold]) -> list[FoldPredictions]:
    """Returns the shares of the classes, or the means, of the training part as the prediction for every test graph."""
    y, found = _targets(graphs), []
    for fold in folds:
        train, test = y[fold.train.numpy()], fold.test.numpy()
        if graphs.task == CLASSIFICATION:
            answer = np.bincount(train, minlength=graphs.num_classes) / len(train)
        else:
            answer = np.nansum(train, axis=0) / np.maximum(1, (~np.isnan(train)).sum(axis=0))
        found.append(FoldPredictions(test, y[test], np.tile(answer, (len(test), 1))))
    return found


def _molecules(graphs: GraphSet) -> list[Any]:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # they were read before, and what there was to say was said
        return [Chem.MolFromSmiles(text) for text in graphs.graph_texts["smiles"]]


def _targets(graphs: GraphSet) -> np.ndarray:
    assert graphs.y is not None
    return graphs.y.cpu().numpy()
