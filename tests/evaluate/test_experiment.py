from dataclasses import replace

import pytest

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train import Training
from ssread.train.recipes import RECIPES


def test_settings_come_as_texts_numbers_and_lists():
    experiment = Experiment.of(
        {"arch": "gcn, gin", "aggr": ["sum", "max+mean"], "positions": 8, "epochs": 7, "gamma": 0}
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
    assert (public.positions, Experiment.of({"recipe": "public", "positions": "auto"}).positions) == (4, None)
    assert (public.training.epochs, public.training.patience, public.training.selection) == (9, 9, "seen")
    assert public.model_of("gcn")["hidden_channels"] == 300
    assert Experiment(arch=("sagpool",)).cells() == [("sagpool", ["max", "mean"])]
    assert Experiment.of({"positions": "auto"}).positions is None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"arch": "gnc"}, "no architecture 'gnc'. Choose from gcn, gin, dgcnn"),
        ({"arch": ""}, "no architecture ''"),
        ({"arch": []}, "arch must be not empty"),
        ({"aggr": "sum,median"}, "no aggregation 'median'. Choose from sum, max, mean"),
        ({"aggr": "sum+"}, "no aggregation ''"),
        ({"metric": "auc"}, "no metric 'auc'. Choose from accuracy"),
        ({"positions": 0}, "positions must be 1 or more, or auto, but is 0"),
        ({"positions": "many"}, "positions must be a whole number, or auto, but is 'many'"),
        ({"dropout": "lots"}, "dropout must be a number, or auto, but is 'lots'"),
        ({"dropout": 1.5}, "dropout must be below 1, or auto, but is 1.5"),
        ({"dropout": "auto", "learn": "graphcl"}, "dropout: auto chooses by the validation accuracy of a classifier"),
        ({"recipe": "best"}, "no recipe 'best'. Choose from fair, paper, public"),
        ({"schedule": "stairs"}, "There is no schedule 'stairs'. Choose from constant, cosine"),
        ({"selection": "test"}, "There is no selection 'test'"),
        ({"margin": -1}, "margin must be 0 or more, but is -1"),
        ({"precision": "float16"}, "There is no precision 'float16'"),
        ({"positions": 2.5}, "positions must be a whole number, or auto, but is 2.5"),
        ({"folds": 1}, "folds must be 2 or more, but is 1"),
        ({"seeds": None}, "seeds must be a whole number, but is empty"),
        ({"gamma": -1}, "gamma must be 0 or more, but is -1"),
        ({"position_hops": -1}, "position_hops must be 0 or more, but is -1"),
        ({"position_hops": 1, "arch": "gcn,gunet"}, "position_hops needs the readout ssread and one of gcn, gin"),
        ({"position_hops": 1, "learn": "graphcl"}, "position_hops is for models that learn from labels"),
        ({"epochs": 0}, "epochs must be 1 or more"),
        ({"model": 3}, "model must be values by name, but is 3"),
        ({"positions": "8"}, "positions must be a whole number"),
        ({"learning_rate": -1}, "learning_rate must be above 0, but is -1"),
        ({"gamma": 1e308}, r"gamma must be at most 1e\+06, but is 1e\+308"),
        ({"gamma": float("nan")}, "gamma must be a finite number, but is nan"),
        ({"task": None}, "task must be a list, but is empty"),
        ({"learn": 5}, "learn must be a list, but is 5"),
        ({"learn": ["graphcl", "infograph"]}, "An experiment has one learn"),
        ({"model": {"dropout": []}}, r"model\.dropout must be a number, but is \[\]"),
        ({"model": {"hidden_channels": "x"}}, r"model\.hidden_channels must be a whole number"),
        ({"model": {"\ud800": 1}}, "model must be .*Unicode"),
        ({"lr": 3}, "no setting 'lr'. Choose from aggr, arch, averaging, batch_size"),
    ],
)
def test_wrong_settings_get_a_sentence(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Experiment.of(settings)
