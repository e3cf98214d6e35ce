"""The card describes the model, and text from data stays text."""

from ssread.apply.features import Features
from ssread.apply.model_card import model_card
from ssread.data import planted

CONFIG = {
    "model": {"name": "gcn", "readout": "ssread", "num_positions": 4, "aggr": ["max", "mean"], "num_layers": 3}
    | {"hidden_channels": 8},
    "members": 2,
    "task": "classification",
    "output_names": ["<script>alert(1)</script>", "a|b\nc"],
    "features": Features.of(planted(10)).as_dict(),
    "written_with": {"ssread": "0.1.0"},
    "summary": {
        "data": {
            "name": "set*",
            "graphs": 10,
            "mean_nodes": 3.25,
            "max_nodes": 9,
            "class_counts": {"<script>alert(1)</script>": 4, "a|b\nc": 6},
            "repairs": {"self-loops dropped": 2},
        },
        "cross_validation": {
            "folds": 5,
            "split": "random",
            "graphs": 10,
            "metric": "accuracy",
            "metrics": {
                "accuracy": {"mean": 0.8, "low": 0.5, "high": 0.95},
                "roc_auc": {"mean": None, "low": None, "high": None},
            },
            "majority": 0.6,
            "recall": {"a|b\nc": 1.0},
            "trainings": 7,
            "candidates": [
                {"name": "one", "folds": 5, "score": 0.9, "chosen": True},
                {"name": "two", "folds": 1, "score": 0.7, "chosen": False},
                {"name": "three", "folds": 1, "score": None, "chosen": False},
            ],
            "usual": [{"name": "a forest", "mean": 0.85, "low": 0.8, "high": 0.9, "finding": "worse"}],
        },
    },
}


def test_the_card_has_data_accuracy_with_interval_and_limits():
    text = model_card(CONFIG)
    assert "An ensemble of 2 members" in text
    assert "10 graphs, 3.2 nodes on average, at most 9" in text
    plain = text.replace("\\", "")
    assert "one: share of graphs predicted correctly 80.0 % (95 % interval 50.0 % to 95.0 %) in 5-fold" in plain
    assert "A forest: 85.0 %. That is better than the graph model: use it here." in plain
    assert "| one | 5 | 90.0 % | chosen |" in text
    assert "| three | 1 | failed |  |" in text
    assert "| roc_auc | area under the ROC curve | unknown |" in plain
    assert "self-loops dropped: 2" in text
    assert "## Limits" in text
    assert "Random folds have similar graphs" in text


def test_it_says_by_what_test_graphs_are_new():
    summary = CONFIG["summary"]
    by_scaffold = {**summary, "cross_validation": {**summary["cross_validation"], "split": "scaffold"}}
    text = model_card({**CONFIG, "summary": by_scaffold})
    assert "Folds were drawn by scaffold: graphs of the test parts are new in that respect" in text
    assert "Random folds" not in text


def test_the_card_of_numbers_has_their_range_and_a_line_for_each():
    data = {**CONFIG["summary"]["data"], "class_counts": {}}
    data["targets"] = {"a|b": {"known": 9, "mean": 1.5, "lowest": -2.0, "highest": 3.25}}
    found = {**CONFIG["summary"]["cross_validation"], "metric": "rmse", "each": {"a|b": 0.5}}
    found["metrics"] = {"rmse": {"mean": 0.5, "low": 0.4, "high": 0.6}}
    text = model_card({**CONFIG, "task": "regression", "summary": {"data": data, "cross_validation": found}})
    assert "for the numbers" in text
    assert "| a\\|b | 9 | 1.5 | -2 | 3.25 |" in text
    assert "| a\\|b | 0.500 |" in text


def test_the_estimate_of_an_earlier_version_is_kept():
    earlier = {"folds": 5, "graphs": 10, "accuracy": 0.8, "interval": [0.5, 0.95], "majority": 0.6, "candidates": []}
    text = model_card({**CONFIG, "summary": {**CONFIG["summary"], "cross_validation": earlier}})
    assert "Accuracy **80.0 %** (95 % interval 50.0 to 95.0) in 5-fold cross-validation on 10 graphs" in text


def test_text_from_data_is_escaped():
    text = model_card(CONFIG)
    assert "<script>" not in text
    assert "| a\\|b c | 6 |" in text
    assert "set\\*" in text


def test_a_model_without_cross_validation_says_so():
    assert "It was not cross-validated" in model_card({**CONFIG, "summary": {}})


def test_the_card_names_the_positions_and_says_what_the_folder_keeps():
    trait = {"fact": "nitro | group", "inside": 0.9, "outside": 0.1, "effect": 2.0, "p": 0.001}
    position = {"name": "<b>nitro</b>", "share": 0.25, "traits": [trait], "activations": [0.5, -0.25]}
    config = {**CONFIG, "summary": {**CONFIG["summary"], "positions": [position]}, "reference": {"ids": ["a", "b"]}}
    card = model_card(config)
    assert "## What its positions mean" in card
    (row,) = [line for line in card.splitlines() if "25 %" in line]
    assert "nitro \\| group (90 %)" in row.replace("\\(", "(").replace("\\)", ")")
    assert row.endswith("| +0.5 | -0.25 |")
    assert "<b>" not in card
    assert "The folder keeps names, labels and, of molecules, structures of 2 training graphs." in card
    assert "positions mean" not in model_card(CONFIG)
