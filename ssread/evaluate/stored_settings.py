"""The settings of a training in the rows of a results file, checked; nothing here needs torch."""

from typing import Any

from ssread.common.checking import checked_json

__all__ = ["stored_run", "stored_training"]


def stored_run(text: str) -> dict[str, Any]:
    """Returns the settings of a run from the column ``run`` of a results file."""
    return checked_json("ssread.evaluate.settings_schema:StoredRun", text, "The column run of a results file")


def stored_training(text: str) -> dict[str, Any]:
    """Returns the settings of a training from the column ``training`` of a results file."""
    return checked_json("ssread.evaluate.settings_schema:StoredTraining", text, "The column training of a results file")
