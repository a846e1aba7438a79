"""How often judges that never read the responses are named as such."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.judge_verdicts import judge_verdict
from eval_assets.catalogue import Figure
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from eval_assets.stats import judge_human_profile

N_SETS = 200
"""Simulated evaluations of each kind and size."""

SIZES = {72: 0.95, 200: 1.0}
"""Responses, and the share of sets in which the judge has to be named at the least."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class People:
    """Three raters who see the quality of a response with error.

    Attributes:
        name: As the table calls them.
        scale: Their scale.
        cuts: Qualities at which the next value of the scale begins.
        n_alike: Responses of a group, which share half of the variance of their quality.
    """

    name: str
    scale: Scale
    cuts: tuple[float, ...]
    n_alike: int = 1

    @property
    def level(self) -> Level:
        """Level of measurement."""
        return self.scale.default_level()

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the ratings of `n` responses, and their groups."""
        groups = np.arange(n) // self.n_alike
        quality = rng.normal(size=n)
        if self.n_alike > 1:
            quality = (quality + rng.normal(size=n)[groups]) / np.sqrt(2)
        seen = quality[:, np.newaxis] + rng.normal(0, 0.4, (n, 3))
        assert self.scale.values is not None
        return np.asarray(self.scale.values)[np.searchsorted(self.cuts, seen)], groups


PEOPLE = (
    People("1-5", LIKERT5, (-1.2, -0.4, 0.4, 1.2)),
    People("1-5, most of them 4 or 5", LIKERT5, (-2.2, -1.5, -0.8, 0.3)),
    People("1-5, 6 responses a group", LIKERT5, (-1.2, -0.4, 0.4, 1.2), n_alike=6),
    People("1-4", Scale.from_steps(low=1, high=4), (-0.8, 0.0, 0.8)),
    People("binary, 50/50", BINARY, (0.0,)),
    People("binary, 90/10", BINARY, (-1.28,)),
)


def _constant(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return one value of the scale for every response."""
    assert scale.values is not None
    return np.full(len(ratings), rng.choice(scale.values))


def _median(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return the median rating for every response: the best constant there is."""
    del scale, rng
    return np.full(len(ratings), np.quantile(ratings, 0.5, method="lower"))


def _base_rate(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return values drawn as often as people give them."""
    del scale
    return rng.choice(ratings.ravel(), len(ratings))


def _length(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return scores that rise with the length of the response, which is not its quality."""
    assert scale.values is not None
    length = rng.lognormal(5, 1, len(ratings))
    ends = np.quantile(length, np.arange(1, len(scale.values)) / len(scale.values))
    return np.asarray(scale.values)[np.searchsorted(ends, length)]


def _reads(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return one rater's own ratings, a third of which are replaced by chance."""
    guessed = rng.random(len(ratings)) < 1 / 3
    return np.where(guessed, _base_rate(ratings, scale, rng), ratings[:, 0])


JUDGES: dict[str, Callable[[Floats, Scale, np.random.Generator], Floats]] = {
    "one score for all": _constant,
    "the median rating": _median,
    "base rate": _base_rate,
    "length": _length,
}
READS = "reads two thirds, guesses the rest"


def named(people: People, judge: str, n: int, *, n_sets: int) -> float:
    """Return the share of simulated sets in which the judge is named as one that never reads."""
    rng = np.random.default_rng(n)
    judged = JUDGES.get(judge, _reads)
    found = 0
    for _ in range(n_sets):
        ratings, groups = people.drawn(n, rng)
        profile = judge_human_profile(
            ratings,
            judged(ratings, people.scale, rng),
            scale=people.scale,
            level=people.level,
            confidence=0.95,
            groups=groups,
        )
        found += judge_verdict(
            Figure.of(profile.a_ha),
            shuffled=profile.a_ha_shuffled,
            above_shuffled=Figure.of(profile.a_ha_above_shuffled),
            above_constant=Figure.of(profile.a_ha_above_constant),
            above_people=Figure.of(profile.a_ha_above_people),
        ).is_control
    return found / n_sets


def table() -> str:
    """Simulate, and count the judges that are named."""
    heads = ["people", "judge", *(f"named at {n} responses" for n in SIZES), "target", "met"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    target = ", ".join(f"{100 * share:.0f} % at {n}" for n, share in SIZES.items())
    for people in PEOPLE:
        for judge in JUDGES:
            shares = {n: named(people, judge, n, n_sets=N_SETS) for n in SIZES}
            met = all(shares[n] >= least for n, least in SIZES.items())
            cells = [people.name, judge, *(f"{100 * share:.1f} %" for share in shares.values())]
            lines.append(f"| {' | '.join([*cells, target, 'yes' if met else '**no**'])} |")
        shares = {n: named(people, READS, n, n_sets=N_SETS) for n in SIZES}
        cells = [people.name, READS, *(f"{100 * share:.1f} %" for share in shares.values())]
        lines.append(f"| {' | '.join([*cells, '', ''])} |")
    return "\n".join(lines)
