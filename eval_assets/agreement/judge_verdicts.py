"""Verdicts on each judge and question from its agreement with humans."""

from eval_assets.catalogue import Figure
from eval_assets.scale import TOLERANCE
from eval_assets.verdicts import JudgeVerdict

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
