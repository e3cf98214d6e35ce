"""The card describes the model, and text from data stays text."""

from ssread.apply.features import Features
from ssread.apply.model_card import model_card
from ssread.data import planted

CONFIG = {
    "model": {"name": "gcn", "readout": "ssread", "num_positions": 4, "aggr": ["max", "mean"], "num_layers": 3}
    | {"hidden_channels": 8},
    "members": 2,
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
            "graphs": 10,
            "accuracy": 0.8,
            "interval": [0.5, 0.95],
            "majority": 0.6,
            "roc_auc": None,
            "recall": {"a|b\nc": 1.0},
            "candidates": [
                {"name": "one", "valid_accuracy": 0.9, "chosen": True},
                {"name": "two", "valid_accuracy": 0.7, "chosen": False},
            ],
        },
    },
}


def test_the_card_has_data_accuracy_with_interval_and_limits():
    text = model_card(CONFIG)
    assert "An ensemble of 2 members" in text
    assert "10 graphs, 3.2 nodes on average, at most 9" in text
    assert "Accuracy **80.0 %** (95 % interval 50.0 to 95.0) in 5-fold cross-validation on 10 graphs" in text
    assert "| one | 90.0 % | chosen |" in text
    assert "self-loops dropped: 2" in text
    assert "## Limits" in text


def test_text_from_data_is_escaped():
    text = model_card(CONFIG)
    assert "<script>" not in text
    assert "| a\\|b c | 6 |" in text
    assert "set\\*" in text


def test_a_model_without_cross_validation_says_so():
    assert "It was not cross-validated" in model_card({**CONFIG, "summary": {}})
