"""Records of measured figures. Each is a row of a view on the table `figures`.

A field annotated with a Statistic is a figure; an `Annotated` text is the meaning of another field.
The store makes the view, its column comments and the reader from these declarations.
"""

import math
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from eval_assets import catalogue as c
from eval_assets.catalogue import Figure, Statistic
from eval_assets.wording import or_none

RaterKind = Literal["human", "judge"]


class Scope(StrEnum):
    """Extent of a figure: all questions, one question, or one response."""

    OVERALL = "overall"
    QUESTION = "question"
    RESPONSE = "response"


_Groups = Annotated[int, "response groups of these, over which intervals are computed"]
_DataVersion = Annotated[str, "version of the ratings that were measured"]


@dataclass(frozen=True, kw_only=True)
class FigureRecord:
    """A row of a view on `figures`.

    Attributes:
        table: Name of the view.
        subject: Field that `figures.subject` holds, by which rows are selected.
    """

    table: ClassVar[str]
    subject: ClassVar[str] = "question_id"

    def columns(self) -> dict[str, Any]:
        """Return the row in the types of JSON; an undefined figure is None."""
        row: dict[str, Any] = {}
        for field in fields_of(type(self)):
            value = getattr(self, field.name)
            if isinstance(value, Figure):
                ends = map(or_none, (value.value, value.low, value.high))
                row |= zip(field.columns, ends, strict=True)
            elif isinstance(value, float):
                row[field.name] = or_none(value)
            else:
                row[field.name] = str(value) if isinstance(value, Enum) else value
        return row


class Field(NamedTuple):
    """A field of a record.

    Args:
        name: Its name, and that of its column.
        type: Its type without None.
        statistic: The statistic that it holds; None for any other field.
        meaning: Its meaning; empty if the name is enough.
    """

    name: str
    type: Any
    statistic: Statistic | None
    meaning: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the view that hold it."""
        if self.type is Figure:
            return (self.name, f"{self.name}_low", f"{self.name}_high")
        return (self.name,)


def fields_of(record: type[FigureRecord]) -> tuple[Field, ...]:
    """Return the fields of a record type, in order."""
    return _fields_of(cast("Any", record))  # mypy finds no class hashable


@cache
def _fields_of(record: Any) -> tuple[Field, ...]:  # noqa: ANN401 - a record type
    hints = get_type_hints(record, include_extras=True)
    return tuple(_field(field.name, hints[field.name]) for field in fields(record))


def _field(name: str, hint: Any) -> Field:  # noqa: ANN401 - a type hint
    bare, statistic, meaning = hint, None, ""
    if get_origin(hint) is Annotated:
        bare, note = get_args(hint)[:2]
        statistic = note if isinstance(note, Statistic) else None
        meaning = note.meaning if statistic else str(note)
    if get_origin(bare) is Literal:
        return Field(name, str, statistic, meaning)
    options = [option for option in get_args(bare) or (bare,) if option is not NoneType]
    return Field(name, options[0], statistic, meaning)


@dataclass(frozen=True, kw_only=True)
class HumanFigures(FigureRecord):
    """Agreement of human raters on a question, or overall."""

    table = "human_agreement"
    subject = "scope"

    scope: Scope
    question_id: Annotated[str | None, "NULL overall"] = None
    n_responses: Annotated[int, "with at least two ratings"]
    n_groups: _Groups
    n_raters: int
    n_ratings: int
    n_pairs: int
    n_skipped: int
    n_disagreements: Annotated[int, "rows of label_disagreements with ratings far apart"]
    a_hh: Annotated[Figure, c.A_HH]
    a_hh_by_chance: Annotated[float, c.A_HH_BY_CHANCE]
    exact_agreement: Annotated[Figure, c.EXACT_AGREEMENT]
    adjacent_agreement: Annotated[Figure, c.ADJACENT_AGREEMENT]
    alpha: Annotated[Figure, c.ALPHA]
    alpha_level: str
    alpha_within: Annotated[Figure, c.ALPHA_WITHIN] = c.UNDEFINED_FIGURE
    kappa: Annotated[Figure, c.KAPPA] = c.UNDEFINED_FIGURE
    kappa_kind: str | None = None
    gwet_ac: Annotated[Figure, c.GWET_AC] = c.UNDEFINED_FIGURE
    gwet_ac_kind: str | None = None
    most_frequent_share: Annotated[float, c.MOST_FREQUENT_SHARE] = math.nan
    n_rare_groups: Annotated[
        int | None, "groups with a rating other than the most frequent value; NULL overall"
    ] = None
    interval_method: str | None
    interpretation: str
    data_version: _DataVersion


@dataclass(frozen=True, kw_only=True)
class RubricVersionFigures(FigureRecord):
    """Agreement of human raters under one version of a question, and its change.

    A change is measured on responses whose text was rated under no earlier version. A^HH on another
    scale is undefined.
    """

    table = "agreement_by_rubric_version"

    question_id: str
    rubric_version: int
    n_responses: Annotated[int, "with ratings by two raters or more under this version"]
    n_groups: _Groups
    n_raters: int
    a_hh: Annotated[Figure, c.A_HH]
    alpha: Annotated[Figure, c.ALPHA]
    alpha_level: str
    previous_version: Annotated[int | None, "NULL for the first version, as are the changes"]
    n_new: Annotated[int | None, "responses with two ratings whose text no earlier version has"]
    a_hh_change: Annotated[Figure, c.A_HH_CHANGE] = c.UNDEFINED_FIGURE
    alpha_change: Annotated[Figure, c.ALPHA_CHANGE] = c.UNDEFINED_FIGURE
    data_version: _DataVersion


@dataclass(frozen=True, kw_only=True)
class JudgeFigures(FigureRecord):
    """Agreement of judges with each other on a question, a response, or overall."""

    table = "judge_agreement"
    subject = "scope"

    scope: Scope
    question_id: str | None = None
    response_id: str | None = None
    alpha: Annotated[Figure, c.ALPHA]
    alpha_level: str
    alpha_within: Annotated[Figure, c.ALPHA_WITHIN] = c.UNDEFINED_FIGURE
    n_units: Annotated[int, "with scores of at least two judges"]
    n_groups: _Groups
    n_judges: int
    n_comparisons: int
    kappa_macro: Annotated[float, c.KAPPA_MACRO]
    kappa_micro: Annotated[float, c.KAPPA_MICRO]
    interval_method: str | None
    interpretation: Annotated[
        str, "of alpha; 'repeated' if two judges give equal scores throughout"
    ]
    judge_set_fingerprint: str
    data_version: _DataVersion


@dataclass(frozen=True, kw_only=True)
class LeaveOneJudgeOutFigures(FigureRecord):
    """Agreement of the judges without one of them, and its distance from them."""

    table = "judge_agreement_without"
    subject = "judge_id"

    scope: Scope
    question_id: str | None
    judge_id: str
    n_units: Annotated[int, "scored by this and another judge"]
    alpha: Annotated[float, c.ALPHA]
    alpha_without: Annotated[float, c.ALPHA_WITHOUT]
    mean_difference: Annotated[float, c.MEAN_DIFFERENCE]
    data_version: _DataVersion


@dataclass(frozen=True, kw_only=True)
class SliceFigures(FigureRecord):
    """Agreement on part of the responses; alpha pools units on [0, 1] at the interval level."""

    table = "agreement_by_slice"
    subject = "slice"

    rater_kind: RaterKind
    slice: Annotated[str, "'all', 'prompt_id', 'difficulty', 'indicator_id' or an attribute"]
    slice_value: str | None
    model_name: Annotated[str | None, "NULL: over all models"]
    question_id: Annotated[str | None, "NULL: over all questions"]
    n_responses: int
    n_units: Annotated[int, "with ratings by two raters; of people, outside the held-out test"]
    alpha: Annotated[float, c.ALPHA]
    mean: Annotated[float, c.MEAN]
    spread: Annotated[float, c.SPREAD]
    interpretation: Annotated[str, "of alpha; 'unstable' if low on scores that hardly vary"]


@dataclass(frozen=True, kw_only=True)
class JudgeHumanFigures(FigureRecord):
    """Agreement of a judge with human raters on a question."""

    table = "judge_human_agreement"
    subject = "judge_id"

    judge_id: str
    question_id: str
    unit: Annotated[str, "'response', or 'conversation': means over its turns"]
    n_units: int
    n_groups: _Groups
    a_ha: Annotated[Figure, c.A_HA]
    exact_agreement: Annotated[Figure, c.EXACT_AGREEMENT]
    adjacent_agreement: Annotated[Figure, c.ADJACENT_AGREEMENT]
    alpha: Annotated[Figure, c.JUDGE_ALPHA]
    kappa: Annotated[Figure, c.COHEN_KAPPA]
    weighted_kappa: Annotated[Figure, c.WEIGHTED_KAPPA]
    spearman: Annotated[Figure, c.SPEARMAN]
    kendall: Annotated[Figure, c.KENDALL]
    pearson: Annotated[Figure, c.PEARSON]
    mae: Annotated[Figure, c.MAE]
    bias: Annotated[Figure, c.BIAS]
    wilcoxon_p: Annotated[float, c.WILCOXON_P]
    data_version: _DataVersion


@dataclass(frozen=True, kw_only=True)
class JudgeHumanFiguresWithExcluded(JudgeHumanFigures):
    """The same, with responses excluded as ambiguous, by their raters' own ratings.

    Empty if none were excluded. Leaving out contested responses makes judges look better.
    """

    table = "judge_human_agreement_with_excluded"


@dataclass(frozen=True, kw_only=True)
class ScoreFigures(FigureRecord):
    """Mean scores of a rater on part of the responses."""

    table = "score_summary"
    subject = "slice"

    slice: Annotated[str, "'all', 'model_name', 'difficulty', 'indicator_id' or an attribute"]
    slice_value: str | None
    question_id: str
    model_name: Annotated[str | None, "NULL: over all models"]
    rater_kind: Annotated[
        RaterKind | Literal["combined"],
        "'combined': a judge on its certified part, people elsewhere",
    ]
    rater_id: Annotated[str | None, "judge id; NULL: all human raters"]
    n: Annotated[int, "responses"]
    mean: Annotated[float, c.SCORE_MEAN]
    standard_deviation: Annotated[float, c.STANDARD_DEVIATION]
    n_paired: Annotated[int | None, "of a judge: responses that humans rated too"]
    bias: Annotated[float, c.BIAS]


RECORDS: tuple[type[FigureRecord], ...] = (
    HumanFigures,
    RubricVersionFigures,
    JudgeFigures,
    LeaveOneJudgeOutFigures,
    SliceFigures,
    JudgeHumanFigures,
    JudgeHumanFiguresWithExcluded,
    ScoreFigures,
)
"""Records of every view on `figures`."""
