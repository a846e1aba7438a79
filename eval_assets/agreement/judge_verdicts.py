"""Verdicts on each judge and question from its agreement with humans."""

import math
from collections.abc import Iterable

from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.agreement.gates.declarations import HUMAN_GATES
from eval_assets.catalogue import Figure
from eval_assets.figures import HumanFigures, JudgeHumanFigures
from eval_assets.scale import TOLERANCE
from eval_assets.stats import more_to_decide
from eval_assets.verdicts import GateResult, JudgeVerdict
from eval_assets.wording import counted, rounded_up

CLOSE = 0.05
"""Largest A^HA below A^HH that still counts as matching: a twentieth of the scale."""

MOST_GROUPS_UNSEEN = 0.5
"""Scores that are equal within all groups are taken for those of a judge that reads only the prompt
if at most so many other groups may differ: with six groups of several responses or more. This
project's choice."""


def judge_verdict(  # noqa: PLR0911, PLR0913 - a return per verdict, a figure per control
    a_ha: Figure,
    *,
    shuffled: float,
    constant: float,
    above_shuffled: Figure,
    above_constant: Figure,
    above_people: Figure,
    within: Figure,
    people_within: Figure,
    within_above_people: Figure,
    spearman: Figure,
) -> JudgeVerdict:
    """Return the verdict on a judge.

    Every verdict rests on the interval of a paired difference: a judge is better than a control
    only if its A^HA certainly exceeds the control's, and matches human agreement only if its A^HA
    is certainly less than `CLOSE` below the A^HH of the same responses. Scores that shuffling does
    not change are constant. Scores whose Spearman correlation is certainly above 0 are better than
    shuffled. A judge that is not shown to be better than a control is called like it only if the
    data tell it from a judge as good as a person. Within response groups it has to be better than
    shuffled only where people are. Where nothing shows that people are, a judge whose scores are
    equal within all groups is inconclusive.

    Args:
        a_ha: Its A^HA.
        shuffled: A^HA of its scores in random order.
        constant: A^HA of the best constant score.
        above_shuffled: A^HA less that of its shuffled scores.
        above_constant: A^HA less that of the best constant score.
        above_people: A^HA less the A^HH of the same responses.
        within: A^HA less that of its scores shuffled within response groups.
        people_within: The same of each rater, compared with the others.
        within_above_people: The judge's less that of people.
        spearman: Spearman's rho of its scores and the mean human ratings.

    Examples:
        >>> better = {"shuffled": 0.6, "above_shuffled": Figure(0.3, 0.2, 0.4)}
        >>> within = {
        ...     "within": Figure(0.1, 0.05, 0.15),
        ...     "people_within": Figure(0.12, 0.1, 0.14),
        ...     "within_above_people": Figure(-0.02, -0.05, 0.01),
        ... }
        >>> others = {"constant": 0.7, "spearman": Figure(0.8, 0.7, 0.9), **within}
        >>> people = Figure(0.04, -0.02, 0.1)
        >>> judge_verdict(
        ...     Figure(0.9),
        ...     above_constant=Figure(0.2, 0.1, 0.3),
        ...     above_people=people,
        ...     **better,
        ...     **others,
        ... ).value
        'matches_humans'
        >>> judge_verdict(
        ...     Figure(0.9),
        ...     above_constant=Figure(0.1, -0.01, 0.2),
        ...     above_people=Figure(-0.1, -0.15, -0.05),
        ...     **better,
        ...     **others,
        ... ).value
        'like_constant'
    """
    if not a_ha.is_defined:
        return JudgeVerdict.NOT_COMPARED
    rises_with_ratings = spearman.low > TOLERANCE
    if above_shuffled.high < 0 and not rises_with_ratings:
        return JudgeVerdict.AGAINST_HUMANS
    if not (above_shuffled.low > TOLERANCE or rises_with_ratings):
        if abs(a_ha.value - shuffled) <= TOLERANCE:
            return JudgeVerdict.LIKE_CONSTANT
        is_shown = _is_shown(above_shuffled, control=shuffled, above_people=above_people)
        return JudgeVerdict.LIKE_SHUFFLED if is_shown else JudgeVerdict.INCONCLUSIVE
    if not above_constant.low > TOLERANCE:
        is_shown = _is_shown(above_constant, control=constant, above_people=above_people)
        return JudgeVerdict.LIKE_CONSTANT if is_shown else JudgeVerdict.INCONCLUSIVE
    if people_within.low > TOLERANCE and not within.low > TOLERANCE:
        is_shown = within_above_people.high < 0
        return JudgeVerdict.LIKE_PROMPT if is_shown else JudgeVerdict.INCONCLUSIVE
    if above_people.low > -CLOSE:
        is_equal = abs(within.value) <= TOLERANCE and within.high < MOST_GROUPS_UNSEEN
        return JudgeVerdict.INCONCLUSIVE if is_equal else JudgeVerdict.MATCHES_HUMANS
    if above_people.high < 0:
        return JudgeVerdict.BELOW_HUMANS
    return JudgeVerdict.INCONCLUSIVE


def open_gap_sentence(row: JudgeHumanFigures) -> str:
    """Return the interval and the margin that leave a verdict undecided; empty otherwise."""
    gap = row.a_ha_above_people
    if not _is_gap_open(row):
        return ""
    return (
        f"is inconclusive: its A^HA lies {-gap.low:.3f} below to {gap.high:.3f} above human A^HH, "
        f"and may be at most {CLOSE:g} below"
    )


def _is_gap_open(row: JudgeHumanFigures) -> bool:
    """Return whether only the distance from human agreement leaves a verdict undecided."""
    gap = row.a_ha_above_people
    is_better_than_controls = (
        row.a_ha_above_constant.low > TOLERANCE
        and max(row.a_ha_above_shuffled.low, row.spearman.low) > TOLERANCE
        and (row.a_ha_within.low > TOLERANCE or not row.a_hh_within.low > TOLERANCE)
    )
    is_inconclusive = row.verdict is JudgeVerdict.INCONCLUSIVE
    return is_inconclusive and is_better_than_controls and gap.low <= -CLOSE <= 0 <= gap.high


def more_groups(row: JudgeHumanFigures) -> int | None:
    """Return the further groups with which four of five studies decide a comparison with people.

    Its figure is taken for the true value.

    Returns:
        The number; None if the verdict is certain, if another comparison leaves it open, or if it
        takes more than a hundred times the groups.
    """
    gap = row.a_ha_above_people
    if not _is_gap_open(row):
        return None
    matches = gap.value > -CLOSE
    limit = -CLOSE if matches else 0.0
    n_more = more_to_decide(gap.value, low=gap.low, high=gap.high, limit=limit, n=row.n_groups)
    return None if n_more is None else rounded_up(n_more)


def more_groups_sentence(row: JudgeHumanFigures) -> str:
    """Return the number of groups that would decide, as a sentence; empty if it is unknown."""
    n_more = more_groups(row)
    if n_more is None:
        return ""
    n_units = rounded_up(math.ceil(n_more * row.n_units / row.n_groups))
    return (
        f"{row.judge_id} on {row.question_id}: about {counted(n_more, 'more response group')} "
        f"({counted(n_units, row.unit)}), rated and scored like those so far, would tell whether "
        "it matches human agreement."
    )


def gap_beyond_chance(row: JudgeHumanFigures, humans: HumanFigures) -> float:
    """Return the judge's agreement beyond chance minus that of humans; NaN if undefined.

    Both are shares of the agreement that chance leaves open: that of the judge's scores in random
    order, and that of the human ratings in random order.
    """
    judge = _beyond_chance(row.a_ha.value, row.a_ha_shuffled)
    return judge - _beyond_chance(
        row.a_ha.value - row.a_ha_above_people.value, humans.a_hh_by_chance
    )


def _beyond_chance(agreement: float, by_chance: float) -> float:
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 - TOLERANCE else math.nan


def _is_shown(above_control: Figure, *, control: float, above_people: Figure) -> bool:
    """Return whether the data distinguish a judge like a control from one as good as a person.

    They do not if the judge may be as good as people are. Where people are worse, or nothing is
    known of them, an upper end is enough that lies less than half of the way from the control to
    perfect agreement (this project's choice).
    """
    if above_people.high < 0 or above_control.high < 0:
        return True
    if above_people.low <= 0 <= above_people.high:
        return False
    return above_control.high < (1 - control) / 2


def why_not_judged(row: JudgeHumanFigures, outcomes: Iterable[GateOutcome]) -> str:
    """Return why agreement with these humans does not measure a judge; else empty.

    A judge that does no better than one that never reads the responses is named whoever rated.
    """
    if row.a_ha_constant >= 1 - TOLERANCE:
        return "humans gave one value throughout"
    if row.verdict.is_control or row.verdict is JudgeVerdict.NOT_COMPARED:
        return ""
    human_gates = [outcome for outcome in outcomes if outcome.gate in HUMAN_GATES]
    n_gates = max(len(human_gates), 2)  # those that every evaluation has
    verdicts = [
        verdict
        for outcome in human_gates
        for verdict in outcome.questions
        if verdict.question_id == row.question_id
    ]
    if any(v.verdict is GateResult.FAIL and not v.is_inconclusive for v in verdicts):
        return "humans do not agree with each other"
    # A run of some assets may not have measured people at all.
    if len(verdicts) < n_gates or any(v.verdict is not GateResult.PASS for v in verdicts):
        return "it is not known whether humans agree with each other"
    return ""
