"""What may stand in evaluation.yaml, entry by entry."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from eval_assets.evaluation import Aggregate, OnError, Provider, Severity
from eval_assets.models import MaxTokensName
from eval_assets.scale import Level

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[Number, Field(gt=0)]
Price = Annotated[Number, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[Number, Field(gt=0, le=1)]
Kappa = Annotated[Number, Field(ge=-1, le=1)]
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
    judge_prompt: Text | None = None
    staged: Raw = None
    generators: list[Raw] = []
    prompts: Raw = None
    prices: dict[str, Raw] = {}
    capabilities: dict[str, Raw] = {}


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


class CalledEntry(Entry):
    """A model, and how it is called."""

    id: Text
    model: Text | None = None
    base_url: Text | None = None
    api_key_env: Text | None = None
    settings: dict[str, Raw] = {}
    requests_per_minute: Positive | None = None
    input_tokens_per_minute: Positive | None = None
    max_in_flight: Count = 64
    timeout_seconds: Positive = 60.0


class JudgeEntry(CalledEntry):
    """An LLM rater."""

    provider: Provider
    scores: Text | None = None
    batch: bool = False
    replicates: Count = 1
    aggregate: Aggregate = "mean"


class GeneratorEntry(CalledEntry):
    """A model whose answers are evaluated."""

    provider: Literal["openai", "anthropic"]
    model: Text
    seeds: list[int] = Field([0], min_length=1)
    system: str = ""


class StagedEntry(Entry):
    """When one judge of a pair is enough."""

    kappa: Kappa = 0.85
    spot_check: Share = 0.05
    revert_below: Kappa = 0.70
    window: Count = 100


class PriceEntry(Entry):
    """What a model costs, in USD per million tokens."""

    input: Price
    output: Price
    cached_input: Price | None = None
    cache_write: Price | None = None
    long_prompt_tokens: Count | None = None
    long_prompt_factor: Positive = 1.0


class CapabilitiesEntry(Entry):
    """What a model takes."""

    family: Text | None = None
    temperature: bool | None = None
    json_schema: bool | None = None
    json_object: bool | None = None
    system: bool | None = None
    thinks: bool | None = None
    effort: bool | None = None
    seed: bool | None = None
    max_tokens_name: MaxTokensName | None = None


class GateEntry(Entry):
    """What a gate changes of its default."""

    min: Number | None = None
    severity: Severity | None = None
    level: Level | None = None


class LabelsEntry(Entry):
    """Label files, and what a bad row does."""

    files: Raw = None
    on_error: OnError = "fail"
