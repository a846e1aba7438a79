"""How often 95 % intervals hold the true value: simulated answers of which it is known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.stats import (
    Alpha,
    Coefficient,
    HumanAgreement,
    Interval,
    RatingPatterns,
    coefficient_interval,
    estimate,
    jackknife_interval,
)

N_REPLICATIONS = 1_000
"""Simulated data sets of each size: a coverage of .95 is known to +-.014."""

N_RESAMPLES = 1_000
SIZES = (10, 20, 50, 200)
COEFFICIENTS: tuple[tuple[str, Coefficient], ...] = (
    ("A^HH", HumanAgreement(1, 5)),
    ("alpha, interval", Alpha("interval")),
    ("alpha, ordinal", Alpha("ordinal")),
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """Raters who see the quality of a response with error and round it to 1-5.

    Attributes:
        name: As the table calls it.
        n_raters: Raters of each response, a tenth of whose ratings are missing.
        quality: Mean quality of the responses; 4.2 is skewed towards 5.
    """

    name: str
    n_raters: int
    quality: float

    def drawn(self, n_units: int, rng: np.random.Generator) -> Floats:
        """Ratings of shape (n_units, n_raters)."""
        quality = rng.normal(self.quality, 1.2, (n_units, 1))
        seen = quality + rng.normal(0, 0.7, (n_units, self.n_raters))
        ratings: Floats = np.rint(np.clip(seen, 1, 5))
        ratings[rng.random(ratings.shape) < 0.1] = np.nan
        return ratings


SETTINGS = (Setting("2 raters", 2, 3.0), Setting("3 raters, skewed", 3, 4.2))


def table() -> str:
    """Simulate, and count the intervals that hold the true value."""
    heads = ["answers by", "coefficient", "true value", "interval", *(f"N = {n}" for n in SIZES)]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for setting in SETTINGS:
        rng = np.random.default_rng(1)
        population = RatingPatterns.from_matrix(setting.drawn(2_000_000, rng))
        for name, coefficient in COEFFICIENTS:
            true = estimate(coefficient, population)
            for method, interval in _methods(coefficient, rng):
                shares = [_coverage(setting, interval, true, n, rng) for n in SIZES]
                cells = [setting.name, name, f"{true:.3f}", method, *(f"{s:.3f}" for s in shares)]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _methods(
    coefficient: Coefficient, rng: np.random.Generator
) -> list[tuple[str, Callable[[RatingPatterns], Interval]]]:
    def bootstrap(patterns: RatingPatterns) -> Interval:
        return coefficient_interval(
            patterns, coefficient, confidence=0.95, n_resamples=N_RESAMPLES, rng=rng
        )

    def jackknife(patterns: RatingPatterns) -> Interval:
        return jackknife_interval(patterns, coefficient, confidence=0.95)

    return [("BCa bootstrap", bootstrap), ("jackknife-t", jackknife)]


def _coverage(
    setting: Setting,
    interval: Callable[[RatingPatterns], Interval],
    true: float,
    n_units: int,
    rng: np.random.Generator,
) -> float:
    """Share of intervals that hold `true`; an undefined one does not."""
    held = 0
    for _ in range(N_REPLICATIONS):
        found = interval(RatingPatterns.from_matrix(setting.drawn(n_units, rng)))
        held += found.low <= true <= found.high
    return held / N_REPLICATIONS
