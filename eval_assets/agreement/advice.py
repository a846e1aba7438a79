"""What the labels of a question suggest doing: patterns of single raters, and next steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.evaluation import RubricQuestion
from eval_assets.scale import TOLERANCE

GOOD_SHARE = 0.75
POOR_SHARE = 0.50
RARELY_EXACT_SHARE = 0.30
"""Shares of agreeing rater pairs at which advice changes: 75, 50 and 30 %."""

LOW_ALPHA = 0.3
NEAR_CHANCE_ALPHA = 0.15
"""Below the first alpha is exploratory at best, below the second hardly above chance."""


@dataclass(frozen=True)
class Finding:
    """One remark on a question's labels; a row of the table `label_findings`."""

    question_id: str
    kind: Literal["pattern", "suggestion"]
    finding: str


def rater_patterns(
    question: RubricQuestion, ratings_of: Mapping[str, NDArray[np.float64]]
) -> list[Finding]:
    """Patterns of single raters, measured against the width of the question's scale.

    Args:
        question: The question.
        ratings_of: Ratings of the question by each rater.

    Examples:
        >>> from eval_assets.scale import LIKERT5
        >>> question = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
        >>> found = rater_patterns(
        ...     question, {"r1": np.array([3.0, 3.0, 3.0]), "r2": np.array([5.0, 4.0, 5.0])}
        ... )
        >>> found[0].finding
        'r1 gives 3 every time (3 ratings): no variation to agree on'
    """
    found = []
    for rater, ratings in sorted(ratings_of.items()):
        if len(ratings) > 1 and np.ptp(ratings) == 0:
            value = _named(question, float(ratings[0]))
            found.append(
                f"{rater} gives {value} every time ({len(ratings)} ratings): "
                "no variation to agree on"
            )
    means = {rater: float(np.mean(r)) for rater, r in ratings_of.items() if len(r) > 1}
    if len(means) > 1 and not question.scale.is_binary and question.level != "nominal":
        lenient, strict = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        gap = means[lenient] - means[strict]
        if gap >= (question.scale.high - question.scale.low) / 2 - TOLERANCE:
            found.append(
                f"{lenient} averages {means[lenient]:.2f} and {strict} {means[strict]:.2f}: "
                "at least half the scale apart"
            )
    return [Finding(question.id, "pattern", text) for text in found]


def suggestions(
    question: RubricQuestion, *, exact: float, adjacent: float, alpha: float, n_extreme: int
) -> list[Finding]:
    """What to do about a question on which raters do not agree well; nothing where they do.

    Args:
        question: The question.
        exact: Share of rater pairs that are equal, in [0, 1]; NaN where there is no pair.
        adjacent: Share within one step of the scale; NaN where there are no steps.
        alpha: Krippendorff's alpha; NaN where undefined.
        n_extreme: Responses listed in `label_disagreements`.
    """
    in_classes = question.scale.is_binary or question.level == "nominal"
    primary = exact if in_classes or np.isnan(adjacent) else adjacent
    found: list[str] = []
    if primary < GOOD_SHARE:
        if primary < POOR_SHARE:
            found.append("Rate a few example responses together before anybody rates more")
            found.append("Revise the question: most pairs of raters do not agree on it")
        if in_classes:
            found.append("Say what makes a response pass and what makes it fail")
            found.append("Collect borderline cases and settle them in the guidelines")
        else:
            found.append("Give an example response for every value of the scale")
        if exact < RARELY_EXACT_SHARE and not in_classes:
            found.append("Consider fewer values: raters seldom choose the same one")
    elif not in_classes and exact < POOR_SHARE:
        found.append("Raters are close but seldom equal; that may do if one step matters little")
    if alpha < 0:
        found.append("Raters contradict one another: check which end of the scale is the good one")
        found.append("Check that all raters judge the same aspect of the response")
    elif alpha < NEAR_CHANCE_ALPHA:
        found.append("Agreement is near chance: start over with a clearer question")
    elif alpha < LOW_ALPHA:
        found.append("Clarify the question, split it if it asks two things, and calibrate again")
    if n_extreme:
        found.append(
            f"Discuss the {n_extreme} response{'s' * (n_extreme > 1)} in label_disagreements as a "
            "group, "
            "without changing the ratings already given"
        )
    return [Finding(question.id, "suggestion", text) for text in found]


def _named(question: RubricQuestion, value: float) -> str:
    """A rating as raters would say it."""
    if question.scale.is_binary:
        return f"{value:g} ({'pass' if value == 1 else 'fail'})"
    return f"{value:g}"
