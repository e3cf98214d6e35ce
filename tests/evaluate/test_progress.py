import dataclasses
import io

from helpers.run_results import make_result
from rich.console import Console

from ssread.evaluate.progress import TrainingProgress


def lines(total: int, *results) -> list[str]:
    output = io.StringIO()
    with TrainingProgress("MUTAG", Console(file=output, width=200)) as progress:
        progress.watch(0, total, None)
        for done, result in enumerate(results, start=1):
            progress.watch(done, total, result)
    return [line.strip() for line in output.getvalue().splitlines() if line.strip()]


def result(accuracy: float, readout: str = "ssread"):
    return dataclasses.replace(make_result(readout=readout), valid_accuracy=accuracy)


def test_a_file_gets_a_line_for_every_tenth_of_the_work():
    assert len(lines(30, *[result(0.5)] * 30)) == 10
    assert len(lines(3, *[result(0.5)] * 3)) == 3


def test_a_line_shows_the_mean_validation_accuracy_of_each_readout():
    shown = lines(3, result(0.5), result(0.7), result(0.9, "global"))
    assert shown[-1] == "MUTAG: 3 of 3 trainings validation GRead 90.0, SSRead 60.0"


def test_failed_trainings_are_counted_and_not_averaged():
    shown = lines(2, result(0.5), make_result(failed="the loss was not a number at epoch 3"))
    assert shown[-1] == "MUTAG: 2 of 2 trainings validation SSRead 50.0, 1 failed"


def test_nothing_to_train_is_shown_as_done():
    assert lines(0) == ["MUTAG: 0 of 0 trainings"]
