"""The settings of a study of explanations."""

import pytest

from ssread.errors import InputError
from ssread.explain.study import ROLE_MODELS, RULE_MODELS, Study
from ssread.train.runs import Training


def test_the_readouts_differ_in_nothing_but_the_readout():
    study = Study(positions=3, model={"hidden_channels": 16})
    ssread, baseline = study.run("SSRead", 1), study.run("global readout", 1)
    shared = {"name": "gcn", "hidden_channels": 16, "normalize": True, "dropout": 0.0}
    assert ssread.model == {**shared, "readout": "ssread", "num_positions": 3}
    assert baseline.model == {**shared, "readout": "global"}
    runs = [study.run(model, 1) for model in {*ROLE_MODELS, *RULE_MODELS}]
    folds = {(run.seed, run.fold, run.num_folds) for run in runs}
    assert folds == {(1, 0, 5)}


@pytest.mark.parametrize(
    "settings", [{"seeds": 0}, {"positions": 0}, {"explained": 0}, {"training": Training(epochs=0)}]
)
def test_numbers_out_of_range_are_refused_with_a_sentence(settings):
    with pytest.raises(InputError, match=r"must be 1 or more.* 0"):
        Study(**settings)
