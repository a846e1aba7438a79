"""Simulated effect of more labels, based on the present labels."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.bands import more_responses
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.assignments import Assignment, AssignmentPlan, assign
from eval_assets.labelling.study import Study
from eval_assets.scale import TOLERANCE
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    OverallProfile,
    coefficient_interval,
    human_agreement,
    krippendorff_alpha,
    overall_profile,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CONFIDENCE = 0.95
POWER = 0.8
ENOUGH = 0.8
"""Probability of a certain verdict from which a number is recommended (a choice)."""

_NORMAL_END = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_NORMALS_APART = _NORMAL_END + NormalDist().inv_cdf(POWER)
_PER_POPULATION = 10
"""Simulations of each population that is drawn from the labels at hand."""

_N_CANDIDATES = 200
"""Number of candidate populations."""

_WEIGHT = 0.65
"""Weight of a group in the Bayesian bootstrap; 1 would take what few groups hold for all that there
is, and promise too much of both verdicts in simulations."""

_N_LARGE = 1_000
"""Number of responses from which the figure of a population is computed."""

_PRIOR_SPREAD = 0.4
"""Standard deviation of log(1 - figure) before any label, around that of the minimum: in 19 of 20
questions raters disagree between 0.45 and 2.2 times as much as the minimum allows (a choice).
Without it a figure far from the minimum by chance promises a certain verdict too often."""

_FEWEST = 5
"""Response groups with two ratings below which nothing is simulated."""


@dataclass(frozen=True)
class Outlook:
    """Effect of a number of further responses, each rated by two, on one gate.

    Args:
        n_more: Further responses.
        width: Width that the gate's interval then has, the median over simulations.
        p_certain: How often the interval then leaves out the gate's minimum.
        p_certain_low: Probability of this in the worst of the populations that the labels allow,
            except one in twenty.
        p_certain_high: Probability in the best of them, likewise.
        p_pass: How often it then lies above the minimum.
    """

    n_more: int
    width: float
    p_certain: float
    p_certain_low: float
    p_certain_high: float
    p_pass: float


@dataclass(frozen=True)
class GatePlan:
    """One gate on one question, or on all if it is None, now and after more labels.

    `now` is the current figure; the ends are NaN if it has no interval. `n_responses` counts the
    responses with at least two ratings. Without enough of them, or
    without a disagreement, there are no outlooks.
    """

    question_id: str | None
    gate: GateName
    minimum: float
    now: Interval
    n_responses: int
    outlooks: tuple[Outlook, ...]

    @property
    def verdict(self) -> Literal["pass", "fail"]:
        """Verdict on the present figure."""
        return "pass" if self.now.value >= self.minimum else "fail"

    @property
    def is_certain(self) -> bool:
        """Return whether the interval excludes the minimum."""
        return self.now.low >= self.minimum or self.now.high < self.minimum

    @property
    def n_more(self) -> int | None:
        """Return the number of further responses that decide if the figure stays."""
        n_groups = self.now.n_groups
        return more_responses(self.n_responses, self.now, n_groups=n_groups, limit=self.minimum)

    @property
    def recommended(self) -> Outlook | None:
        """Return the fewest further responses that suffice at the lower end of the probability."""
        return next((item for item in self.outlooks if item.p_certain_low >= ENOUGH), None)

    @property
    def promising(self) -> Outlook | None:
        """Return the fewest further responses that probably suffice."""
        return next((item for item in self.outlooks if item.p_certain >= ENOUGH), None)


def responses_to_show(gain: float, *, now: Interval, n_responses: int) -> float:
    """Return the number of responses that show a gain of a new wording in four of five studies.

    The new responses are rated by as many raters, in groups as large, and compared with the present
    figure at the 5 % level. Both figures vary alike: their standard errors shrink with the square
    root of the number of responses.

    Args:
        gain: True gain of the figure.
        now: The present figure.
        n_responses: Responses that it is of.

    Returns:
        A whole number; infinity if the present figure is too uncertain to show such a gain.

    Examples:
        >>> now = Interval(0.4, 0.3, 0.5, 0.95, "jackknife", n_units=100, n_groups=100)
        >>> responses_to_show(0.2, now=now, n_responses=100)
        105.0
        >>> responses_to_show(0.1, now=now, n_responses=100)
        inf
    """
    detectable = _NORMALS_APART * (now.high - now.low) / (2 * _NORMAL_END)
    if not gain > detectable:
        return math.inf
    return float(math.ceil(n_responses * detectable**2 / (gain**2 - detectable**2)))


@dataclass(frozen=True)
class JudgedFigure:
    """Figure of a gate, from ratings (n_responses, n_questions, n_raters) and their groups."""

    value: Callable[[Floats], float]
    interval: Callable[[Floats, Integers], Interval]


def plan_gates(  # noqa: PLR0913 - the labels, and how to simulate
    evaluation: Evaluation,
    labels: pd.DataFrame,
    *,
    scopes: Sequence[RubricQuestion | None],
    groups: pd.Series,
    n_more: Sequence[int],
    n_simulations: int,
    seed: int,
) -> Iterator[GatePlan]:
    """Simulate the effect of more labels on both gates of human agreement.

    Scopes are questions, or None for all of them: each further response is then rated by two on
    all questions. Gates whose verdict is certain are not simulated.
    """
    for question in scopes:
        questions = evaluation.rubric if question is None else [question]
        ratings, group = _rating_cube(questions, labels, groups)
        for gate, figure in _figures(evaluation, question).items():
            simulate = partial(
                plan_gate,
                ratings,
                figure,
                groups=group,
                question_id=question.id if question else None,
                gate=gate,
                minimum=evaluation.gates[gate].minimum,
                n_simulations=n_simulations,
            )
            now = simulate(n_more=(), rng=np.random.default_rng(seed))
            if not now.is_certain:
                now = simulate(n_more=sorted(n_more), rng=np.random.default_rng(seed))
            yield now


def _figures(
    evaluation: Evaluation, question: RubricQuestion | None
) -> dict[GateName, JudgedFigure]:
    """Return the figures of the gates, overall only those that an only question does not have."""
    declared_level = evaluation.gates["human_alpha"].level
    if question is not None:
        return {
            "human_a_hh": figure_by(HumanAgreement(question.scale)),
            "human_alpha": figure_by(Alpha(declared_level or question.level)),
        }
    figures = _overall_figures(evaluation)
    if len(evaluation.rubric) == 1:
        [only] = evaluation.rubric
        del figures["human_a_hh"]
        if (declared_level or only.level) == ("interval" if only.has_order else "nominal"):
            del figures["human_alpha"]
    return figures


def _overall_figures(evaluation: Evaluation) -> dict[GateName, JudgedFigure]:
    scales = [question.scale for question in evaluation.rubric]

    def profile(ratings: Floats, groups: Integers) -> OverallProfile:
        questions = [(ratings[:, place], scale) for place, scale in enumerate(scales)]
        return overall_profile(questions, confidence=CONFIDENCE, groups=groups)

    def figure_of(interval_of: Callable[[OverallProfile], Interval]) -> JudgedFigure:
        def interval(ratings: Floats, groups: Integers) -> Interval:
            return interval_of(profile(ratings, groups))

        return JudgedFigure(
            value=lambda ratings: interval(ratings, np.arange(len(ratings))).value,
            interval=interval,
        )

    return {
        "human_a_hh": figure_of(lambda overall: overall.a_hh),
        "human_alpha": figure_of(lambda overall: overall.alpha),
    }


def figure_by(coefficient: Alpha | HumanAgreement) -> JudgedFigure:
    """Return a coefficient on one question."""

    def value(ratings: Floats) -> float:
        if isinstance(coefficient, Alpha):
            return krippendorff_alpha(ratings[:, 0], level=coefficient.level)
        return human_agreement(ratings[:, 0], scale=coefficient.scale)

    def interval(ratings: Floats, groups: Integers) -> Interval:
        of_question = ratings[:, 0]
        return coefficient_interval(of_question, coefficient, confidence=CONFIDENCE, groups=groups)

    return JudgedFigure(value, interval)


def plan_gate(  # noqa: PLR0913 - the question, its gate, and how to simulate
    ratings: Floats,
    figure: JudgedFigure,
    *,
    groups: NDArray[np.generic],
    question_id: str | None,
    gate: GateName,
    minimum: float,
    n_more: Sequence[int],
    n_simulations: int,
    rng: np.random.Generator,
) -> GatePlan:
    """Simulate the effect on a gate of further responses, each rated by two raters.

    Further response groups are drawn from those at hand, whose weights are drawn again for each
    ten simulations, so that few labels leave much in doubt. It is assumed that raters go on as
    they are and that further responses are like those labelled, and come in groups of the same
    sizes: drawn at random, or stratified.

    Args:
        ratings: Ratings, shape (n_responses, n_questions, n_raters), NaN if missing.
        figure: Figure of the gate.
        groups: Response group of each response.
        question_id: The question; None for all.
        gate: The gate.
        minimum: The gate's minimum.
        n_more: Numbers of further responses.
        n_simulations: Simulations for each number.
        rng: Source of chance.
    """
    is_rated = (np.count_nonzero(~np.isnan(ratings), axis=2) > 1).any(axis=1)
    rated, group = ratings[is_rated], np.unique(groups[is_rated], return_inverse=True)[1]
    now = figure.interval(rated, group)
    is_planned = _differ(rated) and now.n_groups >= _FEWEST and len(n_more) > 0
    outlooks = []
    n_populations = -(-n_simulations // _PER_POPULATION)
    populations = (
        _populations(rated, group, figure, minimum=minimum, n=n_populations, rng=rng)
        if is_planned
        else ()
    )
    for n in n_more if is_planned else ():
        intervals = []
        for simulation in range(n_simulations):
            weights = populations[simulation // _PER_POPULATION]
            with_more, of = _with_more(rated, group, n, weights, rng)
            intervals.append(figure.interval(with_more, of))
        low = np.array([interval.low for interval in intervals])
        high = np.array([interval.high for interval in intervals])
        passes, fails = low >= minimum, high < minimum
        certain_low, certain_high = _by_population(passes | fails)
        outlooks.append(
            Outlook(
                n_more=n,
                width=float(np.nanmedian(high - low)) if np.isfinite(low).any() else math.nan,
                p_certain=float((passes | fails).mean()),
                p_certain_low=certain_low,
                p_certain_high=certain_high,
                p_pass=float(passes.mean()),
            )
        )
    return GatePlan(question_id, gate, minimum, now, len(rated), tuple(outlooks))


def _rating_cube(
    questions: Sequence[RubricQuestion], labels: pd.DataFrame, groups: pd.Series
) -> tuple[Floats, NDArray[np.object_]]:
    """Return ratings (n_responses, n_questions, n_raters), and the group of each response."""
    rated = labels[~labels["skipped"].astype(bool)]
    # Unlike a pivot table it refuses duplicates instead of averaging them.
    matrices = [
        rated[rated["question_id"] == question.id].pivot(  # noqa: PD010
            index="response_id", columns="rater_id", values="value"
        )
        for question in questions
    ]
    responses = sorted({name for matrix in matrices for name in matrix.index})
    raters = sorted({name for matrix in matrices for name in matrix.columns})
    cube = [matrix.reindex(index=responses, columns=raters) for matrix in matrices]
    ratings = np.stack([matrix.to_numpy(dtype=np.float64) for matrix in cube], axis=1)
    return ratings, groups.loc[responses].to_numpy(dtype=object)


def _differ(rated: Floats) -> bool:
    """Return whether two ratings of any response differ, which a simulation requires."""
    if not len(rated):
        return False
    spread = np.fmax.reduce(rated, axis=2) - np.fmin.reduce(rated, axis=2)
    return bool((spread > 0).any())


def _populations(  # noqa: PLR0913 - the labels, and how many to draw
    rated: Floats,
    group: Integers,
    figure: JudgedFigure,
    *,
    minimum: float,
    n: int,
    rng: np.random.Generator,
) -> Floats:
    """Return weights of the groups in populations that the labels allow, shape (n, n_groups).

    The Bayesian bootstrap draws candidates; how often each is chosen follows from the prior of its
    figure (sampling/importance resampling: Smith and Gelfand, 1992, doi:10.2307/2684170).
    """
    candidates = rng.dirichlet(np.full(int(group.max()) + 1, _WEIGHT), size=_N_CANDIDATES)
    figures = []
    for weights in candidates:
        drawn = _drawn(rated, group, _N_LARGE, weights, rng)[0]
        figures.append(figure.value(drawn))
    disagreement = np.maximum(1 - np.array(figures), TOLERANCE)
    distance = np.log(disagreement / max(1 - minimum, TOLERANCE))
    density = np.nan_to_num(np.exp(-((distance / _PRIOR_SPREAD) ** 2) / 2))
    if not density.any():
        return candidates[:n]
    # Evenly by figure, which has less variance than independent draws.
    order = np.argsort(figures)
    below = np.cumsum(density[order]) / density.sum()
    chosen: Floats = candidates[order[np.searchsorted(below, (np.arange(n) + 0.5) / n)]]
    return chosen


def _by_population(is_certain: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the interval of the probability of certainty over the drawn populations."""
    starts = np.arange(0, len(is_certain), _PER_POPULATION)
    n_simulated = np.diff(starts, append=len(is_certain))
    shares = np.add.reduceat(is_certain.astype(float), starts) / n_simulated
    low, high = np.quantile(shares, [0.05, 0.95])
    return float(low), float(high)


def _with_more(
    rated: Floats, group: Integers, n: int, weights: Floats, rng: np.random.Generator
) -> tuple[Floats, Integers]:
    """Return the ratings with `n` further responses, each with two ratings of a present one.

    They form new groups, of which the last may be cut short.
    """
    drawn, of = _drawn(rated, group, n, weights, rng)
    # In random order, ratings before gaps: the first two are any two of the response's ratings.
    order = np.argsort(np.where(np.isnan(drawn), 2.0, rng.random(drawn.shape)), axis=2)
    more = np.full(drawn.shape, math.nan)
    more[..., :2] = np.take_along_axis(drawn, order, axis=2)[..., :2]
    return np.concatenate([rated, more]), np.concatenate([group, of + int(group.max()) + 1])


def _drawn(
    rated: Floats, group: Integers, n: int, weights: Floats, rng: np.random.Generator
) -> tuple[Floats, Integers]:
    """Return `n` responses in groups drawn by their weights, and the number of each one's group."""
    sizes = np.bincount(group)
    chosen = rng.choice(len(sizes), size=n, p=weights)
    chosen = chosen[: np.searchsorted(np.cumsum(sizes[chosen]), n) + 1]
    drawn = np.repeat(np.arange(len(chosen)), sizes[chosen])[:n]
    # The members of a group lie together in this order, and in `drawn` as well.
    members, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes
    places = np.arange(n) - (np.cumsum(sizes[chosen]) - sizes[chosen])[drawn]
    return rated[members[starts[chosen[drawn]] + places]], drawn


@dataclass(frozen=True)
class NewResponses:
    """New responses that show whether raters agree more on a reworded question.

    Args:
        n_required: Responses that show the gain in four of five studies; infinity if none do.
        n_assigned: Those that raters have under the new wording already.
        assignments: Further ones, drawn at random from those that no rater knows.
    """

    n_required: float
    n_assigned: int
    assignments: tuple[Assignment, ...]

    @property
    def n_missing(self) -> float:
        """Return the number of responses that must be added to the evaluation."""
        drawn = {assignment.response_id for assignment in self.assignments}
        return max(0.0, self.n_required - self.n_assigned - len(drawn))


def responses_wanted(plans: Iterable[GatePlan], *, gain: float) -> float:
    """Return the number of responses that show a gain of every figure below its minimum.

    It is 0 if no figure is below, and infinity if a figure is too uncertain.
    """
    return max(
        (
            math.inf
            if math.isnan(plan.now.low)
            else responses_to_show(gain, now=plan.now, n_responses=plan.n_responses)
            for plan in plans
            if not plan.now.value >= plan.minimum
        ),
        default=0.0,
    )


def draw_new_responses(  # noqa: PLR0913 - the study, its labels, and how to draw
    study: Study,
    question_id: str,
    *,
    before: pd.DataFrame,
    known: Collection[str],
    n_required: float,
    seed: int,
) -> NewResponses:
    """Draw responses that no rater knows, with as many raters each as before.

    `before` are its labels under the earlier wording, `known` the responses that a rater has
    labelled on any question, `n_required` a finite number.
    """
    number = study.evaluation.labelling.round
    raters = study.raters or tuple(sorted(before["rater_id"].unique()))
    n_raters = before.groupby("response_id")["rater_id"].nunique()
    per_response = min(round(n_raters[n_raters > 1].mean()), len(raters))
    existing = study.assignments or ()
    names = {
        name for item in study.evaluation.rubric if question_id in item.names for name in item.names
    }
    assigned_responses = {
        item.response_id
        for item in existing
        if item.round == number and item.question_id in {None, *names}
    }
    question_responses = {
        item.response_id for item in existing if item.question_id == question_id
    } & assigned_responses
    free = {
        name: ""
        for name, response in study.responses.items()
        if name not in known
        and name not in assigned_responses
        and any(question_id in item.names for item in response.questions)
    }
    plan = AssignmentPlan(
        raters=raters,
        n_responses=max(1, int(n_required)),
        overlap=float(per_response == len(raters)),
        raters_per_response=per_response,
        question_id=question_id,
        round=number,
        seed=seed,
    )
    assignments = (
        assign(free, plan, existing=existing) if n_required > len(question_responses) else []
    )
    return NewResponses(n_required, len(question_responses), tuple(assignments))
