"""The schema of a model's description, ``config.json`` in its folder."""

from typing import Annotated

from pydantic import Field

from ssread.common.schema import UNSET, Count, Number, OneOf, Open, Plain, Positive, Text
from ssread.data.reading_schema import ReadingOptions
from ssread.data.task_names import TASKS
from ssread.evaluate.settings_schema import ModelArguments, StoredTraining

__all__ = ["ModelDescription"]

Task = Annotated[str, OneOf("task", TASKS)]


class ColumnsDescription(Open):
    """See :class:`ssread.apply.features.Columns`."""

    count: Count
    names: list[Text]
    categories: list[Text]


class FeaturesDescription(Open):
    """See :class:`ssread.apply.features.Features`."""

    node: ColumnsDescription
    edge: ColumnsDescription
    graph: ColumnsDescription | None = UNSET
    options: ReadingOptions


class CalibrationDescription(Open):
    """See :class:`ssread.apply.calibration.Calibration`."""

    task: Task
    temperatures: list[Annotated[float, Field(gt=0, le=1e6)]]
    counts: list[Count]
    scores: list[list[Number]]


class DataSummary(Open):
    """See :func:`ssread.apply.training.describe_data`."""

    name: Text = UNSET
    graphs: Count = UNSET
    class_counts: dict[str, Count] = UNSET
    mean_nodes: Number = UNSET
    max_nodes: Count = UNSET
    targets: dict[str, dict[str, Number | None]] = UNSET
    fingerprint: Text = UNSET
    repairs: dict[str, Count] = UNSET
    copies: dict[str, Count] = UNSET


class SettingsSummary(Open):
    """The settings that a model was trained with."""

    model: ModelArguments = UNSET
    training: StoredTraining = UNSET


class Summary(Open):
    """What a model says about its training; all of it may be missing, and more may be there."""

    data: DataSummary = UNSET
    settings: SettingsSummary = UNSET
    cross_validation: dict[str, Plain] | None = UNSET
    curves: list[dict[str, list[Number | None]]] | None = UNSET
    members: list[dict[str, Plain]] = UNSET
    matching: list[list[Count]] = UNSET
    versions: dict[str, Text] = UNSET


class ModelDescription(Open):
    """What :meth:`ssread.apply.trained_model.TrainedModel.save` writes."""

    format: Text
    version: Positive
    model: ModelArguments
    members: Annotated[int, Field(ge=1, le=10_000)]
    task: Task = UNSET
    output_names: list[Text] = UNSET
    class_names: list[Text] = UNSET  # version 0.1 wrote these
    features: FeaturesDescription
    calibration: CalibrationDescription | None = UNSET
    summary: Summary
    written_with: dict[str, Text] = UNSET
    weights_sha256: Text
