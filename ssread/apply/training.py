"""``ssread train``: from a file of labelled graphs to a model's folder."""

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ssread.apply.checks import check_training
from ssread.apply.features import Features
from ssread.apply.final_training import HELD_OUT, hold_out, train_members
from ssread.apply.graph_inputs import read_usable
from ssread.apply.model_choice import Choice, choose
from ssread.apply.quality import calibration_of, compare_methods, out_of_fold
from ssread.apply.reading_notes import reading_notes
from ssread.apply.reference import Reference
from ssread.apply.search import BUDGET, candidates, num_candidates, num_trainings
from ssread.apply.trained_model import TrainedModel
from ssread.apply.usual_methods import FOREST, GUESS, forest, guess
from ssread.common.files import make_folder, refuse_existing, write_text
from ssread.common.plain_json import canonical_json
from ssread.common.versions import versions
from ssread.data.cross_validation import folds_of, num_file_folds, with_split
from ssread.data.duplicates import find_copies
from ssread.data.graphset import GraphSet
from ssread.data.split_names import RANDOM
from ssread.data.splits import Fold
from ssread.errors import InputError, WriteError
from ssread.evaluate.keys import fingerprint
from ssread.evaluate.progress import TrainingProgress
from ssread.evaluate.runners import make_runner
from ssread.evaluate.store import Store
from ssread.metrics import METRICS, check_metric, default_metric
from ssread.models.factory import model_for
from ssread.train.recipes import DEFAULT, recipe_named
from ssread.train.runs import Run, Training

__all__ = ["describe_data", "make_training", "train"]

FOLDS, QUICK_FOLDS = 5, 3
QUICK_EPOCHS = 40
SMALL = 2000  # graphs; a smaller set gets smaller batches, so that an epoch has enough steps
LARGE = 4000  # graphs; a larger set gets fewer epochs, so that the number of steps stays the same
FEWEST_EPOCHS = 50
OUT_OF_FOLD = (
    "out_of_fold.csv"  # in the model's folder: what was predicted of every graph by a model that had not seen it
)


def train(
    data: Any,
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    arch: str | None = None,
    readout: str | None = None,
    aggr: str | None = None,
    positions: int | None = None,
    ensemble: int = 1,
    balanced: bool = False,
    metric: str | None = None,
    split: str = RANDOM,
    budget: int | None = None,
    epochs: int | None = None,
    folds: int | None = None,
    seed: int = 0,
    device: str = "auto",
    workers: int | None = None,
    console: Console | None = None,
    describe: Callable[[TrainedModel, GraphSet], dict[str, Any]] = lambda *_: {},
    on_error: str = "skip",
    **options: Any,
) -> TrainedModel:
    """Trains a model on labelled graphs and saves it in a new folder.

    What is learnt (a class, several labels, numbers) is told from the labels; the option ``task`` of the reader says
    otherwise. First, a search within a budget of trainings chooses architecture, readout, width, depth, dropout, K and
    learning rate (those that are not given) by the metric on held-out graphs; how good the choice is on the test folds
    goes into the card, beside what a usual method reaches there. Then it is trained on all graphs but a tenth held out
    for early stopping. The same call continues an interrupted training.

    Args:
        data: A file, folder, dataset name or ``DataFrame`` for :func:`ssread.data.load`, or a ``GraphSet``.
        out: The folder to make.
        quick: No search (``gcn`` with SSRead and the usual settings), three folds, at most 40 epochs.
        arch: The architecture, by default ``gcn`` or ``gin``.
        readout: ``ssread`` or ``global``, by default either.
        aggr: The aggregation, ``max+mean`` for several; by default the architecture's own.
        positions: The number of structural positions K of SSRead, by default 2, 4 or 8.
        ensemble: The number of members; their seeds and held-out tenths differ.
        balanced: Whether every class has the same weight, however many graphs it has.
        metric: What chooses the model and the epoch (:data:`ssread.metrics.METRICS`); by default what fits the task,
            and not accuracy where one class has most of the graphs.
        split: How folds are drawn: see :func:`ssread.data.cross_validation.with_split`.
        budget: The number of trainings for the search, by default 30.
        epochs: The most epochs of a training, by default 150, and fewer for more than 4,000 graphs.
        folds: Folds of the cross-validation, by default 5; never more than the smallest class has graphs.
        seed: Seed of everything random.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        workers: Worker processes on a CPU, by default one per core.
        console: Where progress is shown, by default standard error.
        describe: Called with the model and the graphs; what it returns joins the model's summary.
        on_error: ``"skip"``: rows that cannot be used are left out, and listed in ``OUT.skipped.csv`` beside ``out``;
            ``"raise"``: they raise an error.
        options: Options for loading the data: ``smiles``, ``label``, ``features``, ``node_label``, ...
    """
    check_training(
        out,
        arch=arch,
        readout=readout,
        aggr=aggr,
        positions=positions,
        ensemble=ensemble,
        epochs=epochs,
        metric=metric,
        split=split,
        budget=budget,
        folds=folds,
        device=device,
        workers=workers,
    )
    out, console = Path(out), console or Console(stderr=True)
    if quick:
        arch, readout = arch or "gcn", readout or "ssread"
    graphs, split = with_split(read_usable(data, on_error, split, **options), split)
    num_folds = _num_folds(graphs, folds or (QUICK_FOLDS if quick else FOLDS))
    parts = folds_of(graphs, split, num_folds, seed)  # these raise before there is an unfinished training
    hold_out(graphs, HELD_OUT, seed)
    count = 1 if quick else num_candidates(BUDGET if budget is None else budget, num_folds)
    tried = candidates(
        count,
        arch=arch,
        readout=readout,
        aggr=aggr.split("+") if aggr and "+" in aggr else aggr,
        positions=positions,
        seed=seed,
    )
    with torch.device("meta"):  # a wrong name raises before any work
        for candidate in tried:
            model_for(graphs, **candidate.model)
    metric = metric or default_metric(graphs.task, graphs.statistics()["class_counts"], balanced)
    check_metric(metric, graphs.task)
    training = make_training(graphs, quick=quick, epochs=epochs, metric=metric)
    runner = make_runner(device, workers, "here", lambda text: console.print(text, markup=False))

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    copies = find_copies(graphs)
    for text in (f"{graphs!r}, on {runner!r}", *reading_notes(graphs, copies, out)):
        say(text)
    say(
        f"Task: {graphs.task}; {METRICS[metric].about} ({metric}) decides. Candidates: {len(tried)}, in "
        f"{num_trainings(len(tried), num_folds)} trainings on {num_folds} folds ({split})."
    )
    settings = {
        "data": fingerprint(graphs),
        "task": graphs.task,
        "split": split,
        "candidates": [dataclasses.asdict(candidate) for candidate in tried],
        "training": dataclasses.asdict(training),
        "folds": num_folds,
        "ensemble": ensemble,
        "balanced": balanced,
        "seed": seed,
        "device": runner.device,
        "versions": versions(),
    }
    with _work_folder(out, settings) as work:
        with Store(work / "results.sqlite") as store, TrainingProgress("cross-validation", console, metric) as live:
            choice = choose(
                graphs,
                tried,
                training,
                folds=num_folds,
                seed=seed,
                balanced=balanced,
                split=split,
                runner=runner,
                store=store,
                watch=live.watch,
            )
        choice.cross_validation["usual"] = _usual_methods(graphs, parts, choice, metric, seed, workers)
        training = dataclasses.replace(training, learning_rate=choice.candidate.learning_rate)
        runs = [Run(choice.candidate.model, seed + number, 0, 1, balanced=balanced) for number in range(ensemble)]
        with _progress(console, ensemble, training.epochs) as progress:
            members = train_members(
                graphs,
                runs,
                training,
                device=runner.device,
                workers=getattr(runner, "workers", 1),
                folder=work,
                progress=progress,
            )
        summary = _summary(graphs, settings, choice)
        summary["data"]["copies"] = copies._asdict()
        summary["curves"] = [member.curves for member in members]
        summary["members"] = [
            {"best_epoch": member.best_epoch, "held_out_score": member.held_out_score} for member in members
        ]
        trained = TrainedModel(
            [member.model for member in members],
            list(graphs.output_names),
            Features.of(graphs, options),
            summary,
            graphs.task,
            calibration_of(graphs, choice.folds),
        )
        trained.reference = Reference.of(trained, graphs, seed)
        trained.summary |= describe(trained, graphs)
        trained.save(out, {OUT_OF_FOLD: out_of_fold(graphs, choice.folds).to_csv(index=False)})
    return trained


def make_training(
    graphs: GraphSet, *, quick: bool = False, epochs: int | None = None, metric: str = "accuracy"
) -> Training:
    """The training settings for a set of this size."""
    recipe = recipe_named(DEFAULT).training
    usual = max(FEWEST_EPOCHS, round(recipe.epochs * min(1.0, LARGE / len(graphs))))
    most = epochs or (QUICK_EPOCHS if quick else usual)
    batch_size = 32 if len(graphs) < SMALL else 128
    return dataclasses.replace(recipe, epochs=most, patience=most, batch_size=batch_size, selection=metric)


def _usual_methods(
    graphs: GraphSet, folds: Sequence[Fold], choice: Choice, metric: str, seed: int, workers: int | None
) -> list[dict[str, Any]]:
    """How good usual methods are under the same folds: a forest on fingerprints of molecules, and always guessing."""
    found = [{"name": GUESS, **compare_methods(metric, guess(graphs, folds), choice.folds)}]
    if "smiles" in graphs.graph_texts:
        found.append({"name": FOREST, **compare_methods(metric, forest(graphs, folds, seed, workers), choice.folds)})
    return found


def describe_data(graphs: GraphSet) -> dict[str, Any]:
    """The part of a model's summary that describes its training set."""
    statistics = graphs.statistics()
    kept = {key: statistics[key] for key in ("graphs", "class_counts", "mean_nodes", "max_nodes")}
    kept["targets"] = statistics.get("targets", {})
    return {"name": graphs.name, **kept, "fingerprint": fingerprint(graphs), "repairs": dict(graphs.repairs)}


def _summary(graphs: GraphSet, settings: dict[str, Any], choice: Choice) -> dict[str, Any]:
    kept = {key: settings[key] for key in ("training", "ensemble", "balanced", "seed", "device")}
    return {
        "data": describe_data(graphs),
        "settings": {"model": choice.candidate.model, "learning_rate": choice.candidate.learning_rate, **kept},
        "cross_validation": choice.cross_validation,
        "versions": settings["versions"],
    }


def _num_folds(graphs: GraphSet, wanted: int) -> int:
    """As many folds as wanted, but no more than the smallest class has graphs."""
    if graphs.y is None:
        raise InputError(
            f"{graphs.name} has no labels: every graph needs something to learn; name the column with label."
        )
    if from_file := num_file_folds(graphs):
        return from_file
    counts = [count for count in graphs.statistics()["class_counts"].values() if count > 0]
    return max(2, min([wanted, *counts]))


@contextmanager
def _work_folder(out: Path, settings: dict[str, Any]) -> Iterator[Path]:
    """The folder next to ``out`` that an unfinished training is kept in, locked for one process; removed at the end."""
    refuse_existing(out)
    work = make_folder(out.with_name(f"{out.name}.training"))
    lock = FileLock(work / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"Another training into {out} is running: wait for it, or choose another name.") from None
    except OSError as error:
        raise WriteError(f"{work} cannot be written: {error.strerror or error}.") from None
    try:
        refuse_existing(out)
        _check_settings(work / "settings.json", settings)
        yield work
        shutil.rmtree(work, ignore_errors=True)
    finally:
        lock.release()


def _check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Writes the settings of a new training; raises an ``InputError`` if those of an unfinished one differ."""
    text = canonical_json(settings)
    if not path.is_file():
        write_text(path, text)
        return
    try:
        before, now = json.loads(path.read_text(encoding="utf-8")), json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error}): remove {path.parent} to start again.") from None
    if before != now:
        differing = ", ".join(key for key in now if before.get(key) != now[key])
        raise InputError(
            f"{path.parent} holds an unfinished training with other settings ({differing}): repeat that command, or "
            "remove the folder to start again."
        )


@contextmanager
def _progress(console: Console, members: int, epochs: int) -> Iterator[Any]:
    """Shows the final training: a bar on a terminal, elsewhere a line at the start."""
    bar = Progress(
        TextColumn("final training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs at most"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    done: dict[int, int] = {}
    task = bar.add_task("final training", total=members * epochs)

    def progress(member: int, epoch: int) -> None:
        done[member] = epoch or epochs  # epoch 0: a worker process has finished this member
        bar.update(task, completed=sum(done.values()))

    if not console.is_terminal:
        console.print(f"final training of {members} model{'s' * (members > 1)}", highlight=False)
    with bar:
        yield progress
