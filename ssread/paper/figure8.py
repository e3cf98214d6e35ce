"""Figure 8: training time of every classifier against K on DD and NCI1, measured on this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.common.files import write_csv, write_text
from ssread.common.markdown import markdown_table
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.runners import local_device
from ssread.paper.datasets import paper_dataset
from ssread.paper.registry import PAPER, Context, Progress
from ssread.paper.timing import COLUMNS, GLOBAL, POSITIONS, device_name, time_epochs

__all__ = ["draw", "page", "progress", "run"]

NAME = "figure8"
TIMES = "times.csv"
DATASETS = PAPER[NAME].datasets
CLASSIFIERS = PAPER[NAME].rows
ROUNDS = 3
MARKERS = "osD^vP"
HEADINGS = ["dataset", "classifier", "GRead, seconds", *(f"K = {k}, ratio" for k in POSITIONS), "rounds"]


def progress(context: Context) -> Progress:
    """How many readouts were timed, over all rounds."""
    times = _of_one_device(_read(context.folder_of(NAME) / TIMES))
    datasets, classifiers = context.chosen_datasets(DATASETS), context.chosen_rows(CLASSIFIERS)
    chosen = times["dataset"].isin(datasets) & times["arch"].isin(classifiers) & (times["round"] < _rounds(context))
    total = len(datasets) * len(classifiers) * _rounds(context) * (1 + len(POSITIONS))
    return Progress(int(chosen.sum()), total, "timings")


def run(context: Context) -> list[Path]:
    """Times what is missing, a round of one classifier at a time, and draws what is done."""
    folder = context.folder(NAME)
    times = _read(folder / TIMES)
    datasets, classifiers = context.chosen_datasets(DATASETS), context.chosen_rows(CLASSIFIERS)
    if context.train:
        if context.on != "here":
            raise InputError("figure8 is measured on this machine: leave out --on.")
        device = local_device(context.runner)
        first = Experiment.of(context.settings).dropouts()[0]
        same_device = times[times["device"] == device_name(device)]
        done = set(zip(same_device["dataset"], same_device["arch"], same_device["round"], strict=True))
        for dataset in datasets:
            missing = [
                (arch, number)
                for number in range(_rounds(context))
                for arch in classifiers
                if (dataset, arch, number) not in done
            ]
            graphs = paper_dataset(dataset) if missing else None
            for arch, number in missing:
                assert graphs is not None
                context.print_line(f"{dataset}: {arch}, round {number + 1}")
                model = first.model_of(arch)
                round_times = time_epochs(graphs, arch, number, first.training, device, model=model)
                times = pd.concat([times, round_times])
                write_csv(folder / TIMES, times)
    times = _of_one_device(times)
    context.print_table(NAME, HEADINGS, _rows(times, datasets, classifiers))
    return [*draw(times, folder / NAME), write_text(folder / f"{NAME}.md", _markdown(times))]


def page(folder: Path, settings: Mapping[str, Any]) -> str:
    """The numbers below the picture, from the timings in a folder."""
    return _markdown(_of_one_device(_read(folder / TIMES)))


def draw(times: pd.DataFrame, stem: Path) -> list[Path]:
    """Draws the median seconds per epoch, a panel per dataset and a line per classifier; names missing ones."""
    variants = [GLOBAL, *POSITIONS]
    with drawing(9.2, 4.0) as figure:
        panels = figure.subplots(1, len(DATASETS), squeeze=False)[0]
        for panel, dataset in zip(panels, DATASETS, strict=True):
            missing = []
            for arch, colour, marker in zip(CLASSIFIERS, PALETTE, MARKERS, strict=False):
                chosen = times[(times["dataset"] == dataset) & (times["arch"] == arch)]
                if chosen.empty:
                    missing.append(arch)
                    continue
                seconds = chosen.groupby("num_positions")["seconds"].median().reindex(variants)
                panel.plot(range(1, len(variants)), seconds[1:], color=colour, marker=marker, label=arch)
                panel.plot([0], seconds[:1], color=colour, marker=marker, markerfacecolor="white", linestyle="")
            panel.set_title(dataset)
            panel.set_xticks(range(len(variants)), ["GRead", *map(str, POSITIONS)])
            panel.set_xlim(-0.4, len(variants) - 0.6)
            panel.set_xlabel("K of SSRead")
            if len(missing) < len(CLASSIFIERS):
                panel.set_ylim(bottom=0)
            else:
                panel.set_yticks([])
            if missing:
                panel.text(
                    0.5, 0.03, f"missing: {', '.join(missing)}", transform=panel.transAxes, ha="center", style="italic"
                )
        device = times["device"].iloc[0] if len(times) else "nothing measured yet"
        panels[0].set_ylabel(f"seconds per epoch ({device})")
        lines = {
            label: line for panel in panels for line, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        if lines:
            figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))
        return save(figure, stem)


def _rounds(context: Context) -> int:
    """The number of rounds: the setting ``seeds``, which is the number of repetitions everywhere."""
    return Experiment.of({"seeds": ROUNDS, **context.settings}).seeds


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    try:
        times = pd.read_csv(path).astype({"num_positions": int, "round": int, "seconds": float})
        return times[COLUMNS]
    except (OSError, ValueError, KeyError, pd.errors.ParserError) as error:
        raise InputError(f"{path} is not a file of timings ({error}): remove it to measure again.") from None


def _of_one_device(times: pd.DataFrame) -> pd.DataFrame:
    """The timings of the device with the most of them: timings of two devices cannot be compared."""
    return times if times.empty else times[times["device"] == times["device"].value_counts().index[0]]


def _rows(times: pd.DataFrame, datasets: Sequence[str], classifiers: Sequence[str]) -> list[list[str]]:
    """Median seconds with the global readout, and for every K the median over rounds of the ratio to it."""
    rows = []
    for dataset in datasets:
        for arch in classifiers:
            chosen = times[(times["dataset"] == dataset) & (times["arch"] == arch)]
            if chosen.empty:
                rows.append([dataset, arch, "missing", *["missing"] * len(POSITIONS), "0"])
                continue
            rounds = chosen.pivot_table("seconds", "round", "num_positions")
            ratios = rounds.div(rounds[GLOBAL], axis=0).median()
            numbers = [f"{rounds[GLOBAL].median():.3g}", *(f"{ratios[k]:.2f}" for k in POSITIONS)]
            rows.append([dataset, arch, *numbers, str(len(rounds))])
    return rows


def _markdown(times: pd.DataFrame) -> str:
    device = f" on {times['device'].iloc[0]}" if len(times) else ""
    return (
        f"{markdown_table(HEADINGS, _rows(times, DATASETS, CLASSIFIERS))}\nSeconds per epoch of one model{device}, "
        "validation included: median over rounds. With SSRead: median over rounds of the ratio to GRead in the same "
        "round.\n"
    )
