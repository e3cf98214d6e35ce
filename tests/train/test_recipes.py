import dataclasses

import pytest
import torch
from helpers.planted_runs import assert_same, cohort_of, runs

from ssread.data import GraphSet, load
from ssread.errors import InputError
from ssread.models import make_model
from ssread.train import train
from ssread.train.recipes import RECIPES, recipe_named


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    graphs = load("planted", num_graphs=90, seed=3)
    x = torch.randn(len(graphs.x), 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return dataclasses.replace(graphs, x=x, node_feature_names=tuple("abcde"))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_gives_the_same_in_a_cohort_and_alone(graphs, name, device):
    """Normalised vectors, falling learning rate, averaged weights, and the rule that chooses the epoch."""
    recipe = recipe_named(name)
    training = dataclasses.replace(recipe.training, epochs=8, patience=3, batch_size=16)
    which = runs(**{**recipe.model, "hidden_channels": 12, "dropout": 0.0})
    torch.set_default_dtype(torch.float64)
    try:
        for run, result in zip(which, cohort_of(graphs, which, training, device), strict=True):
            assert_same(result, train(graphs, [run], training)[0], exact=False)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_says_its_name_and_its_models_can_be_built(name):
    assert RECIPES[name].training.recipe == name
    model = make_model("gcn", 3, 2, **{"normalize": False, **RECIPES[name].model})
    assert (model.norm is not None) == (name == "fair")


def test_unknown_recipes_get_a_sentence():
    with pytest.raises(InputError, match=r"no recipe 'best'\. Choose from fair, paper, public"):
        recipe_named("best")
