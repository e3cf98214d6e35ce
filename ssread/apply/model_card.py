"""The card of a model in Markdown: what it was trained on, how good it is, what its limits are."""

from collections.abc import Mapping, Sequence
from typing import Any

from ssread.common.markdown import escape_markdown

__all__ = ["model_card"]


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
        "## Limits",
        _limits(config, data),
        "## Made with",
        ", ".join(f"{name} {version}" for name, version in config["written_with"].items()) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _about(config: Mapping[str, Any]) -> str:
    model = config["model"]
    readout = "global readout" if model["readout"] == "global" else f"SSRead, {model['num_positions']} positions"
    aggr = model["aggr"] if isinstance(model["aggr"], str) else "+".join(model["aggr"])
    members = f"An ensemble of {config['members']} members, each a" if config["members"] > 1 else "A"
    names = ", ".join(_text(name) for name in config["output_names"])
    return (
        f"{members} {model['name']} graph classifier ({readout}, aggregation {aggr}, {model['num_layers']} layers of "
        f"{model['hidden_channels']}) for the classes {names}. config.json has every setting."
    )


def _data(data: Mapping[str, Any]) -> str:
    if not data:
        return "Unknown: nothing was recorded."
    counts = "\n".join(f"| {_text(name)} | {count} |" for name, count in data["class_counts"].items())
    sizes = f"{data['mean_nodes']:.1f} nodes on average, at most {data['max_nodes']}"
    repairs = "".join(f"\n- {_text(what)}: {count}" for what, count in data.get("repairs", {}).items())
    repaired = f"\n\nRepaired while reading:\n{repairs}" if repairs else ""
    return (
        f"{_text(data['name'])}: {data['graphs']} graphs, {sizes}.\n\n| class | graphs |\n|---|---|\n{counts}{repaired}"
    )


def _quality(validation: Mapping[str, Any]) -> str:
    low, high = validation["interval"]
    lines = [
        f"Accuracy **{100 * validation['accuracy']:.1f} %** (95 % interval {100 * low:.1f} to {100 * high:.1f}) in "
        f"{validation['folds']}-fold cross-validation on {validation['graphs']} graphs; always guessing the largest "
        f"class gives {100 * validation['majority']:.1f} %."
    ]
    if validation.get("roc_auc") is not None:
        lines[0] += f" Area under the ROC curve {validation['roc_auc']:.3f}."
    lines.append(_table(("class", "recognised"), [(n, f"{100 * v:.1f} %") for n, v in validation["recall"].items()]))
    if len(validation["candidates"]) > 1:
        rows = [
            (c["name"], f"{100 * c['valid_accuracy']:.1f} %", "chosen" if c["chosen"] else "")
            for c in validation["candidates"]
        ]
        lines.append("Chosen by the mean accuracy on the graphs held out for early stopping, not on the test folds:")
        lines.append(_table(("candidate", "held-out accuracy", ""), rows))
    return "\n\n".join(lines)


def _limits(config: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    features = config["features"]
    names = features["node"]["names"]
    lines = [
        "These numbers hold for graphs like the training graphs. Random folds have similar graphs in training and test "
        "parts; expect less for molecules with new scaffolds.",
        "The probabilities are the network's own; they were not calibrated.",
    ]
    if names:
        shown = ", ".join(_text(name) for name in names[:40]) + (", ..." if len(names) > 40 else "")
        lines.append(f"It takes {len(names)} node features: {shown}. Categories it was not trained with are rejected.")
    if data:
        lines.append(f"The largest graph it was trained on has {data['max_nodes']} nodes.")
    return "\n".join(f"- {line}" for line in lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_text, row))} |" for row in rows)])


def _text(value: Any) -> str:
    """Escapes text from data, so that it stays text in Markdown and in HTML made from it."""
    return escape_markdown(value, "\\`*_{}[]<>()#|!~&")
