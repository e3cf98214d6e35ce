from dataclasses import replace

import pytest

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train import Training
from ssread.train.recipes import RECIPES


def test_settings_come_as_texts_numbers_and_lists():
    experiment = Experiment.of(
        {"arch": "gcn, gin", "aggr": ["sum", "max+mean"], "positions": "8", "epochs": 7, "gamma": "0"}
    )
    training = replace(RECIPES["fair"].training, epochs=7, patience=7)
    assert experiment == Experiment(("gcn", "gin"), ("sum", "max+mean"), 8, 0.0, "auto", training=training)
    assert experiment.cells() == [("gcn", "sum"), ("gcn", ["max", "mean"]), ("gin", "sum"), ("gin", ["max", "mean"])]


def test_the_protocol_is_the_papers_and_the_recipe_ours():
    experiment = Experiment.of({})
    assert (experiment.folds, experiment.seeds, experiment.positions, experiment.gamma) == (10, 5, None, 0.01)
    assert experiment.training == RECIPES["fair"].training
    assert experiment.model_of("gcn") == {"normalize": True}
    assert [candidate.dropout for candidate in experiment.dropouts()] == [0.0, 0.3]
    paper = Experiment.of({"recipe": "paper"})
    assert paper.training == Training(500, 50, 128, 1e-3, 1e-4)
    assert (paper.dropout, paper.model_of("gcn")) == (None, {})
    public = Experiment.of({"recipe": "public", "epochs": 9})
    assert (public.training.epochs, public.training.patience, public.training.selection) == (9, 9, "seen")
    assert public.model_of("gcn")["hidden_channels"] == 300
    assert Experiment(arch=("sagpool",)).cells() == [("sagpool", ["max", "mean"])]
    assert Experiment.of({"positions": "auto"}).positions is None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"arch": "gnc"}, "no architecture 'gnc'. Choose from gcn, gin, dgcnn"),
        ({"arch": ""}, "no architecture ''"),
        ({"arch": []}, "at least one architecture"),
        ({"aggr": "sum,median"}, "no aggregation 'median'. Choose from sum, max, mean"),
        ({"aggr": "sum+"}, "no aggregation ''"),
        ({"metric": "auc"}, "no metric 'auc'. Choose from accuracy"),
        ({"positions": 0}, "positions must be 1 or more, but 0 was given"),
        ({"positions": "many"}, "positions cannot be 'many': give a whole number or auto"),
        ({"dropout": "lots"}, "dropout cannot be 'lots': give a number or auto"),
        ({"dropout": 1.5}, "dropout must be at least 0 and below 1, but 1.5 was given"),
        ({"dropout": "auto", "learn": "graphcl"}, "dropout: auto chooses by the validation accuracy of a classifier"),
        ({"recipe": "best"}, "no recipe 'best'. Choose from fair, paper, public"),
        ({"schedule": "stairs"}, "There is no schedule 'stairs'. Choose from constant, cosine"),
        ({"selection": "test"}, "There is no selection 'test'"),
        ({"margin": -1}, "margin must be 0 or more, but -1.0 was given"),
        ({"precision": "float16"}, "There is no precision 'float16'"),
        ({"positions": 2.5}, "positions cannot be 2.5"),
        ({"folds": 1}, "folds must be 2 or more, but 1 was given"),
        ({"seeds": None}, "seeds cannot be None"),
        ({"gamma": -1}, "gamma must be 0 or more, but -1.0 was given"),
        ({"epochs": 0}, "epochs must be 1 or more"),
        ({"model": 3}, "model cannot be 3: give settings by name"),
        ({"lr": 3}, "no setting 'lr'. Choose from aggr, arch, averaging, batch_size"),
    ],
)
def test_wrong_settings_get_a_sentence(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Experiment.of(settings)
