"""The card of a model in Markdown: what it was trained on, how good it is, what its limits are."""

from collections.abc import Mapping, Sequence
from typing import Any

from ssread.common.markdown import escape_markdown
from ssread.data.split_names import RANDOM
from ssread.data.task_names import CLASSIFICATION, MULTILABEL
from ssread.metrics import METRICS

__all__ = ["model_card", "sentences"]


#: Of more outputs than this, the table of positions shows the first.
MOST_OUTPUTS = 4


def model_card(config: Mapping[str, Any]) -> str:
    """Returns the card of the model that a ``config.json`` describes."""
    summary = config["summary"]
    data, validation = summary.get("data", {}), summary.get("cross_validation")
    parts = [
        "# Model card",
        _about(config),
        "## Trained on",
        _data(data),
        "## How good it is",
        "It was not cross-validated." if not validation else _quality(validation),
        *_positions(config),
        "## Limits",
        _limits(config, data, validation),
        "## Made with",
        ", ".join(f"{name} {version}" for name, version in config["written_with"].items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _source(model: Mapping[str, Any]) -> str:
    """Where positions come from."""
    hops = model.get("position_hops")
    return "learnt positions" if hops is None else f"positions from the structure within {hops} hop{'s' * (hops != 1)}"


def _about(config: Mapping[str, Any]) -> str:
    model = config["model"]
    readout = "global readout" if model["readout"] == "global" else f"SSRead, {model['num_positions']} {_source(model)}"
    aggr = model["aggr"] if isinstance(model["aggr"], str) else "+".join(model["aggr"])
    members = f"An ensemble of {config['members']} members, each a" if config["members"] > 1 else "A"
    names = ", ".join(_text(name) for name in config["output_names"])
    kinds = {CLASSIFICATION: "the classes", MULTILABEL: "the labels"}
    return (
        f"{members} {model['name']} graph model ({readout}, aggregation {aggr}, {model['num_layers']} layers of "
        f"{model['hidden_channels']}) for {kinds.get(config['task'], 'the numbers')} {names}. config.json has every "
        "setting."
    )


def _data(data: Mapping[str, Any]) -> str:
    if not data:
        return "Unknown: nothing was recorded."
    rows = [(name, str(count)) for name, count in data["class_counts"].items()]
    counts = _table(("class", "graphs"), rows)
    if data.get("targets"):
        columns = ("predicted", "known for", "mean", "lowest", "highest")
        counts = _table(columns, [(n, *(f"{v:g}" for v in values.values())) for n, values in data["targets"].items()])
    sizes = f"{data['mean_nodes']:.1f} nodes on average, at most {data['max_nodes']}"
    repairs = "".join(f"\n- {_text(what)}: {count}" for what, count in data.get("repairs", {}).items())
    copies = data.get("copies", {})
    if copies.get("repeated"):
        repairs += f"\n- graphs that occur more than once: {copies['repeated']}, in {copies['rows']} rows"
        repairs += f"\n- of these with different labels: {copies['contradictory']}"
    repaired = f"\n\nFound while reading:\n{repairs}" if repairs else ""
    return f"{_text(data['name'])}: {data['graphs']} graphs, {sizes}.\n\n{counts}{repaired}"


def _positions(config: Mapping[str, Any]) -> list[str]:
    """The section about what the structural positions mean, where that is known."""
    stored = [position for position in config["summary"].get("positions") or [] if "name" in position]
    if not stored:
        return []
    names = config["output_names"]
    rows = [
        (
            position["name"],
            f"{100 * position['share']:.0f} %",
            ", ".join(f"{t['fact']} ({100 * t['inside']:.0f} %)" for t in position["traits"][:3]),
            *(f"{value:+.2g}" for value in position["activations"][:MOST_OUTPUTS]),
        )
        for position in stored
    ]
    header = ("position", "nodes", "over-represented", *(f"adds to {name}" for name in names[:MOST_OUTPUTS]))
    return [
        "## What its positions mean",
        "Named by what is over-represented among their nodes (training set; tests over graphs, corrected). The last "
        "columns say what a node of the position adds to a score on average.",
        _table(tuple(map(_text, header)), rows),
    ]


def sentences(validation: Mapping[str, Any]) -> list[str]:
    """Returns how good a model is in a few sentences, from its cross-validation."""
    metric = validation["metric"]
    name = next(candidate["name"] for candidate in validation["candidates"] if candidate["chosen"])
    found = validation["metrics"][metric]
    tried = len(validation["candidates"])
    within = f" within a budget of {validation['budget']}" if validation.get("budget") else ""
    among = f", chosen among {tried} by {validation['trainings']} trainings{within}" if tried > 1 else ""
    said = [
        f"{name}: {METRICS[metric].about} {_with_interval(metric, found)} in {validation['folds']}-fold "
        f"cross-validation ({validation['split']}){among}."
    ]
    for usual in validation.get("usual", []):
        value = "unknown" if usual["mean"] is None else METRICS[metric].text(usual["mean"])
        said.append(f"{usual['name'][0].upper()}{usual['name'][1:]}: {value}. {_FINDINGS[usual['finding']]}")
    return said


_FINDINGS = {
    "better": "The graph model is better.",
    "worse": "That is better than the graph model: use it here.",
    "undecided": "No difference from the graph model is shown.",
}


def _with_interval(metric: str, found: Mapping[str, Any]) -> str:
    text = METRICS[metric].text
    if found["mean"] is None:
        return "unknown"
    if found["low"] is None:
        return text(found["mean"])
    return f"{text(found['mean'])} (95 % interval {text(found['low'])} to {text(found['high'])})"


def _quality(validation: Mapping[str, Any]) -> str:
    if "metrics" not in validation:
        return _earlier_quality(validation)
    metric = validation["metric"]
    lines = [_text(sentence) for sentence in sentences(validation)]
    rows = [(name, METRICS[name].about, _with_interval(name, found)) for name, found in validation["metrics"].items()]
    lines.append(_table(("metric", "what it is", "mean over the test folds"), rows))
    if "recall" in validation:
        recall = [(n, f"{100 * v:.1f} %") for n, v in validation["recall"].items()]
        lines.append(_table(("class", "recognised"), recall))
    if "each" in validation:
        each = [(n, "unknown" if v is None else METRICS[metric].text(v)) for n, v in validation["each"].items()]
        lines.append(_table(("predicted", metric), each))
    if len(validation["candidates"]) > 1:
        chosen = [
            (
                c["name"],
                str(c["folds"]),
                "failed" if c["score"] is None else METRICS[metric].text(c["score"]),
                "chosen" if c["chosen"] else "",
            )
            for c in validation["candidates"]
        ]
        lines.append("What was tried. The metric on the graphs held out for early stopping chose, not the test folds:")
        lines.append(_table(("candidate", "folds", f"held-out {metric}", ""), chosen))
    return "\n\n".join(lines)


def _earlier_quality(validation: Mapping[str, Any]) -> str:
    """Returns the estimate of a model that version 0.1 trained."""
    low, high = validation["interval"]
    return (
        f"Accuracy **{100 * validation['accuracy']:.1f} %** (95 % interval {100 * low:.1f} to {100 * high:.1f}) in "
        f"{validation['folds']}-fold cross-validation on {validation['graphs']} graphs."
    )


def _alike(validation: Mapping[str, Any] | None) -> list[str]:
    """Returns how the graphs that a model was measured on resemble those of training."""
    if validation is None:
        return []
    if (split := validation.get("split", RANDOM)) == RANDOM:
        how = (
            "Random folds have similar graphs in training and test parts; expect less for molecules with new scaffolds."
        )
    else:
        how = (
            f"Folds were drawn by {_text(split)}: graphs of the test parts are new in that respect, not in every other."
        )
    return [f"These numbers hold for graphs like the training graphs. {how}"]


def _limits(config: Mapping[str, Any], data: Mapping[str, Any], validation: Mapping[str, Any] | None) -> str:
    features = config["features"]
    names = features["node"]["names"]
    lines = [
        *_alike(validation),
        _trust(config),
    ]
    if names:
        shown = ", ".join(_text(name) for name in names[:40]) + (", ..." if len(names) > 40 else "")
        lines.append(f"It takes {len(names)} node features: {shown}. Categories it was not trained with are rejected.")
    graph = features.get("graph", {"names": (), "count": 0})
    if graph["count"]:
        shown = ", ".join(_text(name) for name in graph["names"][:40]) + (", ..." if graph["count"] > 40 else "")
        lines.append(
            f"It takes {graph['count']} features of whole graphs ({shown}), standardised by the training part. One "
            "that is not known counts as its mean; one further than 5 standard deviations from it is cut off there."
        )
    if (reference := config.get("reference")) is not None:
        kept = f"{len(reference['ids'])}" if reference["ids"] else "no"
        lines.append(f"The folder keeps names, labels and, of molecules, structures of {kept} training graphs.")
    if data:
        lines.append(f"The largest graph it was trained on has {data['max_nodes']} nodes.")
    return "\n".join(f"- {line}" for line in lines)


def _trust(config: Mapping[str, Any]) -> str:
    calibration = config.get("calibration")
    if calibration is None:
        return "The predictions are the network's own; nothing was calibrated."
    fewest = min(calibration["counts"])
    if not calibration["temperatures"]:
        return f"Intervals (ssread predict --coverage) come from the errors on {fewest} graphs in test folds."
    shown = ", ".join(f"{value:.2f}" for value in calibration["temperatures"][:20])
    return (
        f"Probabilities were calibrated on graphs in test folds (temperature {shown}), and so are sets (ssread predict "
        f"--coverage), which hold every class as often as asked for; the rarest had {fewest} graphs."
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_text, row))} |" for row in rows)])


def _text(value: Any) -> str:
    """Escapes text from data, so that it stays text in Markdown and in HTML made from it."""
    return escape_markdown(value, "\\`*_{}[]<>()#|!~&")
