"""What may stand in evaluation.yaml, entry by entry."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from eval_assets.evaluation import OnError, Provider, Severity
from eval_assets.scale import Level

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Raw = object
"""An entry that is checked by itself, so that one bad entry does not hide the next."""


class Entry(BaseModel):
    """An entry that takes the keys it names and no others, each as the type it is."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Document(Entry):
    """The file as a whole."""

    name: Text
    rubric: list[Raw] = Field(min_length=1)
    responses: Raw = None
    labels: Raw = None
    judges: list[Raw] = []
    gates: dict[str, Raw] = {}
    budget_usd: Annotated[Number, Field(ge=0)] | None = None


class QuestionEntry(Entry):
    """A rubric question."""

    id: Text
    question: Text
    scale: Raw = None
    level: Level | None = None
    guidelines: str = ""


class StepsEntry(Entry):
    """A scale from `min` to `max`; with `step: null` every number between them."""

    min: Number
    max: Number
    step: Number | None = 1.0


class ValuesEntry(Entry):
    """A scale of the values named."""

    values: list[Number]


class JudgeEntry(Entry):
    """An LLM rater."""

    id: Text
    provider: Provider
    model: Text | None = None
    scores: Text | None = None
    base_url: Text | None = None
    api_key_env: Text | None = None


class GateEntry(Entry):
    """What a gate changes of its default."""

    min: Number | None = None
    severity: Severity | None = None
    level: Level | None = None


class LabelsEntry(Entry):
    """Label files, and what a bad row does."""

    files: Raw = None
    on_error: OnError = "fail"


ScaleName = Literal["binary", "likert5"]
