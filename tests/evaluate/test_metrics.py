from dataclasses import replace

import numpy as np
import pytest
from helpers.run_results import make_result

from ssread import InputError
from ssread.data.task_names import CLASSIFICATION
from ssread.evaluate.metrics import METRICS, score


@pytest.mark.parametrize("metric", [name for name, known in METRICS.items() if CLASSIFICATION in known.tasks])
def test_a_failed_or_empty_training_has_no_score(metric: str) -> None:
    assert np.isnan(score(make_result(failed="The loss was not a number in epoch 3."), metric))
    assert 0 <= score(make_result(), metric) <= 1


def test_of_a_training_without_predictions_only_the_accuracy_is_known() -> None:
    result = replace(make_result(3, 2), test_predictions=np.empty((0, 0)), test_accuracy=0.75)
    assert score(result) == 0.75
    sentence = r"roc_auc needs test predictions, .*\(seed 3, fold 2\) comes from a CSV file.*add the results.sqlite"
    with pytest.raises(InputError, match=sentence):
        score(result, "roc_auc")
    assert np.isnan(score(replace(result, failed="The loss was not a number."), "roc_auc"))


def test_an_unknown_metric_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no metric 'auc'\. Choose one of accuracy, balanced_accuracy, roc_auc"):
        score(make_result(), "auc")
