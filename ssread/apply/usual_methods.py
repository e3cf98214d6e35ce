"""What is known already: usual methods under the same folds, to tell whether a graph model is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import cpu_count

from ssread.apply.quality import FoldPredictions
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION

__all__ = ["FOREST", "GUESS", "forest", "guess", "morgan_fingerprints"]

#: Names in cards.
FOREST, GUESS = "random forest on Morgan fingerprints", "always the same answer"

#: Radius and length of the fingerprints, and trees of the forest.
RADIUS, BITS, TREES = 2, 2048, 300


def morgan_fingerprints(smiles: Sequence[str]) -> np.ndarray:
    """Returns Morgan fingerprints [n, 2048] of molecules that RDKit has read before."""
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    return np.stack([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in smiles])


def forest(graphs: GraphSet, folds: Sequence[Fold], seed: int, workers: int | None = None) -> list[FoldPredictions]:
    """Returns the test predictions of random forests, trained on training and validation part of every fold.

    A forest per label or number, on the graphs where it is known. No setting is chosen.
    """
    x = morgan_fingerprints(graphs.graph_texts["smiles"])
    found = []
    for fold, y in _parts(graphs, folds):
        known, test = np.concatenate([fold.train, fold.validation]), fold.test.numpy()
        predict = _forest_of(graphs.task, seed, workers or cpu_count())
        if graphs.task == CLASSIFICATION:
            probabilities = np.zeros((len(test), graphs.num_classes))
            classes, answers = predict(x[known], y[known], x[test])
            probabilities[:, classes] = answers
            found.append(FoldPredictions(test, y[test], probabilities))
            continue
        columns = []
        for column in y.T:
            usable = known[~np.isnan(column[known])]
            classes, answers = predict(x[usable], column[usable], x[test])
            columns.append(answers if graphs.task == REGRESSION else answers[:, classes == 1].sum(axis=1))
        found.append(FoldPredictions(test, y[test], np.stack(columns, axis=1)))
    return found


def guess(graphs: GraphSet, folds: Sequence[Fold]) -> list[FoldPredictions]:
    """Returns the shares of the classes, or the means, of the training part as the prediction for every test graph."""
    found = []
    for fold, y in _parts(graphs, folds):
        train, test = y[fold.train.numpy()], fold.test.numpy()
        if graphs.task == CLASSIFICATION:
            answer = np.bincount(train, minlength=graphs.num_classes) / len(train)
        else:
            answer = np.nan_to_num(np.nanmean(train, axis=0))
        found.append(FoldPredictions(test, y[test], np.tile(answer, (len(test), 1))))
    return found


def _parts(graphs: GraphSet, folds: Sequence[Fold]) -> Any:
    assert graphs.y is not None
    y = graphs.y.cpu().numpy()
    return ((fold, y) for fold in folds)


def _forest_of(task: str, seed: int, workers: int) -> Any:
    """Returns a function from training rows, their targets and test rows to classes and their probabilities; to None
    and numbers for a regression."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    def classify(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[Any, np.ndarray]:
        model = RandomForestClassifier(TREES, random_state=seed, n_jobs=workers).fit(x, y.astype(int))
        return model.classes_, model.predict_proba(new)

    def regress(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[Any, np.ndarray]:
        return None, RandomForestRegressor(TREES, random_state=seed, n_jobs=workers).fit(x, y).predict(new)

    return classify if task in (CLASSIFICATION, MULTILABEL) else regress
