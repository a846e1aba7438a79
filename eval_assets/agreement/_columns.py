"""Measured statistics as columns of their tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_assets.statistics import Statistic
from eval_assets.stats import Interval

CONFIDENCE = 0.95


def statistic_columns(table: Sequence[Statistic], measured: Mapping[str, Any]) -> dict[str, float]:
    """Return the columns of those statistics of `table` that were measured, in its units.

    Args:
        table: Statistics of the table.
        measured: An Interval or a number by column; shares lie in [0, 1]. Other entries are not
            read.

    Examples:
        >>> from eval_assets.statistics import HUMAN_AGREEMENT
        >>> exact = Interval(0.5, 0.25, 0.75, CONFIDENCE, "wilson", n_units=60, n_groups=60)
        >>> statistic_columns(HUMAN_AGREEMENT, {"exact_agreement": exact})
        {'exact_agreement': 50.0, 'exact_agreement_low': 25.0, 'exact_agreement_high': 75.0}
    """
    columns: dict[str, float] = {}
    for statistic in table:
        figure = measured.get(statistic.column)
        if figure is None:
            continue
        ends = (
            (figure.value, figure.low, figure.high) if isinstance(figure, Interval) else (figure,)
        )
        times = 100 if statistic.unit == "percent" else 1
        columns |= zip(statistic.columns, (times * float(end) for end in ends), strict=True)
    return columns
