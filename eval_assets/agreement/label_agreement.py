"""Whether the labels of a question can be trusted: the figures that decide, with the verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.agreement.diagnosis import Cause, cause_of_disagreement
from eval_assets.agreement.ratings import Floats, LongRatings
from eval_assets.catalogue import CONFIDENCE, GATED, Statistic
from eval_assets.config.evaluation import Gate, GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import TOLERANCE
from eval_assets.stats import (
    AgreementProfile,
    CohenKappa,
    HumanAgreement,
    Interval,
    agreement_profile,
    coefficient_interval,
    more_to_decide,
)
from eval_assets.stats.planning import doubles_to_tell, units_after_revision
from eval_assets.verdicts import Verdict


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement of people on one question.

    Attributes:
        verdict: The worst of the verdicts on alpha, A^HH and the other gates that are declared.
        decided_by: The figure whose verdict that is; of several alpha, then A^HH.
        deciding: That figure as a share of its highest value, such as 1 for 100 %.
        minimum: Its minimum, likewise.
        reaches_minimums: Whether every figure passes its gate.
        unit_agreement: Mean over rater pairs of each unit with two ratings, NaN of others: what
            A^HH is the mean of.
        a_hh_by_chance: A^HH to expect of raters who share only their habits.
        n_double: Units with two ratings or more.
        n_doubles_to_tell: Units rated by two that would tell whether people agree, if none is.
        n_more: Further units that decide in four of five studies, if the figure is the true value.
        n_after_revision: New units that show a revised question to reach the minimum.
        counts: Each rater's ratings of each value of the scale; empty on a continuous scale.
        cause: What most of the disagreement comes from; None if nothing stands out.
    """

    question: RubricQuestion
    verdict: Verdict
    decided_by: Statistic
    deciding: Interval
    minimum: float
    reaches_minimums: bool
    a_hh: Interval
    a_hh_by_chance: float
    alpha: Interval
    exact_agreement: Interval
    adjacent_agreement: Interval | None
    minimums: Mapping[str, float]
    unit_agreement: Floats
    n_ratings: int
    n_units: int
    n_double: int
    n_groups: int
    n_raters: int
    values: tuple[float, ...]
    n_doubles_to_tell: int | None
    n_more: int | None
    n_after_revision: int | None
    counts: Mapping[str, tuple[int, ...]]
    cause: Cause | None


def label_agreement(
    question: RubricQuestion, ratings: LongRatings, gates: Mapping[GateName, Gate]
) -> LabelAgreement:
    """Measure the agreement of people on a question, and compare it with the minimums."""
    level = gates["human_alpha"].level or question.level
    patterns = ratings.patterns()
    has_neighbours = question.scale.has_few_values and question.has_order
    has_neighbours &= len(question.scale.values or ()) > 2  # noqa: PLR2004 - of two classes none is
    profile = agreement_profile(patterns, scale=question.scale, level=level, confidence=CONFIDENCE)
    a_hh, alpha = profile.a_hh, profile.alpha
    figures: dict[GateName, Interval] = {
        "human_alpha": alpha,
        "human_a_hh": a_hh,
        "exact_agreement": profile.exact_agreement,
        "adjacent_agreement": profile.adjacent_agreement,
        "gwet_ac": gwet_ac_of(profile)[1],
    }
    if "kappa" in gates:
        figures["kappa"] = kappa_of(ratings, profile)[1]
    figures = {name: figure for name, figure in figures.items() if name in gates}
    minimums = {name: gates[name].minimum / GATED[name].highest for name in figures}
    verdicts = {
        name: Verdict.of_interval(figure, minimum=minimums[name])
        for name, figure in figures.items()
    }
    if math.isnan(alpha.value):  # without variation perfect agreement means nothing
        verdicts = dict.fromkeys(verdicts, Verdict.NOT_MEASURED)
    decided_by = max(verdicts, key=lambda name: verdicts[name].rank)
    deciding, minimum = figures[decided_by], minimums[decided_by]
    values = np.unique(ratings.value)
    by_pattern = HumanAgreement(question.scale).by_pattern(patterns)
    of_pattern = np.append(np.where(patterns.is_pairable, by_pattern, np.nan), np.nan)
    return LabelAgreement(
        question=question,
        verdict=verdicts[decided_by],
        decided_by=GATED[decided_by],
        deciding=deciding,
        minimum=minimum,
        reaches_minimums=all(
            replace(gates[name], minimum=minimums[name]).is_reached(
                value=figure.value, low=figure.low
            )
            for name, figure in figures.items()
        ),
        a_hh=a_hh,
        a_hh_by_chance=profile.a_hh_by_chance,
        alpha=alpha,
        exact_agreement=profile.exact_agreement,
        adjacent_agreement=profile.adjacent_agreement if has_neighbours else None,
        minimums={GATED[name].column: minimum for name, minimum in minimums.items()},
        unit_agreement=np.where(patterns.index < 0, np.nan, of_pattern[patterns.index]),
        n_ratings=len(ratings.value),
        n_units=int(patterns.n_units.sum()),
        n_double=a_hh.n_units,
        n_groups=a_hh.n_groups,
        n_raters=len(ratings.raters),
        values=tuple(values.tolist()),
        n_doubles_to_tell=None
        if a_hh.n_units
        else doubles_to_tell(ratings.value, level=level, limit=minimums["human_alpha"]),
        n_more=more_to_decide(
            deciding.value, low=deciding.low, high=deciding.high, limit=minimum, n=deciding.n_units
        ),
        n_after_revision=units_after_revision(
            patterns, alpha, level=level, limit=minimums["human_alpha"]
        ),
        counts=_counts(question, ratings),
        cause=cause_of_disagreement(
            question, ratings, patterns, level=level, limit=minimums["human_alpha"]
        ),
    )


def kappa_of(ratings: LongRatings, profile: AgreementProfile) -> tuple[str, Interval]:
    """Return Cohen's kappa if exactly two raters rated, else Fleiss', with its kind."""
    raters = np.unique(ratings.rater)
    if len(raters) != 2:  # noqa: PLR2004 - Cohen's kappa is of two raters
        return "fleiss", profile.fleiss_kappa
    return "cohen", coefficient_interval(
        ratings.matrix()[:, raters],
        CohenKappa(weights=None),
        confidence=CONFIDENCE,
        groups=ratings.group,
    )


def gwet_ac_of(profile: AgreementProfile) -> tuple[str, Interval]:
    """Return Gwet's AC2 with quadratic weights, of classes without order AC1, with its kind."""
    if math.isnan(profile.gwet_ac2.value):
        return "ac1", profile.gwet_ac1
    return "ac2_quadratic", profile.gwet_ac2


def _counts(question: RubricQuestion, ratings: LongRatings) -> dict[str, tuple[int, ...]]:
    values = question.scale.values
    if values is None:
        return {}
    code = np.searchsorted(np.asarray(values) - TOLERANCE, ratings.value, side="right") - 1
    cells = np.bincount(
        ratings.rater * len(values) + code, minlength=len(ratings.rater_ids) * len(values)
    ).reshape(-1, len(values))
    counts = dict(zip(ratings.rater_ids, map(tuple, cells.tolist()), strict=True))
    return {rater: n for rater, n in counts.items() if any(n)}


@dataclass(frozen=True)
class WideDisagreement:
    """A unit that people rated differently.

    Attributes:
        ratings: (rater, value) in the order of raters.
    """

    question: RubricQuestion
    unit: int
    ratings: tuple[tuple[str, float], ...]


def widest_disagreements(
    questions: Mapping[RubricQuestion, tuple[LongRatings, Floats]], *, most: int
) -> list[WideDisagreement]:
    """Return the units of all questions with the largest standard deviations of their ratings.

    Of classes without an order it is the units on which people agree least.
    """
    widest: list[tuple[float, int, WideDisagreement]] = []
    for question, (ratings, agreement) in questions.items():
        spread = np.nan_to_num(1.0 - agreement)  # of units with one rating it is undefined
        if question.has_order:
            value = question.scale.to_unit(ratings.value)
            mean, square = (replace(ratings, value=of).means() for of in (value, value**2))
            spread = np.where(spread > 0, np.sqrt(np.maximum(square - mean**2, 0.0)), 0.0)
        units = np.argsort(-spread, kind="stable")[:most]
        for unit in units[spread[units] > 0].tolist():
            first, last = np.searchsorted(ratings.unit, [unit, unit + 1]).tolist()
            names = (ratings.rater_ids[rater] for rater in ratings.rater[first:last].tolist())
            by_rater = tuple(zip(names, ratings.value[first:last].tolist(), strict=True))
            widest.append((-spread[unit], unit, WideDisagreement(question, unit, by_rater)))
    return [disagreement for _, _, disagreement in sorted(widest, key=lambda of: of[:2])[:most]]
