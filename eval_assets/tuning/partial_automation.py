"""Partial automation: the judge scores responses of little doubt, and people rate the rest.

The doubt of a unit needs no label. The part of the units whose doubt is small enough is chosen on
train and dev, and tested once on the held-out test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from eval_assets.scale import TOLERANCE
from eval_assets.stats import NonInferiority, partial_non_inferiority
from eval_assets.stats.beside_people import FEWEST_PAIRED_GROUPS
from eval_assets.tuning.rated import Floats, RatedUnits, outside_test

OTHER_JUDGES = "other judges"
REPLICATES = "its replicates"
"""Sources of doubt beside the names of judges."""

MOST_THRESHOLDS = 12
"""Number of thresholds to try for each source: distinct doubts, or else quantiles."""

_DECIMALS = 9
"""Difference below which doubts are equal, because means of scores are not exact."""


@dataclass(frozen=True)
class JudgePart:
    """The part of the responses on which a judge replaces a rater, fixed before an evaluation.

    Args:
        doubt_source: Another judge, `OTHER_JUDGES` for their mean, or `REPLICATES`.
        doubt_threshold: Largest doubt of the part, in points of the scale.
    """

    doubt_source: str
    doubt_threshold: float

    def contains(self, doubts: Floats) -> np.ndarray:
        """Return which units belong to the part; units without a doubt do not."""
        return doubts <= self.doubt_threshold + TOLERANCE


@dataclass(frozen=True)
class TriedPart:
    """A part with its figures on train and dev.

    Args:
        is_confirmable: Whether the test is expected to confirm it in four of five tries.
    """

    part: JudgePart
    compared: NonInferiority
    is_confirmable: bool


def doubts_by_source(
    judge_id: str, scores: Mapping[str, Floats], spread: Floats | None, *, is_ordered: bool
) -> dict[str, Floats]:
    """Return the doubt of every unit by source; NaN if a score is missing.

    `spread` is the highest minus the lowest score of the judge's replicates. Classes without order
    only differ or not.
    """
    judge_scores = scores[judge_id]
    peers = {name: values for name, values in scores.items() if name != judge_id}
    doubts: dict[str, Floats] = {}
    for name, values in sorted(peers.items()):
        distance = np.abs(judge_scores - values)
        doubts[name] = distance if is_ordered else np.sign(distance)
    if is_ordered and len(peers) > 1:
        doubts[OTHER_JUDGES] = np.abs(judge_scores - np.mean(list(peers.values()), axis=0))
    if spread is not None:
        doubts[REPLICATES] = np.where(np.isnan(judge_scores), np.nan, spread)
    return {
        source: np.round(values, _DECIMALS)
        for source, values in doubts.items()
        if not np.isnan(values).all()
    }


def partial_comparison(
    units: RatedUnits, scores: Floats, doubts: Floats, part: JudgePart, *, margin: float
) -> NonInferiority:
    """Compare the judge on a part and people on the rest with people on all units with a doubt."""
    return partial_non_inferiority(
        units.ratings,
        np.where(np.isnan(doubts), np.nan, scores),
        part.contains(doubts),
        margin=margin,
        level=units.level,
        groups=units.group_codes,
    )


def tried_parts(
    units: RatedUnits,
    scores: Floats,
    doubts: Mapping[str, Floats],
    *,
    margin: float,
    significance: float,
) -> list[TriedPart]:
    """Return all candidate parts of one judge, with their figures on train and dev.

    Labels of the test are not read, only the number of its groups that could decide.
    """
    is_seen = ~units.is_in("test")
    development_units, judge_scores = outside_test(units), scores[is_seen]
    is_paired = np.count_nonzero(~np.isnan(units.ratings), axis=1) > 1
    candidates = []
    for source, values in doubts.items():
        is_decided = is_paired & ~is_seen & ~np.isnan(values) & ~np.isnan(scores)
        n_test = units.n_groups_of(is_decided)
        for threshold in _thresholds(values[is_seen]):
            part = JudgePart(source, threshold)
            n_kept = units.n_groups_of(is_decided & part.contains(values))
            compared = partial_comparison(
                development_units, judge_scores, values[is_seen], part, margin=margin
            )
            statistic = compared.shortfall  # without spread nothing varies, or no pair is kept
            is_confirmable = n_kept >= FEWEST_PAIRED_GROUPS and statistic.standard_error > 0
            # Of the choice and not of the test, which decides by a stricter rule.
            is_confirmable = is_confirmable and statistic.value >= statistic.scaled_to(
                n_test
            ).detectable_by(p_value=significance / 4)
            candidates.append(TriedPart(part, compared, is_confirmable))
    return candidates


def chosen_part(candidates: list[TriedPart]) -> TriedPart | None:
    """Return the confirmable part with the largest share; None without one.

    There is none either if the judge is expected to be found fit on all units: that claim is tested
    anyway, and a part would take a share of the level.
    """
    confirmable = (item for item in candidates if item.is_confirmable)
    best = max(confirmable, key=lambda item: item.compared.share, default=None)
    if best is None or best.compared.share > 1 - TOLERANCE:
        return None
    return best


def part_sentence(judge_id: str, part: JudgePart, share: float) -> str:
    """Return a sentence on the responses that a judge may score and that people rate.

    Examples:
        >>> part_sentence("a", JudgePart("b", 1.0), 0.8416).partition(";")[0]
        'a can replace a rater on 84 % of what it scores (where b is within 1 point)'
    """
    return (
        f"{judge_id} can replace a rater on {round(100 * share)} % of what it scores "
        f"({part_condition(part)}); people rate the rest"
    )


def part_condition(part: JudgePart) -> str:
    """Return the condition that responses of a part meet.

    Examples:
        >>> part_condition(JudgePart("gpt", 0.0)), part_condition(JudgePart(REPLICATES, 0.5))
        ('where gpt gives the same score', 'where its replicates are within 0.5 points')
    """
    source, threshold = part.doubt_source, part.doubt_threshold
    subject, verb, give = source, "is", "gives"
    if source == OTHER_JUDGES:
        subject = "the mean of the other judges"
    elif source == REPLICATES:
        verb, give = "are", "give"
    if threshold == 0:
        return f"where {subject} {give} the same score"
    return f"where {subject} {verb} within {threshold:.3g} point{'' if threshold == 1 else 's'}"


def _thresholds(doubts: Floats) -> Iterator[float]:
    distinct = np.unique(doubts[~np.isnan(doubts)])
    if len(distinct) > MOST_THRESHOLDS:
        shares = np.arange(1, MOST_THRESHOLDS + 1) / MOST_THRESHOLDS
        distinct = np.unique(np.quantile(doubts[~np.isnan(doubts)], shares, method="inverted_cdf"))
    yield from distinct.tolist()
