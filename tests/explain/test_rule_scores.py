"""Scores over several rules: which count, means over those, intervals and tests."""

import dataclasses

import pandas as pd
import pytest

from ssread.evaluate.bootstrap import crossed_interval
from ssread.evaluate.significance import fold_ratio
from ssread.evaluate.statistics import compare
from ssread.explain.rule_scores import MEASURES, RuleScores, RuleSize
from ssread.explain.scores import Scores
from ssread.explain.study import FOLDS, RULE_MODELS, Study

AUCS = {
    "SSRead decomposition": {"found": [0.9, 0.95, 0.94], "missed": [0.5, 0.6, 0.5]},
    "SSRead saliency": {"found": [0.8, 0.7, 0.9], "missed": [0.9, 0.9, 0.9]},
}
ACCURACIES = {"found": {"SSRead": 0.97, "global readout": 0.96}, "missed": {"SSRead": 0.99, "global readout": 0.9}}


@pytest.fixture
def scores() -> RuleScores:
    study = Study(positions=3, seeds=3, models=RULE_MODELS)
    by_rule = {}
    for rule, accuracies in ACCURACIES.items():
        rows = [(seed, "models", m, "accuracy", value) for m, value in accuracies.items() for seed in range(3)]
        for method, values in AUCS.items():
            for seed, value in enumerate(values[rule]):
                rows += [(seed, "localisation", method, measure, value) for measure in MEASURES]
        table = pd.DataFrame(rows, columns=["seed", "part", "method", "measure", "value"])
        by_rule[rule] = Scores(rule, "the rule", study, table)
    sizes = {"found": RuleSize("C=O", 100, 25), "missed": RuleSize("N and not [OX2H1]", 90, 0)}
    return RuleScores("mine", sizes, by_rule)


def test_only_rules_that_both_readouts_have_found_count(scores):
    assert scores.counted() == ["found"]
    summary = scores.summary().set_index(["method", "measure"])
    assert summary.loc[("SSRead decomposition", "AUC"), "mean"] == pytest.approx(0.93)
    assert summary.loc[("SSRead saliency", "AUC"), "mean"] == pytest.approx(0.8)


def test_tests_are_corrected_for_overlapping_training_parts(scores):
    cell = scores.summary().set_index(["method", "measure"]).loc[("SSRead saliency", "AUC")]
    own, reference = ([[value] for value in AUCS[m]["found"]] for m in ("SSRead saliency", "SSRead decomposition"))
    assert cell["corrected p"] == pytest.approx(compare(own, reference, test_to_train=fold_ratio(FOLDS)).corrected_p)


def test_intervals_resample_rules_and_seeds_and_never_leave_the_range_of_the_values(scores):
    summary = scores.summary().set_index(["method", "measure"])
    assert tuple(summary.loc[("SSRead saliency", "AUC"), ["low", "high"]]) == crossed_interval([[0.8, 0.7, 0.9]])
    found = {rule: replace_accuracy(own, 0.99) for rule, own in scores.scores.items()}
    both = RuleScores("mine", scores.sizes, found).summary().set_index(["method", "measure"])
    interval = tuple(both.loc[("SSRead saliency", "AUC"), ["low", "high"]])
    assert interval == crossed_interval([[0.8, 0.7, 0.9], [0.9, 0.9, 0.9]])
    assert 0.7 <= interval[0] < interval[1] <= 0.9  # the t interval of the first rule is 0.55 to 1.05


def replace_accuracy(scores: Scores, accuracy: float) -> Scores:
    table = scores.table.copy()
    table.loc[table["part"] == "models", "value"] = accuracy
    return dataclasses.replace(scores, table=table)


def test_the_markdown_says_which_rules_say_nothing(scores):
    text = scores.markdown()
    assert "| found | C=O | 100 | 25 | 0.970 | 0.960 |" in text
    assert "| 0.990 | 0.900 (!) | says nothing |" in text
    assert "means over 1 of 2 rules" in text
    assert "| SSRead saliency | 0.800 | (0.900) |" in text
    assert text.index("| SSRead decomposition | 0.930") < text.index("| SSRead saliency | 0.800 (")


def test_without_a_rule_that_counts_there_is_no_table_of_methods(scores):
    missed = RuleScores("mine", scores.sizes, {"missed": scores.scores["missed"]})
    assert missed.counted() == []
    assert "**Methods**" not in missed.markdown()
    assert missed.summary().empty
