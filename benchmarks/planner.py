"""Reliability of the planner's probability of a certain verdict, by number of labels."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Row, markdown
from eval_assets.labelling.planning import CONFIDENCE, ENOUGH, figure_by, plan_gate
from eval_assets.stats import Alpha, coefficient_interval

Floats = NDArray[np.float64]

SIZES = (20, 50, 100)
NOISES = (0.35, 0.5, 0.6, 0.7, 0.9)
"""Spread of a rater's errors, in points: alpha of about .85, .74, .67, .59 and .46."""
STUDIES = 40
SIMULATIONS = 200
TRUTHS = 60
MINIMUM = 0.667
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)
DISTANCE = 0.1


def table() -> str:
    """Simulate all studies and return the rows as Markdown."""
    rows: list[Row] = []
    for n in SIZES:
        rows += _rows(n, np.array(list(_studies(n))))
    return markdown(rows)


def _studies(n: int) -> Iterator[tuple[float, float, float, float]]:
    """Yield the planner's probability, its interval and the true probability of each study."""
    for number, noise in enumerate(np.repeat(NOISES, STUDIES)):
        rng = np.random.default_rng([n, number])
        ratings = _ratings(n, noise, rng)
        plan = plan_gate(
            ratings[:, None],
            figure_by(Alpha("interval")),
            groups=np.arange(n),
            question_id="q",
            gate="human_alpha",
            minimum=MINIMUM,
            n_more=[n],
            n_simulations=SIMULATIONS,
            rng=rng,
        )
        if plan.is_certain or not plan.outlooks:
            continue
        [outlook] = plan.outlooks
        certain = [
            _is_certain(np.vstack([ratings, _ratings(n, noise, rng)])) for _ in range(TRUTHS)
        ]
        yield (
            outlook.p_certain,
            outlook.p_certain_low,
            outlook.p_certain_high,
            float(np.mean(certain)),
        )


def _ratings(n: int, noise: float, rng: np.random.Generator) -> Floats:
    quality = rng.normal(3, 0.9, n)[:, None]
    rounded: Floats = np.clip(np.rint(quality + rng.normal(0, noise, (n, 2))), 1, 5)
    return rounded


def _is_certain(ratings: Floats) -> bool:
    groups = np.arange(len(ratings))
    now = coefficient_interval(ratings, Alpha("interval"), confidence=CONFIDENCE, groups=groups)
    return bool(now.low >= MINIMUM or now.high < MINIMUM)


def _rows(n: int, studies: Floats) -> Iterator[Row]:
    """Yield a row for each bin of the probability, and one for the interval."""
    predicted, low, high, true = studies.T
    for start, end in pairwise(BINS):
        chosen = (predicted >= start) & (predicted < end)
        if chosen.any():
            work = (
                f"{n} responses, planned {start:.1f} to {min(end, 1):.1f} ({chosen.sum()} studies)"
            )
            mean, truth = float(predicted[chosen].mean()), float(true[chosen].mean())
            result = f"planned {mean:.2f}, true {truth:.2f}"
            is_near = abs(mean - truth) <= DISTANCE
            yield Row(work, result, "", "", f"at most {DISTANCE} apart", is_near)
    for name, chosen in (
        ("recommended, as the lower end is", low >= ENOUGH),
        ("not recommended, though the probability is", (predicted >= ENOUGH) & (low < ENOUGH)),
    ):
        work = f"{n} responses, {name} at least {ENOUGH} ({chosen.sum()} studies)"
        yield Row(
            work, f"true {true[chosen].mean():.2f}" if chosen.any() else "none", "", "", "", None
        )
    inside = float(((low <= true) & (true <= high)).mean())
    work = f"{n} responses, interval holds the true probability ({len(true)} studies)"
    yield Row(work, f"{inside:.0%}", "", "", "at least 90%", inside >= 0.9)
