"""How much of a GPU's stacks is idle: models that have stopped, but stay until half of their stack has.

    python benchmarks/idle_slots.py

Counted from the epochs of the trainings that are kept in ``results/``, a stack for every 50 trainings of one model on
one dataset, as :mod:`ssread.train.fit` trains them. Nothing is trained.
"""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from ssread.evaluate.stored_settings import stored_run
from ssread.evaluate.trainings_csv import read_trainings

RESULTS = Path(__file__).parents[1] / "results"


def idle_epochs(epochs: list[int]) -> int:
    """The epochs that models of one stack are trained beyond their end, given how many each needs.

    >>> idle_epochs([10, 20, 30, 40])  # released after 20, 30 and 40 epochs; the first is trained 10 too long
    10
    """
    left, idle = sorted(epochs), 0
    while left:
        now = left[len(left) - len(left) // 2 - 1]  # the epoch at which at most half are still active
        idle += sum(now - end for end in left if end <= now)
        left = [end for end in left if end > now]
    return idle


def main() -> None:
    table = Table(title="Slots of stacks that are idle, Tables III and IV")
    for column in ("recipe", "trainings", "epochs", "idle"):
        table.add_column(column, justify="left" if column == "recipe" else "right")
    for recipe in ("fair", "paper"):
        files = [path for name in ("table3", "table4") for path in sorted((RESULTS / recipe / name).glob("*.csv"))]
        rows = read_trainings(files).drop_duplicates("key")
        models = rows["run"].map(lambda run: repr(stored_run(run)["model"]))
        idle = sum(idle_epochs(group.tolist()) for _, group in rows["epochs"].groupby([rows["dataset"], models]))
        used = int(rows["epochs"].sum())
        epochs = f"{rows['epochs'].min()} to {rows['epochs'].max()}"
        table.add_row(recipe, f"{len(rows):,}", epochs, f"{idle / (idle + used):.1%}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
