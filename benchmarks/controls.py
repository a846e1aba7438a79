"""Rates at which judges that do not read the responses are recognised, and others are not."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.judge_verdicts import judge_verdict
from eval_assets.catalogue import Figure
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from eval_assets.stats import judge_human_profile
from eval_assets.verdicts import JudgeVerdict

N_SETS = 200
"""Simulated evaluations of each kind and size; twice as many where a share of 5 % decides."""

SIZES = {72: 0.95, 200: 1.0}
"""Responses, and the share of sets in which the judge has to be named at the least."""

SIZES_OF_RARE_VALUES = {72: 0.8, 200: 0.95}
"""Likewise where one value is rare. In the other sets the verdict is inconclusive."""

DESIGNS = ((30, 1), (6, 10), (10, 10), (10, 30), (12, 6), (50, 10))
"""Groups, and responses of each, of the table of judges that read."""

MOST_WRONG, FEWEST_GROUPS = 0.05, 10
"""Share of sets in which a judge that reads may be named as one that does not, and the groups from
which on."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class People:
    """Three raters who see the quality of a response with error.

    Attributes:
        name: As the table calls them.
        scale: Their scale.
        cuts: Qualities at which the next value of the scale begins.
        n_alike: Responses of a group.
        named: By number of responses, the least share of sets in which a judge that never reads
            is named.
        shared: Share of the variance of their quality that the responses of a group share.
    """

    name: str
    scale: Scale
    cuts: tuple[float, ...]
    n_alike: int = 1
    named: Mapping[int, float] = field(default_factory=lambda: SIZES)
    shared: float = 0.5

    @property
    def level(self) -> Level:
        """Level of measurement."""
        return self.scale.default_level()

    def drawn(
        self, n: int, rng: np.random.Generator, *, n_raters: int = 3
    ) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the ratings of `n` responses, and their groups."""
        groups = np.arange(n) // self.n_alike
        quality = rng.normal(size=n)
        if self.n_alike > 1:
            of_response, of_group = np.sqrt([1 - self.shared, self.shared])
            quality = of_response * quality + of_group * rng.normal(size=n)[groups]
        impression = quality[:, np.newaxis] + rng.normal(0, 0.4, (n, n_raters))
        assert self.scale.values is not None
        return np.asarray(self.scale.values)[np.searchsorted(self.cuts, impression)], groups


PEOPLE = (
    People("1-5", LIKERT5, (-1.2, -0.4, 0.4, 1.2)),
    People("1-5, most of them 4 or 5", LIKERT5, (-2.2, -1.5, -0.8, 0.3)),
    People("1-5, 6 responses a group", LIKERT5, (-1.2, -0.4, 0.4, 1.2), n_alike=6),
    People("1-4", Scale.from_steps(low=1, high=4), (-0.8, 0.0, 0.8)),
    People("binary, 50/50", BINARY, (0.0,)),
    People("binary, 90/10", BINARY, (-1.28,), named=SIZES_OF_RARE_VALUES),
)

READ_PEOPLE = (
    *(people for people in PEOPLE if people.n_alike == 1),
    People("1-9", Scale.from_steps(low=1, high=9), tuple(np.linspace(-1.75, 1.75, 8))),
    People("0-100", Scale.from_steps(low=0, high=100), tuple(np.linspace(-2, 2, 100))),
)
"""Those that judges that read are compared with."""


def _constant(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return one value of the scale for every response."""
    assert scale.values is not None
    return np.full(len(ratings), rng.choice(scale.values))


def _median(ratings: Floats, scale: Scale, rng: np.random.Generator) -> Floats:
    """Return the median rating for every response, the best constant."""
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


PROMPT_ONLY = "reads only the prompt"
"""A judge that gives each response of a group the median of all ratings of that group."""

PROMPT_DESIGNS, SHARED = ((10, 10), (30, 4), (30, 10), (50, 2)), (0.5, 0.7, 0.9)
"""Groups, responses of each, and shares of the variance of quality that lie between groups, of the
table of judges that read only the prompt."""


def _of_prompts(ratings: Floats, groups: npt.NDArray[np.int64]) -> Floats:
    by_group = [ratings[groups == group] for group in range(groups.max() + 1)]
    return np.array([np.quantile(rated, 0.5, method="lower") for rated in by_group])[groups]


FURTHER_RATERS = {"one more person": 1, "median of five more people": 5}
"""Judges that read all responses: the median of so many raters who are none of the three."""


def named(people: People, judge: str, n: int, *, n_sets: int) -> float:
    """Return the share of simulated sets in which the judge is named as one that never reads."""
    verdicts = verdicts_on(people, judge, n, n_sets=n_sets)
    return sum(verdicts[verdict] for verdict in JudgeVerdict if verdict.is_control) / n_sets


def verdicts_on(people: People, judge: str, n: int, *, n_sets: int) -> Counter[JudgeVerdict]:
    """Return how often each verdict is given on a judge of `n` responses."""
    rng = np.random.default_rng(n)
    n_further = FURTHER_RATERS.get(judge, 0)
    counts: Counter[JudgeVerdict] = Counter()
    for _ in range(n_sets):
        ratings, groups = people.drawn(n, rng, n_raters=3 + n_further)
        ratings, further = ratings[:, :3], ratings[:, 3:]
        if n_further:
            scores = np.median(further, axis=1)
        elif judge == PROMPT_ONLY:
            scores = _of_prompts(ratings, groups)
        else:
            scores = JUDGES.get(judge, _reads)(ratings, people.scale, rng)
        counts[_verdict(people, ratings, scores, groups)] += 1
    return counts


def _verdict(
    people: People, ratings: Floats, scores: Floats, groups: npt.NDArray[np.int64]
) -> JudgeVerdict:
    profile = judge_human_profile(
        ratings, scores, scale=people.scale, level=people.level, confidence=0.95, groups=groups
    )
    return judge_verdict(
        Figure.of(profile.a_ha),
        shuffled=profile.a_ha_shuffled,
        constant=profile.a_ha_constant,
        above_shuffled=Figure.of(profile.a_ha_above_shuffled),
        above_constant=Figure.of(profile.a_ha_above_constant),
        above_people=Figure.of(profile.a_ha_above_people),
        within=Figure.of(profile.a_ha_within),
        people_within=Figure.of(profile.a_hh_within),
        within_above_people=Figure.of(profile.a_ha_within_above_people),
        spearman=Figure.of(profile.spearman),
    )


def table() -> str:
    """Simulate judges that do not read and judges that do, and count the verdicts."""
    return f"{_never_reads()}\n\n{_reads_all()}\n\n{_reads_prompts()}"


def _never_reads() -> str:
    heads = ["people", "judge", *(f"named at {n} responses" for n in SIZES), "target", "met"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for people in PEOPLE:
        target = ", ".join(f"{100 * share:.0f} % at {n}" for n, share in people.named.items())
        for judge in (*JUDGES, READS):
            shares = {n: named(people, judge, n, n_sets=N_SETS) for n in SIZES}
            met = all(shares[n] >= least for n, least in people.named.items())
            ends = ["", ""] if judge == READS else [target, "yes" if met else "**no**"]
            cells = [people.name, judge, *(f"{100 * share:.1f} %" for share in shares.values())]
            lines.append(f"| {' | '.join([*cells, *ends])} |")
    return "\n".join(lines)


def _reads_all() -> str:
    heads = ["people", "judge", "groups x responses", "named", "inconclusive"]
    heads += ["below people", "matches people", f"named in at most {100 * MOST_WRONG:.0f} %"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for people in READ_PEOPLE:
        for judge in FURTHER_RATERS:
            for n_groups, n_alike in DESIGNS:
                alike = replace(people, n_alike=n_alike)
                counts = verdicts_on(alike, judge, n_groups * n_alike, n_sets=2 * N_SETS)
                wrong = sum(counts[verdict] for verdict in JudgeVerdict if verdict.is_control)
                is_met = wrong <= MOST_WRONG * 2 * N_SETS
                met = ("yes" if is_met else "**no**") if n_groups >= FEWEST_GROUPS else ""
                shown = [wrong, *(counts[verdict] for verdict in _OTHERS)]
                shares = [f"{100 * count / (2 * N_SETS):.1f} %" for count in shown]
                cells = [people.name, judge, f"{n_groups} x {n_alike}", *shares, met]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _reads_prompts() -> str:
    heads = ["people", "of the variance between groups", "groups x responses", "judge", "named"]
    heads += ["inconclusive", "below people", "matches people"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for people in (people for people in PEOPLE if people.n_alike == 1):
        for shared in SHARED:
            for n_groups, n_alike in PROMPT_DESIGNS:
                for judge in (PROMPT_ONLY, "one more person"):
                    alike = replace(people, n_alike=n_alike, shared=shared)
                    counts = verdicts_on(alike, judge, n_groups * n_alike, n_sets=N_SETS)
                    named = sum(counts[verdict] for verdict in JudgeVerdict if verdict.is_control)
                    shown = [named, *(counts[verdict] for verdict in _OTHERS)]
                    shares = [f"{100 * count / N_SETS:.1f} %" for count in shown]
                    design = [f"{100 * shared:.0f} %", f"{n_groups} x {n_alike}", judge]
                    lines.append(f"| {' | '.join([people.name, *design, *shares])} |")
    return "\n".join(lines)


_OTHERS = (JudgeVerdict.INCONCLUSIVE, JudgeVerdict.BELOW_HUMANS, JudgeVerdict.MATCHES_HUMANS)
