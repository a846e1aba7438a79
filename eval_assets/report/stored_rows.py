"""Rows of stored tables with the columns that the report shows."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, TypeVar, get_type_hints

import pandas as pd

from eval_assets.catalogue import Figure
from eval_assets.config.evaluation import GateName
from eval_assets.tuning.certificate import QuestionCertificate


@dataclass(frozen=True)
class StoredRow:
    """A row of a table.

    A text that is NULL is empty, a count or a flag is 0 or false, and any other number is NaN.
    "nan" and "None" are texts.
    """

    table: ClassVar[str]


Row = TypeVar("Row", bound=StoredRow)


@dataclass(frozen=True)
class LabelQualityRow(StoredRow):
    """A measure of a rater."""

    table: ClassVar[str] = "label_quality"
    question_id: str
    rater_id: str
    measure: str
    value: float
    n: int
    advice: str


@dataclass(frozen=True)
class LabelSpreadRow(StoredRow):
    """Responses whose ratings lie within a band of standard deviations."""

    table: ClassVar[str] = "label_spread"
    question_id: str
    band: str
    n_responses: int


@dataclass(frozen=True)
class WordingRow(StoredRow):
    """A wording of a question."""

    table: ClassVar[str] = "rubric_versions"
    question_id: str
    version: int
    n_labels: int


@dataclass(frozen=True)
class RejectedLabelsRow(StoredRow):
    """Rejected labels of a rater."""

    table: ClassVar[str] = "rejected_labels"
    rater_id: str
    question_id: str
    n: int


@dataclass(frozen=True)
class LostPairsRow(StoredRow):
    """Responses that a later round left with fewer than two raters."""

    table: ClassVar[str] = "no_longer_paired"
    question_id: str
    n_responses: int


@dataclass(frozen=True)
class JudgeStateRow(StoredRow):
    """A judge, its version in use, and the end of its last run."""

    table: ClassVar[str] = "judges"
    judge_id: str
    model: str
    version: str
    stopped: str
    other_models: str


@dataclass(frozen=True)
class ConfusionRow(StoredRow):
    """Units with a median rating of humans and a score of a judge."""

    table: ClassVar[str] = "judge_confusion"
    judge_id: str
    question_id: str
    human_value: float
    judge_value: float
    n_units: int


@dataclass(frozen=True)
class ModelResultRow(StoredRow):
    """Agreement of the judges on the responses of a model, over prompts."""

    table: ClassVar[str] = "results_by_model"
    model_name: str
    n_results: int
    mean_alpha: float
    lowest_alpha: float
    n_not_reliable: int
    mean: float


@dataclass(frozen=True)
class PromptResultRow(StoredRow):
    """Agreement of the judges on the responses of a model to a prompt."""

    table: ClassVar[str] = "results"
    slice_value: str
    prompt_text: str
    model_name: str
    alpha: float
    interpretation: str
    mean: float
    spread: float
    n_units: int


@dataclass(frozen=True)
class IssuedCertificateRow(StoredRow):
    """Verdicts of a sealed test on a version of a judge, with its certificate if one was issued."""

    table: ClassVar[str] = "judge_certificates"
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
    claim: str
    share: float
    groups_wanted: int


@dataclass(frozen=True)
class UnevaluatedTestRow(StoredRow):
    """A question whose sealed test was not evaluated."""

    table: ClassVar[str] = "unevaluated_tests"
    question_id: str
    reason: str


@dataclass(frozen=True)
class StandInPartRow(StoredRow):
    """A part of the responses that a judge could score, with the agreement there."""

    table: ClassVar[str] = "stand_in_parts"
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
class SealedTestPlanRow(StoredRow):
    """Size of a sealed test that would decide on a version of a judge."""

    table: ClassVar[str] = "sealed_test_plans"
    judge_id: str
    version: str
    question_id: str
    groups_at_gap: int
    responses_per_group: float
    labels_per_group: float


@dataclass(frozen=True)
class RobustnessRow(StoredRow):
    """Effect of passages that address a judge on its scores."""

    table: ClassVar[str] = "judge_robustness"
    judge_id: str
    question_id: str
    n_responses: int
    n_groups: int
    shift: float
    shift_low: float
    shift_high: float


@dataclass(frozen=True)
class SummaryRow(StoredRow):
    """An executive summary by a judge."""

    table: ClassVar[str] = "executive_summary"
    judge_id: str
    model: str
    summary: str
    refused_because: str


@dataclass(frozen=True)
class RunRow(StoredRow):
    """Overall figures of a run."""

    table: ClassVar[str] = "agreement_history"
    scope: str
    measured_at: str
    data_version: str
    judge_set_fingerprint: str
    a_hh: float
    a_hh_low: float
    a_hh_high: float
    alpha: float
    alpha_low: float
    alpha_high: float
    judge_alpha: float
    judge_alpha_low: float
    judge_alpha_high: float

    @property
    def figures(self) -> dict[GateName, Figure]:
        """The figure of each gate with its interval."""
        return {
            "human_a_hh": Figure(self.a_hh, self.a_hh_low, self.a_hh_high),
            "human_alpha": Figure(self.alpha, self.alpha_low, self.alpha_high),
            "judge_alpha": Figure(self.judge_alpha, self.judge_alpha_low, self.judge_alpha_high),
        }


@dataclass(frozen=True)
class JudgePairRow(StoredRow):
    """Kappa between the first two judges in a run."""

    table: ClassVar[str] = "dual_judge_validation"
    timestamp: str
    judge1_id: str
    judge2_id: str
    kappa_micro: float
    kappa_macro: float
    status: str
    notes: str


@dataclass(frozen=True)
class CostRow(StoredRow):
    """Requests to the model of a judge."""

    table: ClassVar[str] = "judge_costs"
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
class DisagreementRow(ResponseRow):
    """A response on which raters disagree, with their ratings as JSON."""

    table: ClassVar[str] = "label_disagreements"
    range: float
    standard_deviation: float
    ratings: str
    reason: str


@dataclass(frozen=True)
class AdjudicationRow(ResponseRow):
    """A decision on a disagreement, with the earlier ratings as JSON."""

    table: ClassVar[str] = "adjudicated_labels"
    value: float
    excluded: bool
    is_override: bool
    ratings: str
    decided_by: str
    reason: str


@dataclass(frozen=True)
class JudgeHumanDistanceRow(ResponseRow):
    """A response that a judge and humans rate differently."""

    table: ClassVar[str] = "judge_human_disagreements"
    judge_id: str
    direction: str
    human_mean: float
    score: float
    difference: float


@dataclass(frozen=True)
class JudgeDistanceRow(ResponseRow):
    """A response that two judges score differently."""

    table: ClassVar[str] = "judge_disagreements"
    judge1_id: str
    judge2_id: str
    judge1_score: float
    judge2_score: float
    difference: float


@dataclass(frozen=True)
class InjectionRow(ResponseRow):
    """A response with a passage that addresses the judge."""

    table: ClassVar[str] = "injection_scores"
    matching_text: str
    kinds: str
    judge_id: str
    score: float
    other_judges: float
    human_value: float
    difference: float
    score_without: float


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
