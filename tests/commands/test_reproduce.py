"""``ssread reproduce`` as people run it."""

import pytest
from helpers.paper_runs import imagined
from typer.testing import CliRunner

from ssread.cli import app
from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment
from ssread.paper.comparison_tables import TABLE_3
from ssread.paper.registry import PAPER


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["reproduce", *map(str, words)])
    return result.exit_code, " ".join(result.output.split())


def test_lists_all_with_how_much_is_done(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        imagined(store, Experiment(TABLE_3.arch, TABLE_3.aggr, dropout="auto"))
    code, output = run("--out", tmp_path)
    assert code == 0
    assert all(f" {name} {entry.title} " in output for name, entry in PAPER.items())
    assert "table3 GCN with six aggregations 800 5,600 trainings" in output
    assert "table4 five more classifiers 300 5,600 trainings" in output
    assert "figure7 sensitivity to K and gamma 300 1,500 trainings" in output


def test_takes_over_what_another_machine_trained(tmp_path):
    with Store(tmp_path / "other.sqlite") as store:
        trained = len(imagined(store, Experiment(TABLE_3.arch, TABLE_3.aggr, dropout="auto"), ("NCI1",)))
    words = ("table3", "--add", tmp_path / "other.sqlite", "--show", "--datasets", "NCI1", "--out", tmp_path / "runs")
    code, output = run(*words)
    assert code == 0
    assert f"{trained} trainings taken over from " in output
    assert "0 of 6 cells are missing" not in output
    assert "NCI1 gcn sort" in output
    assert "missing" not in output.split("Saved")[0]
    assert run(*words)[1].startswith("0 trainings taken over")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tabel3"], "The paper has no 'tabel3'"),
        (["figure3"], "cannot be made: a scheme"),
        (["table3", "--datasets", "AIDS"], "There is no dataset 'AIDS' here"),
        (["table4", "--rows", "sum"], "There is no row 'sum' here. Choose from gin"),
        (["figure7", "--datasets", "DD"], "There is no dataset 'DD' here. Choose from MUTAG, NCI1, IMDB-MULTI"),
        (["table3", "--add", "nowhere.sqlite"], "There is no results file nowhere.sqlite"),
        (["table3", "--seeds", "0"], "seeds must be 1 or more"),
        (["table3", "--device", "tpu"], "There is no device 'tpu'"),
    ],
)
def test_wrong_words_get_a_sentence(words, sentence, tmp_path):
    code, output = run(*words, "--out", tmp_path)
    assert code == 1
    assert "Error: " in output
    assert sentence in output
    assert not list(tmp_path.glob("*/*.md"))


def test_the_datasets_and_the_classifiers(mutag, tmp_path):
    code, output = run("table1", "--datasets", "MUTAG", "--out", tmp_path)
    assert code == 0
    assert "| MUTAG | 188 | 188 | 17.93 | 17.93 |" in (tmp_path / "table1" / "table1.md").read_text()
    code, output = run("table2", "--rows", "sagpool", "--out", tmp_path)
    assert code == 0
    assert "| sagpool | paper |" in (tmp_path / "table2" / "table2.md").read_text()
    assert "gunet" not in output
