"""The requests and answers of the interface, as pydantic models: what may be sent, and what comes back."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ssread.serve.jobs import ELEMENTS

__all__ = ["Ask", "Change", "ChangedAnswer", "Embeddings", "Explanations", "ModelInfo", "PredictAsk", "Predictions"]

Text = Annotated[str, Field(min_length=1, max_length=100_000)]

#: The most elements of a list; ``--max-molecules`` has a sentence of its own.
MOST = 1_000_000

#: One text stands for a list of one. The first wrong element is enough: pydantic takes 10 µs and 2 kB for each.
OneOrMany = Annotated[
    list[Text],
    Field(min_length=1, max_length=MOST, fail_fast=True),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=str | list[str]),
]
Ids = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=MOST, fail_fast=True)]
Networks = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST, fail_fast=True)]


class _Request(BaseModel):
    """The body of a request, with known keys only."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _first_unknown_key(cls, given: Any) -> Any:
        """Refuses the first unknown key; pydantic itself would word an error for each."""
        unknown = next((key for key in given if key not in cls.model_fields), None) if isinstance(given, dict) else None
        if unknown is not None:
            raise ValueError(f"{unknown[:100]!r} is not known here: send {', '.join(cls.model_fields)}.")
        return given


class Ask(_Request):
    """Molecules, or other graphs: one or many."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"smiles": ["CCO", "c1ccccc1"]}]})

    smiles: OneOrMany | None = Field(None, description="One SMILES or a list; a name may follow each after a blank.")
    ids: Ids | None = Field(None, description="An id for every SMILES.")
    graphs: Networks | None = Field(
        None, description="Graphs in NetworkX's node-link form, for a model that was not trained on molecules."
    )


class PredictAsk(Ask):
    """Molecules or graphs, and how sure sets or intervals shall be."""

    coverage: float | None = Field(
        None, gt=0, lt=1, description="How often sets of classes, or intervals, hold the truth, such as 0.9."
    )


class Change(_Request):
    """Another element at one atom of a molecule."""

    smiles: Text
    atom: int = Field(ge=0, le=100_000, description="The number of the atom in the order of the SMILES, from 0.")
    element: Literal[ELEMENTS] = Field(description="What it becomes.")  # type: ignore[valid-type]
    coverage: float | None = Field(None, gt=0, lt=1)


class _Answer(BaseModel):
    model: str


class Predictions(_Answer):
    """A row for every molecule, with the columns of ``ssread predict``; ``problem`` says why one has no prediction."""

    rows: list[dict[str, Any]]


class Embedding(BaseModel):
    """The graph vector of a molecule."""

    id: str
    smiles: str | None
    vector: list[float] | None
    problem: str | None


class Embeddings(_Answer):
    """A vector for every molecule."""

    rows: list[Embedding]


class Example(BaseModel):
    """A training molecule; its distance is 1 where it is as far as training molecules usually are from each other."""

    id: str
    smiles: str
    known: str
    distance: float


class Terms(BaseModel):
    """Terms by name that add up to the score of each class or label, or to each number: positions and the rest."""

    names: list[str]
    scores: list[list[float]]


class Explanation(BaseModel):
    """A prediction, a picture (places, bonds, positions and contributions), the terms of the scores, the nearest
    training molecules."""

    prediction: dict[str, Any]
    picture: dict[str, Any] | None
    terms: Terms | None
    nearest: list[Example]


class Explanations(_Answer):
    """An explanation for every molecule."""

    rows: list[Explanation]


class ChangedAnswer(_Answer):
    """The explanations before and after a change; both have their atoms at the same places, unless the model has
    hydrogens as nodes."""

    before: Explanation
    after: Explanation
    atom: int = Field(description="The number of the changed atom after the change.")


class ModelInfo(BaseModel):
    """What a model predicts and what its positions are called."""

    name: str
    task: str
    outputs: list[str]
    calibrated: bool
    molecules: bool
    columns: list[str] = Field(description="The columns of a file that it needs beside SMILES; often none.")
    colours: list[str]
    positions: list[str]
    trained_on: str
    card: str
