"""``ssread reproduce all``: every table and figure of the paper, cheap ones first, and an overview of all pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ssread.common.files import write_text
from ssread.errors import InputError
from ssread.paper.overview import TABLES, Overview
from ssread.paper.recipe_table import recipe_table
from ssread.paper.registry import ALL, DATASETS, PAPER, Context, heading, item
from ssread.paper.remaining import remaining
from ssread.train.recipes import DEFAULT

__all__ = ["ORDER", "reproduce_all"]

#: Everything that can be made, cheap ones first: no training, a few, some datasets, all.
ORDER = (
    *("table1", "table2"),
    *("figure1", "figure5", "figure6", "figure8"),
    *("figure4", "figure7"),
    *("table3", "table4", "table5"),
)


def reproduce_all(context: Context) -> list[Path]:
    """Makes what is missing of everything; what fails does not stop the others, and is raised at the end.

    Args:
        context: What everything is made with. Tables and figures that have none of its datasets are left out.

    Returns:
        The files that were written.
    """
    chosen = context.chosen_datasets(DATASETS)
    parts = {
        name: replace(context, datasets=[dataset for dataset in chosen if dataset in PAPER[name].datasets])
        for name in ORDER
        if set(chosen) & set(PAPER[name].datasets)
    }
    files, problems = [], []
    _say_what_is_left(parts)
    for number, (name, part) in enumerate(parts.items(), start=1):
        try:
            done, total, unit = item(name).progress(part)
            context.print_line(f"{heading(name)} ({number} of {len(parts)}): {done:,} of {total:,} {unit}")
            _say_what_is_left(parts, name)
            files += item(name).run(replace(part, train=context.train and done < total))
        except InputError as error:
            problems.append(f"{name}: {error}")
            context.print_line(problems[-1])
        if name in TABLES:
            files += _write_overview(context)
            _say_what_is_left(parts)
    if problems:
        raise InputError(" ".join(problems))
    return list(dict.fromkeys(files))


def _say_what_is_left(parts: Mapping[str, Context], name: str = ALL) -> None:
    """Says how many trainings of a table or figure, or of all, are done and to come, and how long they will take."""
    context = next(iter(parts.values()))
    if not context.train:
        return
    made_of = {part: getattr(item(part), "results", None) for part in parts}
    stored = {part: results(parts[part]) for part, results in made_of.items() if results is not None}
    everything = [result for results in stored.values() for result in results]
    if name == ALL or name in stored:
        left = remaining(stored.get(name, everything), context.runner, everything)
        context.print_line(f"{name.capitalize()}: {left}")


def _write_overview(context: Context) -> Sequence[Path]:
    """All pairs of Tables III to V at a glance, and the recipes side by side."""
    rows, folder = context.trainings(), context.folder("overview")
    overview = Overview.of(lambda _: rows, context.settings.get("recipe", DEFAULT), context.settings)
    others = {name: value for name, value in context.settings.items() if name != "recipe"}
    pictures = overview.draw(folder / "differences")
    page = f"# All pairs\n\n{overview.markdown(pictures[0].name)}\n{recipe_table(lambda _: rows, others)}"
    return [*pictures, write_text(folder / "overview.md", page)]
