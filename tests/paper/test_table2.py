"""Table II: the layers of the classifiers."""

import pytest
from helpers.paper_runs import context, printed

from ssread.errors import InputError
from ssread.models import ARCHITECTURES, model_for
from ssread.paper import table2

PAPER = ["gcn", "gin", "dgcnn", "diffpool", "sagpool", "gunet"]


def test_every_classifier_of_the_paper_is_next_to_ours(tmp_path):
    made = context(tmp_path)
    (page,) = table2.run(made)
    lines = page.read_text().splitlines()[2:]
    assert [line.split(" | ")[0].strip("| ") for line in lines if "| paper |" in line] == PAPER
    assert table2.progress(made) == (6, 6, "classifiers")
    assert "structure_blind" not in page.read_text()
    assert ARCHITECTURES["gin"].paper[0] in page.read_text()


def test_rows_can_be_chosen(tmp_path):
    made = context(tmp_path, rows=["sagpool"])
    (page,) = table2.run(made)
    assert "| sagpool | paper |" in page.read_text()
    assert "gunet" not in printed(made)
    with pytest.raises(InputError, match=r"There is no row 'mlp' here\. Choose from gcn, gin"):
        table2.run(context(tmp_path, rows=["mlp"]))


def test_parameters_are_those_of_the_models(mutag, tmp_path):
    (page,) = table2.run(context(tmp_path, rows=["gcn"]))
    for readout in ("global", "ssread"):
        model = model_for(mutag, "gcn", readout=readout)
        assert f"{sum(parameter.numel() for parameter in model.parameters()):,}" in page.read_text()
