"""How often 95 % intervals hold the true value: simulated answers of which it is known."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.stats import (
    Alpha,
    Coefficient,
    HumanAgreement,
    RatingPatterns,
    estimate,
    jackknife_interval,
)
from eval_assets.stats.intervals import intervals
from eval_assets.stats.resampling import ResampledUnits

N_REPLICATIONS = 3_000
"""Simulated data sets of each size: a coverage of .95 is known to +-.008."""

N_RESAMPLES = 1_000
SIZES = (10, 20, 50, 200)
METHODS = ("BCa bootstrap", "jackknife-t")
COEFFICIENTS: dict[str, Coefficient] = {
    "A^HH": HumanAgreement(1, 5),
    "alpha, interval": Alpha("interval"),
    "alpha, ordinal": Alpha("ordinal"),
}

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
        true = [estimate(coefficient, population) for coefficient in COEFFICIENTS.values()]
        shares = np.stack([_coverage(setting, true, n, rng) for n in SIZES], axis=-1)
        for name, value, by_method in zip(COEFFICIENTS, true, shares, strict=True):
            for method, by_size in zip(METHODS, by_method, strict=True):
                cells = [setting.name, name, f"{value:.3f}", method, *(f"{s:.3f}" for s in by_size)]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _coverage(
    setting: Setting, true: list[float], n_units: int, rng: np.random.Generator
) -> Floats:
    """Share of intervals that hold the true value, of shape (n_coefficients, n_methods).

    An undefined interval does not hold it.
    """
    held = np.zeros((len(COEFFICIENTS), len(METHODS)))
    for _ in range(N_REPLICATIONS):
        patterns = RatingPatterns.from_matrix(setting.drawn(n_units, rng))
        coefficients = list(COEFFICIENTS.values())
        bootstrap = intervals(
            [coefficient.estimator(patterns) for coefficient in coefficients],
            ResampledUnits.of(patterns, coefficients),
            confidence=0.95,
            n_resamples=N_RESAMPLES,
            rng=rng,
        )
        jackknife = [jackknife_interval(patterns, c, confidence=0.95) for c in coefficients]
        for row, value, found in zip(
            held, true, zip(bootstrap, jackknife, strict=True), strict=True
        ):
            row += [interval.low <= value <= interval.high for interval in found]
    return held / N_REPLICATIONS
