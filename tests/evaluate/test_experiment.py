import pytest

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train import Training


def test_settings_come_as_texts_numbers_and_lists():
    experiment = Experiment.of(
        {"arch": "gcn, gin", "aggr": ["sum", "max+mean"], "positions": "8", "epochs": 7, "gamma": "0"}
    )
    assert experiment == Experiment(("gcn", "gin"), ("sum", "max+mean"), 8, 0.0, training=Training(epochs=7))
    assert experiment.cells() == [("gcn", "sum"), ("gcn", ["max", "mean"]), ("gin", "sum"), ("gin", ["max", "mean"])]


def test_by_default_it_is_the_papers():
    experiment = Experiment.of({})
    assert (experiment.folds, experiment.seeds, experiment.positions, experiment.gamma) == (10, 5, None, 0.01)
    assert experiment.training == Training(500, 50, 128, 1e-3, 1e-4)
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
        ({"dropout": 1.5}, "dropout is a share of at least 0 and below 1, but 1.5 was given"),
        ({"dropout": "auto", "learn": "graphcl"}, "dropout is chosen by validation accuracy of a classifier"),
        ({"precision": "float16"}, "There is no precision 'float16'"),
        ({"positions": 2.5}, "positions cannot be 2.5"),
        ({"folds": 1}, "folds must be 2 or more, but 1 was given"),
        ({"seeds": None}, "seeds cannot be None"),
        ({"gamma": -1}, "gamma must be 0 or more, but -1.0 was given"),
        ({"epochs": 0}, "epochs must be 1 or more"),
        ({"model": 3}, "model cannot be 3: give settings by name"),
        ({"lr": 3}, "no setting 'lr'; there are aggr, arch, batch_size"),
    ],
)
def test_wrong_settings_get_a_sentence(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Experiment.of(settings)
