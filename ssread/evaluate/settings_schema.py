"""The schemas of a comparison's settings, and of the settings in the rows of a results file."""

from typing import Annotated, Literal

from pydantic import Field

from ssread.common.schema import (
    COMMAS,
    UNSET,
    Count,
    Name,
    OneOf,
    Open,
    Plain,
    Positive,
    Settings,
    Share,
)
from ssread.data.reading_schema import ReadingOptions
from ssread.evaluate.experiment import SHARES, TASKS
from ssread.metrics import METRICS
from ssread.models.architectures import AGGREGATIONS, ARCHITECTURES, MOST_HOPS, READOUTS
from ssread.train.recipes import RECIPES
from ssread.train.runs import OBJECTIVES

__all__ = ["ComparisonFile", "ComparisonSettings", "ModelArguments", "StoredRun", "StoredTraining", "TrainingSettings"]

Rate = Annotated[float, Field(gt=0, le=1e38)]
Decay = Annotated[float, Field(ge=0, le=1000)]
#: More would overflow the sums of a float32; the paper tries up to 1.
Gamma = Annotated[float, Field(ge=0, le=1e6)]
Hops = Annotated[int, Field(ge=0, le=MOST_HOPS)]
Aggregation = Annotated[str, OneOf("aggregation", AGGREGATIONS, joined="+")]
Architecture = Annotated[str, OneOf("architecture", ARCHITECTURES)]


class TrainingSettings(Settings):
    """The fields of :class:`ssread.train.runs.Training`."""

    epochs: Positive = UNSET
    patience: Positive = UNSET
    batch_size: Positive = UNSET
    learning_rate: Rate = UNSET
    weight_decay: Decay = UNSET
    precision: Annotated[str, OneOf("precision", ("float32", "tf32"))] = UNSET
    schedule: Annotated[str, OneOf("schedule", ("constant", "cosine"))] = UNSET
    averaging: Share = UNSET
    selection: Annotated[str, OneOf("selection", (*METRICS, "loss", "seen"))] = UNSET
    recipe: Annotated[str, OneOf("recipe", RECIPES)] = UNSET


class ModelArguments(Open):
    """The arguments of :func:`ssread.models.make_model` that a description may hold; those of encoders are open."""

    name: Architecture = UNSET
    in_channels: Count = UNSET
    num_classes: Positive = UNSET
    edge_channels: Count = UNSET
    graph_channels: Count = UNSET
    readout: Annotated[str, OneOf("readout", READOUTS)] = UNSET
    aggr: Aggregation | list[Aggregation] | None = UNSET
    num_positions: Annotated[int, Field(ge=1, le=100_000)] = UNSET
    gamma: Gamma = UNSET
    epsilon: Decay = UNSET
    aggr_kwargs: dict[str, Plain] | None = UNSET
    hidden_channels: Annotated[int, Field(ge=1, le=100_000)] | None = UNSET
    num_layers: Annotated[int, Field(ge=1, le=1000)] | None = UNSET
    dropout: Share = UNSET
    normalize: bool = UNSET
    numbers: bool = UNSET
    # of single architectures
    jumping: bool = UNSET
    ratio: Annotated[float, Field(gt=0, le=1)] = UNSET
    ratios: list[Annotated[float, Field(gt=0, le=1)]] = UNSET
    num_clusters: Annotated[int, Field(ge=1, le=100_000)] = UNSET
    position_hops: Hops = UNSET


class ComparisonSettings(TrainingSettings):
    """What ``ssread compare --config`` reads; the fields of :class:`ssread.evaluate.experiment.Experiment`."""

    arch: Annotated[list[Architecture], COMMAS, Field(min_length=1)] = UNSET
    aggr: Annotated[list[Aggregation], COMMAS] = UNSET
    positions: Annotated[int, Field(ge=1, le=100_000)] | Literal["auto"] | None = UNSET
    gamma: Gamma = UNSET
    position_hops: Hops | None = UNSET
    dropout: Share | Literal["auto"] | None = UNSET
    folds: Annotated[int, Field(ge=2, le=100_000)] = UNSET
    seeds: Annotated[int, Field(ge=1, le=100_000)] = UNSET
    metric: Annotated[str, OneOf("metric", SHARES)] = UNSET
    model: ModelArguments = UNSET
    learn: Annotated[list[Annotated[str, OneOf("way to learn", OBJECTIVES)]], COMMAS, Field(min_length=1)] = UNSET
    task: Annotated[list[Annotated[str, OneOf("task", TASKS)]], COMMAS, Field(min_length=1)] = UNSET
    split: Name = UNSET
    margin: Annotated[float, Field(ge=0, le=100)] = UNSET


class ComparisonFile(ComparisonSettings):
    """The settings file of a comparison: also says how the dataset is read."""

    data: ReadingOptions = UNSET


class StoredRun(Open):
    """The column ``run`` of a results file: see :func:`ssread.evaluate.keys.run_settings`."""

    model: ModelArguments
    seed: int
    fold: Count
    num_folds: Positive
    learn: Annotated[str, OneOf("way to learn", OBJECTIVES)] = UNSET
    task: Annotated[str, OneOf("task", TASKS)] = UNSET
    balanced: bool = UNSET
    split: Name = UNSET
    numerics: list[Count] = UNSET


class StoredTraining(Open):
    """The column ``training`` of a results file."""

    epochs: Positive = UNSET
    patience: Positive = UNSET
    batch_size: Positive = UNSET
    learning_rate: Rate = UNSET
    weight_decay: Decay = UNSET
    precision: Name = UNSET
    schedule: Name = UNSET
    averaging: Share = UNSET
    selection: Name = UNSET
    recipe: Name = UNSET
