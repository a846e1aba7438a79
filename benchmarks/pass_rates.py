"""Coverage and width of intervals of corrected means."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from eval_assets.stats import (
    Interval,
    prediction_powered_difference,
    prediction_powered_mean,
    rogan_gladen,
)

N_SETS = 1_000
"""Simulated evaluations of each kind, which tell a coverage of .95 to +-.014."""

PASS_RATES = (0.97, 0.9, 0.5)

JUDGES = {"no error": (1.0, 1.0), "95 / 70 %": (0.95, 0.7), "guesses 80 %": (0.8, 0.2)}
"""Share of passes, and of failures, that a judge calls so."""

RATED, UNRATED = (20, 40, 100, 300), 600
"""Responses that people rated, and others."""

ALIKE = {1: "", 5: ", 5 a group"}
"""Responses of a group, whose outcomes correlate by .5."""

LEAST_HELD = 0.92
"""Share of intervals that have to hold."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """Outcomes and a judge's scores, those that people rated first, and their groups."""

    passes: Floats
    judge: Floats
    groups: npt.NDArray[np.int64]

    def part(self, n_rated: int) -> tuple[Floats, Floats, Floats]:
        """Return labels, their scores, and scores of the others."""
        return self.passes[:n_rated], self.judge[:n_rated], self.judge[n_rated:]


def drawn(rate: float, judge: str, n: int, *, n_alike: int, rng: np.random.Generator) -> Answers:
    """Return `n` answers of which the share `rate` passes in the long run."""
    groups = np.arange(n) // n_alike
    passes = rng.random(n) < rate
    if n_alike > 1:  # beta-distributed rates of groups: their outcomes correlate by 1 / (1 + 1)
        passes = rng.random(n) < rng.beta(rate, 1 - rate, n // n_alike)[groups]
    called, cleared = JUDGES[judge]
    scores = np.where(passes, rng.random(n) < called, rng.random(n) >= cleared)
    return Answers(passes.astype(np.float64), scores.astype(np.float64), groups)


def figures(
    rate: float, judge: str, n_rated: int, *, n_alike: int, rng: np.random.Generator
) -> dict[str, tuple[float, Interval]]:
    """Return the true value and the interval of each figure of two systems that are alike."""
    n = n_rated + UNRATED
    one, other = (drawn(rate, judge, n, n_alike=n_alike, rng=rng) for _ in range(2))
    labels, scores, unlabelled = one.part(n_rated)
    rated_groups = one.groups[:n_rated]
    return {
        "labels alone": (
            rate,
            prediction_powered_mean(
                labels, labels, [], confidence=0.95, groups=rated_groups, bounds=(0, 1)
            ),
        ),
        "corrected": (
            rate,
            prediction_powered_mean(
                labels, scores, unlabelled, confidence=0.95, groups=one.groups, bounds=(0, 1)
            ),
        ),
        "difference": (
            0.0,
            prediction_powered_difference(
                one.part(n_rated),
                other.part(n_rated),
                confidence=0.95,
                groups=(one.groups, other.groups),
                bounds=(0, 1),
            ),
        ),
        "Rogan-Gladen": (rate, rogan_gladen(labels, scores, unlabelled, confidence=0.95)),
    }


def held(
    rate: float, judge: str, n_rated: int, *, n_alike: int, n_sets: int
) -> dict[str, tuple[float, float, float]]:
    """Return the share of intervals that hold, their mean width and the share that is undefined."""
    rng = np.random.default_rng(n_rated)
    result = [figures(rate, judge, n_rated, n_alike=n_alike, rng=rng) for _ in range(n_sets)]
    shares = {}
    for name in result[0]:
        ends = np.array([(true, i.low, i.high) for true, i in (row[name] for row in result)])
        true, low, high = ends[~np.isnan(ends[:, 1])].T
        holds = (low - 1e-9 <= true) & (true <= high + 1e-9)
        shares[name] = (
            float(holds.mean()) if len(holds) else float("nan"),
            float((high - low).mean()) if len(holds) else float("nan"),
            1 - len(holds) / n_sets,
        )
    return shares


def table() -> str:
    """Simulate, and count the intervals that hold."""
    names = ("labels alone", "corrected", "difference", "Rogan-Gladen")
    heads = ["pass rate", "judge", "rated", *(f"{name}: holds, width" for name in names)]
    heads += ["Rogan-Gladen undefined", f"first three hold {100 * LEAST_HELD:.0f} %"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for n_alike, rate, judge, n_rated in product(ALIKE, PASS_RATES, JUDGES, RATED):
        shares = held(rate, judge, n_rated, n_alike=n_alike, n_sets=N_SETS)
        cells = [f"{rate:g}", judge, f"{n_rated}{ALIKE[n_alike]}"]
        cells += [f"{shares[name][0]:.3f}, {shares[name][1]:.3f}" for name in names]
        is_met = all(shares[name][0] >= LEAST_HELD for name in names[:3])
        cells += [f"{shares[names[3]][2]:.2f}", "yes" if is_met else "**no**"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
