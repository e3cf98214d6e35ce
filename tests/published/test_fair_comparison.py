import pytest

from ssread.published import FairResult, best_fair_result
from ssread.published.fair_comparison import fair_comparison_note


@pytest.mark.parametrize(
    ("dataset", "result"),
    [
        ("DD", FairResult(78.4, "structure-blind baseline", False)),
        ("NCI1", FairResult(80.0, "GIN", False)),
        ("IMDB-BINARY", FairResult(71.2, "GIN", True)),
        ("MUTAG", None),
        ("Mutagenicity", None),
    ],
)
def test_the_best_of_a_dataset(dataset: str, result: FairResult | None) -> None:
    assert best_fair_result(dataset) == result


def test_the_note_says_which_sets_have_degrees_as_features() -> None:
    note = fair_comparison_note(["MUTAG", "NCI1", "IMDB-BINARY", "IMDB-MULTI"])
    assert "NCI1 80.0 (GIN), IMDB-BINARY 71.2 (GIN), IMDB-MULTI 49.1 (structure-blind baseline)." in note
    assert "There IMDB-BINARY and IMDB-MULTI have degrees as node features, here a constant." in note
    assert "degrees" not in fair_comparison_note(["NCI1"])
    assert fair_comparison_note(["MUTAG"]) == ""
