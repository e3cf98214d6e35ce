"""What the page and the interface tell of a model, read from its folder without loading it."""

from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ssread.apply.model_folder import CARD, position_names, read_config
from ssread.data.classes import as_number
from ssread.data.graph_features import own_columns
from ssread.data.task_names import CLASSIFICATION
from ssread.draw.palette import meaning_colours
from ssread.serve.schemas import ModelInfo

__all__ = ["model_info"]


def model_info(name: str, folder: Path) -> ModelInfo:
    """Reads the description and the card of a model."""
    config = read_config(folder)
    model, summary = config["model"], config.get("summary", {})
    names = config["output_names" if "output_names" in config else "class_names"]
    task = config.get("task", CLASSIFICATION)
    count = model["num_positions"] if model.get("readout") == "ssread" else 0
    positions = position_names(summary, count)
    data = summary.get("data", {})
    card = folder / CARD
    return ModelInfo(
        name=name,
        task=task,
        outputs=[_spelt_out(str(name), task) for name in names],
        calibrated=config.get("calibration") is not None,
        molecules=_reads_molecules(config),
        columns=own_columns(config["features"]["options"].get("graph_features") or ()),
        colours=meaning_colours(positions),
        positions=positions,
        trained_on=f"{data['graphs']} graphs of {data['name']}" if "graphs" in data else "",
        card=_as_html(card.read_text(encoding="utf-8")) if card.is_file() else "",
    )


def _spelt_out(name: str, task: str) -> str:
    """A name for people: a class that is called 0 is ``class 0``, as on the page of ``ssread explain``."""
    return f"class {name}" if task == CLASSIFICATION and as_number(name) is not None else name


def _reads_molecules(config: dict[str, Any]) -> bool:
    """Whether a model takes SMILES: its features are those that molecules are read with."""
    names = config["features"]["node"]["names"]
    return config["features"]["options"].get("features") == "labels" or "element=C" in names


def _as_html(card: str) -> str:
    """Markdown as HTML; HTML within it stays text."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").render(card)
