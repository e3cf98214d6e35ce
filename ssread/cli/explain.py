"""What a model sees."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssread.cli.app import app
from ssread.cli.options import ID, LABEL, SMILES, STRICT, on_error
from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.explain.rule_scores import RuleScores
    from ssread.explain.scores import Scores
    from ssread.explain.stability_study import StabilityScores


@app.command()
def explain(
    model: Annotated[Path | None, typer.Argument(help="The folder of a model, as ssread train writes it.")] = None,
    data: Annotated[
        str | None, typer.Argument(help="The graphs: a TU dataset by name, a file of molecules, or a folder of graphs.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The page to write (default: report.html); with --score, the folder (default: runs)."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also draw figures for papers (SVG and PNG) into this folder.")
    ] = None,
    smiles: SMILES = None,
    label: LABEL = None,
    id: ID = None,
    strict: STRICT = False,
    score: Annotated[
        str | None,
        typer.Option(
            help="Instead of a page: measure how accurate explanations are on a dataset (planted, Mutagenicity, ...)."
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="With --score: label molecules by a rule, such as 'C=O and not [OX2H1]', and measure "
            "whether explanations find the atoms that decide; several times for several rules; all for the benchmark."
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option(help="With --rule or --stability: largest number of molecules or graphs, drawn at random.")
    ] = 1000,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="With --score: counts of short cycles through a node join its features.")
    ] = False,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability", help="With --score: measure how far the positions of several trainings agree (on a CPU)."
        ),
    ] = False,
    seeds: Annotated[int, typer.Option(help="With --score: how often everything is repeated.")] = 5,
    positions: Annotated[int, typer.Option(help="With --score: number of structural positions K.")] = 4,
    explained: Annotated[int, typer.Option(help="With --score: number of test graphs to explain.")] = 100,
    epochs: Annotated[int, typer.Option(help="With --score: number of epochs of a training.")] = 60,
    width: Annotated[int, typer.Option(help="With --score: width of the models.")] = 64,
    device: Annotated[str, typer.Option(help="With --score: auto, cpu or cuda.")] = "auto",
    workers: Annotated[
        int | None, typer.Option(help="With --score: number of worker processes on a CPU. (default: one per core)")
    ] = None,
) -> None:
    """Show what a trained model sees in graphs: one page with positions, activations and the graphs themselves.

    Or, with --score, measure how accurate such explanations are where the truth is known.

    Examples:

    - ssread explain my-model new.csv --smiles SMILES -o report.html

    - ssread explain my-model MUTAG --figures figures

    - ssread explain --score planted --seeds 5

    - ssread explain --score my.csv --rule "[N+](=O)[O-] and not [F,Cl,Br,I]"
    """
    if score is not None:
        from ssread.evaluate.placement import check_placement
        from ssread.explain.standard_rules import rules_named
        from ssread.explain.study import Study, study_training

        if width < 1 or sample < 1:
            raise InputError("--width and --sample must be 1 or more.")
        study = Study(
            positions=positions,
            seeds=seeds,
            explained=explained,
            training=study_training(epochs),
            model={"hidden_channels": width},
        )
        check_placement(device, workers)
        rules = rules_named(rule or [])
        if rules and stability:
            raise InputError("--rule and --stability are different measurements: give one of them.")

        from ssread.commands.score import score_agreement, score_dataset, score_rules

        columns = {"smiles": smiles, "label": label, "id": id}
        common: dict[str, Any] = {
            "out": out or "runs",
            "device": device,
            "workers": workers,
            "on_error": on_error(strict),
            "cycles": cycles,
            "options": {name: value for name, value in columns.items() if value is not None},
        }
        scores: Scores | RuleScores | StabilityScores
        if stability:
            del common["device"]
            scores, files = score_agreement(score, study, size=sample, **common)
        elif rules:
            scores, files = score_rules(score, rules, study, size=sample, **common)
        else:
            scores, files = score_dataset(score, study, **common)
        typer.echo(scores.markdown())
    else:
        if rule or stability or cycles:
            raise InputError("--rule, --stability and --cycles are for measurements: they need --score DATASET.")
        from ssread.apply.model_folder import read_config

        if model is None or data is None:
            raise InputError("A model's folder and graphs are needed: ssread explain MODEL DATA (or --score DATASET).")
        read_config(model)

        from ssread.commands.explain import explain_data

        columns = {"smiles": smiles, "label": label, "id": id, "on_error": on_error(strict)}
        options = {name: value for name, value in columns.items() if value is not None}
        files = explain_data(model, data, out=out or "report.html", figures=figures, **options)
    typer.echo(f"Saved: {', '.join(str(path) for path in files[:6])}{' ...' if len(files) > 6 else ''}")
