"""Every statistic of every table, listed once: its column, name, unit and meaning.

What is measured, what the tables hold and what the report shows all read these lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["coefficient", "percent", "points", "probability"]
"""Coefficients are 1 for perfect agreement; points are those of the question's scale."""


@dataclass(frozen=True)
class Statistic:
    """One statistic of a table.

    Args:
        column: Its column; `{column}_low` and `{column}_high` hold the ends of its interval.
        title: Its name for people.
        unit: What its values are in.
        meaning: What it says, with its source.
        has_interval: Whether it has a 95 % interval.
    """

    column: str
    title: str
    unit: Unit
    meaning: str
    has_interval: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the statistic and of its interval."""
        ends = (f"{self.column}_low", f"{self.column}_high") if self.has_interval else ()
        return (self.column, *ends)


_EXACT = Statistic(
    "exact_agreement", "Exact agreement", "percent", "share of pairs of equal ratings, pooled"
)
_ADJACENT = Statistic(
    "adjacent_agreement",
    "Adjacent agreement",
    "percent",
    "share of pairs at most one step of the scale apart, pooled",
)

HUMAN_AGREEMENT = (
    Statistic(
        "a_hh",
        "A^HH",
        "coefficient",
        "mean over responses of 1 minus the distance of two ratings on [0, 1] (GDPval)",
    ),
    Statistic(
        "a_hh_by_chance",
        "A^HH by chance",
        "coefficient",
        "A^HH of raters who give each value as often, but to any response",
        has_interval=False,
    ),
    _EXACT,
    _ADJACENT,
    Statistic(
        "alpha",
        "Krippendorff's alpha",
        "coefficient",
        "agreement beyond chance; ratings may be missing (Krippendorff 2004)",
    ),
    Statistic(
        "alpha_within",
        "Krippendorff's alpha within questions",
        "coefficient",
        "overall only: alpha with chance taken within each question, which differences between "
        "questions do not raise",
    ),
    Statistic(
        "kappa",
        "Kappa",
        "coefficient",
        "agreement beyond chance on equal values: Cohen's for two raters, Fleiss' for more",
    ),
    Statistic(
        "gwet_ac",
        "Gwet's AC",
        "coefficient",
        "agreement beyond chance, steadier on skewed ratings (Gwet 2008)",
    ),
    Statistic(
        "most_frequent_share",
        "Most frequent value",
        "coefficient",
        "share of all ratings that have the most frequent value; high means skewed",
        has_interval=False,
    ),
)
"""Statistics of the table `human_agreement`."""

_A_HH, _ALPHA = (
    next(each for each in HUMAN_AGREEMENT if each.column == column) for column in ("a_hh", "alpha")
)

ROUND_AGREEMENT = (
    _A_HH,
    _ALPHA,
    Statistic(
        "a_hh_gain",
        "Gain of A^HH",
        "coefficient",
        "A^HH less that of the round before, on the responses rated in both",
    ),
    Statistic(
        "alpha_gain",
        "Gain of alpha",
        "coefficient",
        "alpha less that of the round before, on the responses rated in both",
    ),
)
"""Statistics of the table `agreement_by_round`."""

JUDGE_AGREEMENT = (
    Statistic(
        "alpha",
        "Krippendorff's alpha",
        "coefficient",
        "agreement of judges beyond chance; scores may be missing (Krippendorff 2004)",
    ),
    Statistic(
        "alpha_within",
        "Krippendorff's alpha within questions",
        "coefficient",
        "overall only: alpha with chance taken within each question, which differences between "
        "questions do not raise",
    ),
    Statistic(
        "kappa_macro",
        "Kappa (macro)",
        "coefficient",
        "Cohen's kappa of scores above the middle of the scale: mean over prompts",
        has_interval=False,
    ),
    Statistic(
        "kappa_micro",
        "Kappa (micro)",
        "coefficient",
        "Cohen's kappa of scores above the middle of the scale: all units pooled",
        has_interval=False,
    ),
)
"""Statistics of the table `judge_agreement`."""

JUDGE_HUMAN_AGREEMENT = (
    Statistic(
        "a_ha",
        "A^HA",
        "coefficient",
        "mean over responses of 1 minus the distance of score and rating on [0, 1] (GDPval)",
    ),
    Statistic(
        "a_ha_constant",
        "A^HA of the best constant score",
        "coefficient",
        "control: the best judge that never reads the response",
        has_interval=False,
    ),
    Statistic(
        "a_ha_shuffled",
        "A^HA of its own scores, shuffled",
        "coefficient",
        "control: this judge's scores in random order",
        has_interval=False,
    ),
    Statistic(
        "a_ha_above_constant",
        "A^HA above the constant score",
        "coefficient",
        "A^HA less that of the best constant score, on the same responses",
    ),
    Statistic(
        "a_ha_above_shuffled",
        "A^HA above its shuffled scores",
        "coefficient",
        "A^HA less that of its scores in random order",
    ),
    Statistic(
        "a_ha_above_people",
        "A^HA above A^HH",
        "coefficient",
        "A^HA less the A^HH of the same responses; above 0 the judge agrees with people more than "
        "they with each other",
    ),
    _EXACT,
    _ADJACENT,
    Statistic(
        "alpha",
        "Krippendorff's alpha",
        "coefficient",
        "of score and mean human rating, at the interval level (Krippendorff 2004)",
    ),
    Statistic(
        "kappa",
        "Cohen's kappa",
        "coefficient",
        "of the score's nearest value and the raters' consensus (Cohen 1960)",
    ),
    Statistic(
        "weighted_kappa",
        "Cohen's kappa (quadratic weights)",
        "coefficient",
        "as kappa, with distant values counting as worse (Cohen 1968)",
    ),
    Statistic(
        "spearman",
        "Spearman's rho",
        "coefficient",
        "whether the judge ranks responses as the mean human rating does",
    ),
    Statistic(
        "kendall",
        "Kendall's tau-b",
        "coefficient",
        "the same over pairs of responses, corrected for ties",
    ),
    Statistic(
        "pearson",
        "Pearson's r",
        "coefficient",
        "whether score and mean human rating rise in a straight line",
    ),
    Statistic(
        "mae",
        "Mean absolute error",
        "points",
        "mean distance of score and mean human rating",
    ),
    Statistic(
        "bias",
        "Judge minus humans",
        "points",
        "mean of score minus mean human rating; above 0 the judge is more lenient",
    ),
    Statistic(
        "wilcoxon_p",
        "Wilcoxon signed-rank test (p)",
        "probability",
        "how easily chance alone gives such a bias, on means of response groups; NULL below 10",
        has_interval=False,
    ),
)
"""Statistics of the table `judge_human_agreement`."""

STATISTICS: Mapping[str, Sequence[Statistic]] = {
    "human_agreement": HUMAN_AGREEMENT,
    "agreement_by_round": ROUND_AGREEMENT,
    "judge_agreement": JUDGE_AGREEMENT,
    "judge_human_agreement": JUDGE_HUMAN_AGREEMENT,
}
"""The lists by table."""
