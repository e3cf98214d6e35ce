"""``ssread train``: from a file of labelled graphs to a model's folder."""

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ssread.apply.checks import check_apart, check_training
from ssread.apply.features import Features
from ssread.apply.final_training import HELD_OUT, hold_out, train_members
from ssread.apply.fold_calibration import calibration_of
from ssread.apply.graph_inputs import read_usable
from ssread.apply.model_choice import Choice, choose, structure_blind
from ssread.apply.quality import FoldPredictions, compare_methods, out_of_fold
from ssread.apply.reading_notes import reading_notes
from ssread.apply.reference import Reference
from ssread.apply.search import Budget, Candidate, candidates, num_candidates, num_trainings
from ssread.apply.trained_model import TrainedModel
from ssread.apply.usual_methods import FOREST, GUESS, STRUCTURE_BLIND, forest, guess
from ssread.apply.work_folder import work_folder
from ssread.common.versions import versions
from ssread.data.cross_validation import folds_of, num_file_folds, with_split
from ssread.data.duplicates import find_copies
from ssread.data.graphset import GraphSet
from ssread.data.split_names import RANDOM
from ssread.errors import InputError
from ssread.evaluate.keys import fingerprint
from ssread.evaluate.progress import TrainingProgress
from ssread.evaluate.runners import CPURunner, make_runner
from ssread.evaluate.store import Store
from ssread.metrics import METRICS, check_metric, default_metric
from ssread.models.factory import model_for
from ssread.train.recipes import DEFAULT, recipe_named
from ssread.train.runs import Run, Training

__all__ = ["describe_data", "make_training", "train"]

FOLDS, QUICK_FOLDS = 5, 3
QUICK_EPOCHS = 40
FIRST = 4  # candidates whose trainings tell how long one takes: the usual settings of both architectures and readouts
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
    position_hops: int | str | None = None,
    ensemble: int = 1,
    balanced: bool = False,
    keep_molecules: bool = True,
    metric: str | None = None,
    split: str = RANDOM,
    budget: str | int | None = None,
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
        position_hops: SSRead's positions come from the structure within so many hops, nearly the same in every training
            (:func:`ssread.models.make_model`), by default within one; ``"learnt"`` for learnt ones, as in the paper.
        ensemble: The number of members; their seeds and held-out tenths differ.
        balanced: Whether every class has the same weight, however many graphs it has.
        keep_molecules: Whether the folder keeps names, labels and structures of up to 1000 training graphs, to show
            which are nearest to a new one, and ``out_of_fold.csv``. Vectors, to tell distances, are kept anyway.
        metric: What chooses the model and the epoch (:data:`ssread.metrics.METRICS`); by default what fits the task,
            and not accuracy where one class has most of the graphs.
        split: How folds are drawn: see :func:`ssread.data.cross_validation.with_split`.
        budget: How much the search may take: a number of trainings, by default 30, or a time such as ``"10min"`` or
            ``"1h"``. The time is about that of the search, without the final training: how many trainings it allows
            for follows from the first ones.
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
        position_hops=position_hops,
        ensemble=ensemble,
        epochs=epochs,
        metric=metric,
        split=split,
        budget=budget,
        folds=folds,
        device=device,
        workers=workers,
    )
    check_apart(data, out)
    out, console = Path(out), console or Console(stderr=True)
    if quick:
        arch, readout = arch or "gcn", readout or "ssread"
    graphs, split = with_split(read_usable(data, on_error, split, **options), split)
    num_folds = _num_folds(graphs, folds or (QUICK_FOLDS if quick else FOLDS))
    parts = folds_of(graphs, split, num_folds, seed)  # these raise before there is an unfinished training
    hold_out(graphs, HELD_OUT, seed)
    spend = Budget.parse(budget)
    draw = partial(
        candidates,
        arch=arch,
        readout=readout,
        aggr=aggr.split("+") if aggr and "+" in aggr else aggr,
        positions=positions,
        position_hops=position_hops,
        seed=seed,
    )
    timed = spend.minutes is not None and not quick
    tried = draw(1 if quick else FIRST if timed else num_candidates(spend.num_trainings(0), num_folds))
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
    say(f"Task: {graphs.task}; {METRICS[metric].about} ({metric}) decides.")

    def say_search(tried: Sequence[Candidate]) -> None:
        allowed = "" if quick else f"Budget: {spend}. "
        number = num_trainings(len(tried), num_folds)
        say(f"{allowed}Candidates: {len(tried)}, in {number} trainings on {num_folds} folds ({split}).")

    def extend(seconds: float) -> Sequence[Candidate]:
        at_once = runner.workers if isinstance(runner, CPURunner) else 1
        found = draw(max(FIRST, num_candidates(spend.num_trainings(seconds / at_once), num_folds)))
        say_search(found)
        return found

    if timed:
        say(f"Budget: {spend}. The first {len(tried)} trainings tell how many it allows for.")
    else:
        say_search(tried)
    settings = {
        "data": fingerprint(graphs),
        "task": graphs.task,
        "split": split,
        "budget": str(spend),
        "candidates": [dataclasses.asdict(candidate) for candidate in tried],
        "training": dataclasses.asdict(training),
        "folds": num_folds,
        "ensemble": ensemble,
        "balanced": balanced,
        "seed": seed,
        "device": runner.device,
        "versions": versions(),
    }
    with work_folder(out, settings) as work:
        shared: dict[str, Any] = {"folds": num_folds, "seed": seed, "balanced": balanced, "split": split}
        with Store(work / "results.sqlite") as store, TrainingProgress("cross-validation", console, metric) as live:
            shared |= {"runner": runner, "store": store}
            extended = extend if timed else None
            choice = choose(graphs, tried, training, **shared, watch=live.watch, extend=extended)
            usual = {GUESS: guess(graphs, parts)}
            if "smiles" in graphs.graph_texts:
                usual[FOREST] = forest(graphs, parts, seed, workers)
            elif blind := structure_blind(graphs, training, **shared):
                usual[STRUCTURE_BLIND] = blind
        choice.cross_validation["budget"] = "" if quick else str(spend)
        choice.cross_validation["usual"] = [
            {"name": name, **compare_methods(metric, found, choice.folds)} for name, found in usual.items()
        ]
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
        )
        trained.match_members(graphs)
        trained.calibration = calibration_of(graphs, choice.folds, _held_out_predictions(graphs, trained, runs))
        reference = Reference.of(trained, graphs, seed)
        trained.reference = reference if keep_molecules else reference.without_texts()
        trained.summary |= describe(trained, graphs)
        tested = {OUT_OF_FOLD: out_of_fold(graphs, choice.folds).to_csv(index=False)} if keep_molecules else {}
        trained.save(out, tested)
    return trained


def _held_out_predictions(graphs: GraphSet, trained: TrainedModel, runs: Sequence[Run]) -> list[FoldPredictions]:
    """What every member predicts of the graphs that were held out of its training."""
    assert graphs.y is not None
    found = []
    for model, run in zip(trained.models, runs, strict=True):
        ids = hold_out(graphs, HELD_OUT, run.seed).validation
        alone = TrainedModel([model], trained.output_names, trained.features, task=graphs.task)
        found.append(FoldPredictions(ids.numpy(), graphs.y[ids].numpy(), alone.predictions(graphs[ids]).numpy()))
    return found


def make_training(
    graphs: GraphSet, *, quick: bool = False, epochs: int | None = None, metric: str = "accuracy"
) -> Training:
    """The training settings for a set of this size."""
    recipe = recipe_named(DEFAULT).training
    usual = max(FEWEST_EPOCHS, round(recipe.epochs * min(1.0, LARGE / len(graphs))))
    most = epochs or (QUICK_EPOCHS if quick else usual)
    batch_size = 32 if len(graphs) < SMALL else 128
    return dataclasses.replace(recipe, epochs=most, patience=most, batch_size=batch_size, selection=metric)


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
