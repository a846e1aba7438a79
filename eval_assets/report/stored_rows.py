"""Rows of stored tables with the columns that the report shows."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar, get_type_hints

import pandas as pd

from eval_assets.tuning.certificate import QuestionCertificate


@dataclass(frozen=True)
class StoredRow:
    """A row of a table, which is named where the class is defined.

    A text that is NULL is empty, a count or a flag is 0 or false, and any other number is NaN.
    "nan" and "None" are texts.
    """

    table: ClassVar[str]

    def __init_subclass__(cls, *, table: str = "") -> None:
        """Name the table; a class without one is the base of others."""
        cls.table = table


Row = TypeVar("Row", bound=StoredRow)


@dataclass(frozen=True)
class LabelQualityRow(StoredRow, table="label_quality"):
    """A measure of a rater."""

    question_id: str
    rater_id: str
    measure: str
    value: float
    n: int
    advice: str


@dataclass(frozen=True)
class LabelSpreadRow(StoredRow, table="label_spread"):
    """Responses whose ratings lie within a band of standard deviations."""

    question_id: str
    band: str
    n_responses: int


@dataclass(frozen=True)
class RejectedLabelsRow(StoredRow, table="rejected_labels"):
    """Rejected labels of a rater."""

    rater_id: str
    question_id: str
    n: int


@dataclass(frozen=True)
class LostPairsRow(StoredRow, table="no_longer_paired"):
    """Responses that a later round left with fewer than two raters."""

    question_id: str
    n_responses: int


@dataclass(frozen=True)
class JudgeStateRow(StoredRow, table="judges"):
    """A judge, its version in use, and the end of its last run."""

    judge_id: str
    model: str
    version: str
    stopped: str
    other_models: str


@dataclass(frozen=True)
class ConfusionRow(StoredRow, table="judge_confusion"):
    """Units with a median rating of humans and a score of a judge."""

    judge_id: str
    question_id: str
    human_value: float
    judge_value: float
    n_units: int


@dataclass(frozen=True)
class JudgeBiasRow(StoredRow, table="judge_bias"):
    """Bias of a judge on the responses with a value of an attribute, at equal quality."""

    judge_id: str
    question_id: str
    attribute: str
    value: str
    relative: float
    relative_low: float
    relative_high: float
    is_named: bool
    state: str


@dataclass(frozen=True)
class RepeatabilityRow(StoredRow, table="repeatability"):
    """How often a rater rates the same response differently; people together have no id."""

    rater_id: str
    kind: str
    question_id: str
    source: str
    n_pairs: int
    flip_rate: float


@dataclass(frozen=True)
class ModelResultRow(StoredRow, table="results_by_model"):
    """Agreement of the judges on the responses of a model, over prompts."""

    model_name: str
    n_results: int
    mean_alpha: float
    lowest_alpha: float
    n_not_reliable: int
    mean: float


@dataclass(frozen=True)
class PromptResultRow(StoredRow, table="results"):
    """Agreement of the judges on the responses of a model to a prompt."""

    slice_value: str
    prompt_text: str
    model_name: str
    alpha: float
    interpretation: str
    mean: float
    spread: float
    n_units: int


@dataclass(frozen=True)
class IssuedCertificateRow(StoredRow, table="judge_certificates"):
    """Verdicts of a sealed test on a version of a judge, with its certificate if one was issued."""

    judge_id: str
    version: str
    question_id: str
    fitness: str
    improvement: str
    reason: str
    n_groups: int
    n_readings: int
    certificate: QuestionCertificate | None
    stale_because: str
    is_read_again: bool
    claim: str
    share: float
    groups_wanted: int


@dataclass(frozen=True)
class UnevaluatedTestRow(StoredRow, table="unevaluated_tests"):
    """A question whose sealed test was not evaluated."""

    question_id: str
    reason: str


@dataclass(frozen=True)
class StandInPartRow(StoredRow, table="stand_in_parts"):
    """A part of the responses that a judge could score, with the agreement there."""

    judge_id: str
    question_id: str
    doubt_source: str
    doubt_threshold: float
    share: float
    kappa: float
    kappa_people: float
    is_chosen: bool
    stale_because: str


@dataclass(frozen=True)
class SealedTestPlanRow(StoredRow, table="sealed_test_plans"):
    """Size of a sealed test that would decide on a version of a judge."""

    judge_id: str
    version: str
    question_id: str
    groups_at_gap: int
    responses_per_group: float
    labels_per_group: float


@dataclass(frozen=True)
class SummaryRow(StoredRow, table="executive_summary"):
    """An executive summary by a judge."""

    judge_id: str
    model: str
    summary: str
    refused_because: str


@dataclass(frozen=True)
class RunRow(StoredRow, table="agreement_history"):
    """Overall figures of a run."""

    measured_at: str
    data_version: str
    judge_set_fingerprint: str
    a_hh: float
    alpha: float
    judge_alpha: float


@dataclass(frozen=True)
class JudgePairRow(StoredRow, table="dual_judge_validation"):
    """Kappa between the first two judges in a run."""

    timestamp: str
    judge1_id: str
    judge2_id: str
    kappa_micro: float
    kappa_macro: float
    status: str
    notes: str


@dataclass(frozen=True)
class CostRow(StoredRow, table="judge_costs"):
    """Requests to the model of a judge."""

    judge_id: str
    model: str
    n_requests: int
    n_failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    latency_seconds: float


@dataclass(frozen=True)
class ResponseRow(StoredRow):
    """A row about a response to a question."""

    response_id: str
    question_id: str
    model_name: str
    prompt_text: str
    response_text: str


@dataclass(frozen=True)
class DisagreementRow(ResponseRow, table="label_disagreements"):
    """A response on which raters disagree, with their ratings as JSON."""

    range: float
    standard_deviation: float
    ratings: str
    reason: str


@dataclass(frozen=True)
class AdjudicationRow(ResponseRow, table="adjudicated_labels"):
    """A decision on a disagreement, with the earlier ratings as JSON."""

    value: float
    excluded: bool
    is_override: bool
    ratings: str
    decided_by: str
    reason: str


@dataclass(frozen=True)
class JudgeHumanDistanceRow(ResponseRow, table="judge_human_disagreements"):
    """A response that a judge and humans rate differently."""

    judge_id: str
    direction: str
    human_mean: float
    score: float
    difference: float


@dataclass(frozen=True)
class JudgeDistanceRow(ResponseRow, table="judge_disagreements"):
    """A response that two judges score differently."""

    judge1_id: str
    judge2_id: str
    judge1_score: float
    judge2_score: float
    difference: float


def rows_of(frame: pd.DataFrame, row_type: type[Row]) -> Iterator[Row]:
    """Yield the rows of a frame, first to last; a missing column is NULL throughout."""
    types = get_type_hints(row_type)
    conversions = {field.name: _CONVERSIONS[types[field.name]] for field in fields(row_type)}
    columns = [
        map(convert, frame[name]) if name in frame else [convert(None)] * len(frame)
        for name, convert in conversions.items()
    ]
    for values in zip(*columns, strict=True):
        yield row_type(**dict(zip(conversions, values, strict=True)))


def _is_null(cell: object) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or cell != cell  # noqa: PLR0124 - NaN


def _number(cell: object) -> float:
    return math.nan if _is_null(cell) else float(str(cell))


def _certificate(cell: object) -> QuestionCertificate | None:
    return None if _is_null(cell) else QuestionCertificate.model_validate_json(str(cell))


_CONVERSIONS: Mapping[object, Callable[[object], object]] = {
    str: lambda cell: "" if _is_null(cell) else str(cell),
    int: lambda cell: 0 if _is_null(cell) else int(_number(cell)),
    float: _number,
    bool: lambda cell: not _is_null(cell) and bool(cell),
    QuestionCertificate | None: _certificate,
}
