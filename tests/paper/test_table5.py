from helpers.paper_runs import SMALL, context, imagined, printed

from ssread.evaluate.experiment import Experiment
from ssread.paper.comparison_tables import TABLE_5

WAYS = ("infograph", "graphcl")


def test_trained_and_not_trained_again(mutag, tmp_path):
    made = context(tmp_path, settings={**SMALL, "positions": 2})
    files = TABLE_5.run(made)
    rows = made.trainings()
    assert len(rows) == 2 * 2 * 2, "two ways, two readouts, two folds"
    assert TABLE_5.progress(made) == (8, 8, "trainings")
    assert "gin by graphcl" in printed(made)
    before = [path.read_bytes() for path in files]
    again = context(tmp_path, settings={**SMALL, "positions": 2}, train=False)
    assert [path.read_bytes() for path in TABLE_5.run(again)] == before
    assert made.trainings().equals(rows)


def test_the_papers_figures_stand_beside_ours_and_rows_are_ways_to_learn(tmp_path):
    made = context(tmp_path, rows=["graphcl"], settings={"seeds": 2, "folds": 2}, train=False)
    for number, learn in enumerate(WAYS):
        imagined(made.store, Experiment.of({"learn": learn, "seeds": 2, "folds": 2}), seed=number)
    TABLE_5.run(made)
    shown = printed(made)
    assert "gin by graphcl" in shown
    assert "gin by infograph" not in shown
    text = (tmp_path / "table5" / "table5.md").read_text()
    assert "85.61 (0.65)" in text
    assert "86.73 (0.68)\\*" in text
    assert "The paper, of all 14 cells: better in 14, significantly in 14; mean gain +2.2 points." in text
    assert "K: by mean validation accuracy of gin + ssread(sum)" in text
