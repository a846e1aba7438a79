"""Error rates and power of the verdicts of judge tuning, on simulated judges."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import norm

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.claim_results import (
    MOST_EVALUATIONS,
    coarse_gain,
    evaluation_significance,
    judge_fitness,
    judge_improvement,
)
from eval_assets.tuning.partial_automation import (
    JudgePart,
    chosen_part,
    partial_comparison,
    tried_parts,
)
from eval_assets.tuning.rated import RatedUnits

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

N_EVALUATIONS = 2_000
"""Simulated evaluations behind each share: one of .05 is known to +-.01."""

N_SELECTED = 4_000
"""Simulated selections behind each share."""

ANSWERS_PER_GROUP = 4
MARGIN = 0.10
SIZES = (24, 40, 100)


@dataclass(frozen=True)
class World:
    """Answers whose quality raters and judges see with error, and put on a scale.

    Attributes:
        name: As the table calls it.
        scale: The scale.
        cuts: Quality from which on each higher value is given.
        noise: Standard deviation of a rater's error; quality itself has 1. It is such that people
            agree just well enough for the gates: their figure is about .70.
    """

    name: str
    scale: Scale
    cuts: tuple[float, ...]
    noise: float

    def rated(self, quality: Floats, rng: np.random.Generator, *, noise: float) -> Floats:
        """Return the values of a rater or judge with such an error."""
        values = np.asarray(self.scale.values)
        impression = quality + rng.normal(0, noise, len(quality))
        inputs: Floats = values[np.searchsorted(self.cuts, impression)]
        return inputs

    def people(
        self, quality: Floats, group: Integers, rng: np.random.Generator, *, split: str
    ) -> RatedUnits:
        """Return units rated by three people."""
        n_units = len(quality)
        ratings = [self.rated(quality, rng, noise=self.noise) for _ in range(3)]
        return RatedUnits(
            question=RubricQuestion("q", "?", self.scale, level="ordinal"),
            response_ids=np.arange(n_units).astype(str),
            groups=group,  # type: ignore[arg-type]
            splits=np.full(n_units, split),
            ratings=np.stack(ratings, axis=1),
            scores={},
            models=np.full(n_units, ""),
            prompt_texts=np.full(n_units, ""),
            response_texts=np.full(n_units, ""),
        )

    def agreement(self, first_noise: float, second_noise: float) -> float:
        """Return the agreement beyond chance of two such errors, by integration over quality."""
        quality = np.linspace(-9, 9, 6001)
        weight = norm.pdf(quality) * (quality[1] - quality[0])
        values = np.asarray(self.scale.values)

        def moments(noise: float) -> tuple[Floats, Floats]:
            above = norm.cdf((quality[:, np.newaxis] - np.asarray(self.cuts)) / noise)
            ends = np.zeros((len(quality), 1))
            chance = np.diff(np.hstack([ends, 1 - above, ends + 1]), axis=1)
            return chance @ values, chance @ values**2

        (first, first_square), (second, second_square) = map(moments, (first_noise, second_noise))
        squares = weight @ (first_square + second_square)
        by_chance = squares - 2 * (weight @ first) * (weight @ second)
        return float(1 - (squares - 2 * (weight @ (first * second))) / by_chance)


FIVE_LEVELS = World("5 levels", LIKERT5, (-1.3, -0.45, 0.45, 1.3), noise=0.58)
SKEWED = World("5 levels, most of them 5", LIKERT5, (-2.6, -1.9, -1.2, -0.3), noise=0.5)
EVEN = World("binary, 50/50", BINARY, (0.0,), noise=0.35)
RARE = World("binary, 90/10", BINARY, (1.33,), noise=0.27)
VERY_RARE = World("binary, 97/3", BINARY, (1.92,), noise=0.21)


@cache
def noise_at_margin(world: World, *, margin: float = MARGIN) -> float:
    """Return the error of a judge whose agreement with people is `margin` below people's."""
    people = world.agreement(world.noise, world.noise)

    def above_margin(noise: float) -> float:
        return world.agreement(world.noise, noise) - people + margin

    return float(brentq(above_margin, world.noise, 12 * world.noise))


def groups_of(n_groups: int) -> Integers:
    """Return the group of each answer, the same number of answers in each."""
    return np.repeat(np.arange(n_groups), ANSWERS_PER_GROUP)


def quality_of(group: Integers, rng: np.random.Generator, *, shared: float = 0.3) -> Floats:
    """Return the quality of answers, of whose variance a group shares so much."""
    of_group = rng.normal(0, math.sqrt(shared), int(group[-1]) + 1)[group]
    quality: Floats = of_group + rng.normal(0, math.sqrt(1 - shared), len(group))
    return quality


@dataclass(frozen=True)
class Cell:
    """Groups and errors of one simulated test.

    Attributes:
        per_group: Answers of a group; None for lognormal numbers from 1 to 40.
        shared_quality: Part of the quality's variance that answers of one group share.
        shared_error: The same of a judge's error.
        judges_alike: Correlation of the errors of the judges with each other.
    """

    per_group: int | None
    shared_quality: float
    shared_error: float
    judges_alike: float = 0.0

    def __str__(self) -> str:
        answers = "1 to 40 answers" if self.per_group is None else f"{self.per_group} answers"
        alike = f", judges alike .{10 * self.judges_alike:.0f}" if self.judges_alike else ""
        return f"{answers}, errors alike within a group .{10 * self.shared_error:.0f}{alike}"

    def groups(self, n_groups: int, rng: np.random.Generator) -> Integers:
        """Return the group of each answer."""
        if self.per_group is not None:
            return np.repeat(np.arange(n_groups), self.per_group)
        sizes = np.clip(np.round(rng.lognormal(math.log(3), 1.0, n_groups)), 1, 40)
        return np.repeat(np.arange(n_groups), sizes.astype(np.int64))

    def errors(self, group: Integers, n_judges: int, rng: np.random.Generator) -> Floats:
        """Return errors of variance 1 of so many judges."""
        n_groups, within = int(group[-1]) + 1, math.sqrt(self.shared_error)

        def drawn(k: int) -> Floats:
            of_group: Floats = rng.normal(0, within, (k, n_groups))[:, group]
            return of_group + rng.normal(0, math.sqrt(1 - within**2), (k, len(group)))

        common, separate = drawn(1), drawn(n_judges)
        alike: Floats = common * math.sqrt(self.judges_alike)
        return alike + separate * math.sqrt(1 - self.judges_alike)


STATES = (Cell(4, 0.3, 0.6), Cell(4, 0.8, 0.9), Cell(10, 0.5, 0.6), Cell(10, 0.8, 0.9))
ALIKE = (Cell(10, 0.8, 0.9, 0.5), Cell(10, 0.8, 0.9, 0.9))
UNEVEN = Cell(None, 0.5, 0.6)

CELLS = {
    **{(world, cell): (24, 30, 40, 60) for world in (FIVE_LEVELS, SKEWED) for cell in STATES},
    **{(RARE, cell): (24, 40, 60) for cell in (STATES[0], STATES[3])},
    **{(VERY_RARE, cell): (60, 100) for cell in (STATES[0], STATES[3])},
    **{(FIVE_LEVELS, cell): (30,) for cell in ALIKE},
    **{(SKEWED, cell): (24, 30) for cell in ALIKE},
    **{(RARE, cell): (40,) for cell in ALIKE},
    **{(world, UNEVEN): (30, 60) for world in (FIVE_LEVELS, SKEWED)},
}
"""Numbers of groups in the test, by world and cell; with fewer than 24 there is no verdict."""


def verdicts_in_turn(
    world: World, cell: Cell, *, n_groups: int, seed: int
) -> Iterator[frozenset[str]]:
    """Yield the verdicts on judges at the margin, each evaluated on the same test in turn."""
    rng, noise = np.random.default_rng(seed), noise_at_margin(world)
    for _ in range(N_EVALUATIONS):
        group = cell.groups(n_groups, rng)
        quality = quality_of(group, rng, shared=cell.shared_quality)
        test = world.people(quality, group, rng, split="test")
        yield frozenset(
            judge_fitness(
                test,
                world.rated(quality + noise * error, rng, noise=0.0),
                margin=MARGIN,
                significance=evaluation_significance(number, n_candidates=1),
                people_agree=True,
            ).verdict
            for number, error in enumerate(cell.errors(group, MOST_EVALUATIONS, rng), 1)
        )


def _margin_table() -> str:
    """Return how often one of the judges at the margin passes, by world, groups and errors."""
    rows, failed = [], 0.0
    for (world, cell), sizes in CELLS.items():
        shares = dict.fromkeys((24, 30, 40, 60, 100), "")
        for n_groups in sizes:
            verdicts = list(verdicts_in_turn(world, cell, n_groups=n_groups, seed=n_groups))
            shares[n_groups] = _share("fit" in of for of in verdicts)
            failed = max(failed, float(np.mean(["unfit" in of for of in verdicts])))
        rows.append([world.name, str(cell), *shares.values()])
    heads = [f"{n} groups" for n in (24, 30, 40, 60, 100)]
    largest = f"One of the {MOST_EVALUATIONS} fails in at most {100 * failed:.1f} %."
    return f"{_markdown(['scale', 'groups and errors', *heads], rows)}\n\n{largest}"


def passed(world: World, *, noise: float, n_groups: int, seed: int) -> Iterator[bool]:
    """Yield whether a judge with such an error passes the first evaluation."""
    rng, group = np.random.default_rng(seed), groups_of(n_groups)
    for _ in range(N_EVALUATIONS):
        quality = quality_of(group, rng)
        yield (
            judge_fitness(
                world.people(quality, group, rng, split="test"),
                world.rated(quality, rng, noise=noise),
                margin=MARGIN,
                significance=evaluation_significance(1, n_candidates=1),
                people_agree=True,
            ).verdict
            == "fit"
        )


def _equal_table() -> str:
    """Return how often a judge equal to people passes."""
    sizes = (24, 40, 60, 100, 200)
    rows = [
        [
            world.name,
            f"{world.agreement(world.noise, world.noise):.2f}",
            *(_share(passed(world, noise=world.noise, n_groups=n, seed=n)) for n in sizes),
        ]
        for world in (FIVE_LEVELS, SKEWED, EVEN, RARE, VERY_RARE)
    ]
    return _markdown(["scale", "people's figure", *(f"{n} groups" for n in sizes)], rows)


Judge = Callable[[World, Floats, Floats, np.random.Generator], Floats]
"""Makes a candidate's scores from the world, the quality and the scores of the judge it copies."""


def replicate(
    world: World,
    quality: Floats,
    copied: Floats,  # noqa: ARG001 - it copies nothing
    rng: np.random.Generator,
) -> Floats:
    """Return scores of a judge with the same error, drawn again."""
    return world.rated(quality, rng, noise=world.noise)


def moved(
    world: World,
    quality: Floats,  # noqa: ARG001 - it reads nothing
    copied: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return the scores of the other judge, 5 % of them moved to another value."""
    values = np.asarray(world.scale.values)
    at = np.searchsorted(values, copied)
    step = rng.choice([-1, 1], len(at))
    other = np.clip(at + step, 0, len(values) - 1)
    other = np.where(other == at, np.clip(at - step, 0, len(values) - 1), other)
    return np.where(rng.random(len(at)) < 0.05, values[other], copied)


def rare_errors(
    world: World,
    quality: Floats,
    copied: Floats,  # noqa: ARG001 - it copies nothing
    rng: np.random.Generator,
) -> Floats:
    """Return a judge with smaller errors that once in a while gives the opposite end."""
    values = np.asarray(world.scale.values)
    usual = world.rated(quality, rng, noise=0.7 * world.noise)
    is_rare = rng.random(len(quality)) < RARE_ERROR_SHARE
    return np.where(is_rare, values[-1] + values[0] - usual, usual)


RARE_ERROR_SHARE = 0.034
"""Makes `rare_errors` agree with people about as well as the judge that it replaces."""


def certified(world: World, candidate: Judge, *, n_groups: int, seed: int) -> Iterator[bool]:
    """Yield for each simulated test whether one of the candidates is accepted.

    Every try is a new candidate against the same judge and the same labels, each with its own map
    fitted on as many groups of train.
    """
    rng, group = np.random.default_rng(seed), groups_of(n_groups)
    for _ in range(N_EVALUATIONS):
        on_train, on_test = (quality_of(group, rng) for _ in range(2))
        train = world.people(on_train, group, rng, split="train")
        test = world.people(on_test, group, rng, split="test")
        quality, half = np.concatenate([on_train, on_test]), len(group)
        judge = world.rated(quality, rng, noise=world.noise)
        baseline = calibrate(train, judge[:half]).fitted(judge[half:])
        tried = (candidate(world, quality, judge, rng) for _ in range(MOST_EVALUATIONS))
        yield any(
            judge_improvement(
                test,
                calibrate(train, scores[:half]).fitted(scores[half:]),
                baseline,
                significance=evaluation_significance(number, n_candidates=1),
                n_train_groups=n_groups,
            ).verdict
            == "accepted"
            for number, scores in enumerate(tried, 1)
        )


def _null_table() -> str:
    """Return how often copies and replicates of a judge are accepted."""
    kinds: dict[str, Judge] = {
        "replicate of the judge": replicate,
        "copy, 5 % of the scores moved": moved,
        "smaller errors, but rarely the opposite end": rare_errors,
    }
    rows = [
        [
            world.name,
            name,
            *(_share(certified(world, judge, n_groups=n, seed=n)) for n in SIZES),
        ]
        for world in (FIVE_LEVELS, SKEWED, EVEN, RARE)
        for name, judge in kinds.items()
        if judge is not rare_errors or world is FIVE_LEVELS
    ]
    return _markdown(["scale", "candidate", *(f"{n} groups" for n in SIZES)], rows)


def attacked(*, is_exact: bool, n_groups: int, seed: int) -> Iterator[bool]:
    """Yield whether a candidate that learns from what evaluations print is ever accepted.

    The attacker has two judges that are equally good. Each evaluation but the last tries a
    candidate that takes every score from one of them at random; the last takes each from the judge
    that printed gains speak for. `is_exact` prints gains unrounded.
    """
    world, group = FIVE_LEVELS, groups_of(n_groups)
    rng = np.random.default_rng(seed)
    for _ in range(N_EVALUATIONS):
        quality = quality_of(group, rng)
        test = world.people(quality, group, rng, split="test")
        judge, other = (world.rated(quality, rng, noise=world.noise) for _ in range(2))
        choices: list[npt.NDArray[np.bool_]] = []
        gains: list[float] = []
        accepted = False
        for number in range(1, MOST_EVALUATIONS + 1):
            chosen = rng.random(len(quality)) < 0.5
            if number == MOST_EVALUATIONS:
                chosen = (np.array(gains) - np.mean(gains)) @ (np.array(choices) - 0.5) > 0
            result = judge_improvement(
                test,
                np.where(chosen, other, judge),
                judge,
                significance=evaluation_significance(number, n_candidates=1),
                n_train_groups=n_groups,
            )
            if result.verdict == "accepted":
                accepted = True
                break
            gain = result.compared.gain.value
            gains.append(gain if is_exact else coarse_gain(gain))
            choices.append(chosen)
        yield accepted


def _attack_table() -> str:
    """Return how often an attacker who learns from evaluations is accepted."""
    rows = [
        [
            "exact gains" if is_exact else "as evaluations print them",
            *(_share(attacked(is_exact=is_exact, n_groups=n, seed=n)) for n in SIZES),
        ]
        for is_exact in (False, True)
    ]
    return _markdown(["gains printed", *(f"{n} groups" for n in SIZES)], rows)


def _gain_table() -> str:
    """Return the gains that a first evaluation detects, and how often a gain of .15 is found."""
    world, worse = FIVE_LEVELS, noise_at_margin(FIVE_LEVELS, margin=0.15)
    rows = []
    for n_groups in (20, 40, 60, 100, 200):
        rng, group = np.random.default_rng(n_groups), groups_of(n_groups)
        detectable: list[float] = []
        accepted_by: dict[int, list[bool]] = {1: [], MOST_EVALUATIONS: []}
        for _ in range(N_EVALUATIONS):
            quality = quality_of(group, rng)
            test = world.people(quality, group, rng, split="test")
            candidate = world.rated(quality, rng, noise=world.noise)
            baseline = world.rated(quality, rng, noise=worse)
            for number, accepted in accepted_by.items():
                level = evaluation_significance(number, n_candidates=1)
                result = judge_improvement(
                    test, candidate, baseline, significance=level, n_train_groups=n_groups
                )
                accepted.append(result.verdict == "accepted")
                if number == 1:
                    detectable.append(result.compared.gain.detectable_by(p_value=level / 2))
        rows.append(
            [str(n_groups), f"{np.median(detectable):.3f}", *map(_share, accepted_by.values())]
        )
    heads = ["test groups", "detectable gain", "found, 1st evaluation", f"{MOST_EVALUATIONS}th"]
    return _markdown(heads, rows)


def found_fit_in_part(
    world: World, *, noise: float, shared: float, n_groups: int, seed: int
) -> Iterator[tuple[bool, float]]:
    """Yield whether a part of one of several judges passes although it should not, and its share.

    The part is chosen on one and a half times as many groups, by the distance from another judge,
    and tested on these, of each judge in the next evaluation. It should not pass if on 40,000 other
    answers the mixture is below the margin.

    Args:
        world: Answers and people.
        noise: Standard deviation of the judges' errors.
        shared: Correlation of the errors of judge and doubting judge.
        n_groups: Groups in the test.
        seed: Seed of the simulation.
    """
    rng = np.random.default_rng(seed)
    many = groups_of(10_000)
    quality = quality_of(many, rng)
    population = world.people(quality, many, rng, split="test")
    other_place = _judges_of(world, quality, rng, noise=noise, shared=shared)
    doubts_elsewhere = np.abs(other_place[0] - other_place[1])
    is_fit: dict[JudgePart, bool] = {}
    group = groups_of(5 * n_groups // 2)
    for _ in range(N_EVALUATIONS):
        quality = quality_of(group, rng)
        is_seen = group >= n_groups
        units = world.people(quality, group, rng, split="test")
        units = replace(units, splits=np.where(is_seen, "train", "test"))
        wrong, shares = False, [0.0]
        for number in range(1, MOST_EVALUATIONS + 1):
            level = evaluation_significance(number, n_candidates=2)
            judge, other = _judges_of(world, quality, rng, noise=noise, shared=shared)
            doubts = np.abs(judge - other)
            tried = tried_parts(units, judge, {"b": doubts}, margin=MARGIN, significance=level)
            chosen = chosen_part(tried)
            if chosen is None:
                continue
            if chosen.part not in is_fit:
                truth = partial_comparison(
                    population, other_place[0], doubts_elsewhere, chosen.part, margin=MARGIN
                )
                is_fit[chosen.part] = truth.shortfall.value > 0
            result = judge_fitness(
                units.part("test"),
                judge[~is_seen],
                doubts=doubts[~is_seen],
                part=chosen.part,
                margin=MARGIN,
                significance=level,
                people_agree=True,
            )
            if result.verdict == "fit":
                wrong |= not is_fit[chosen.part]
                shares.append(result.compared.share)
        yield wrong, max(shares)


def _judges_of(
    world: World, quality: Floats, rng: np.random.Generator, *, noise: float, shared: float
) -> tuple[Floats, Floats]:
    """Return scores of two judges whose errors correlate."""
    common = rng.normal(0, math.sqrt(shared) * noise, len(quality))
    judge_noise = math.sqrt(1 - shared) * noise
    first, second = (world.rated(quality + common, rng, noise=judge_noise) for _ in range(2))
    return first, second


def _part_table() -> str:
    """Return how often a part passes although it should not, and the mean share that passes."""
    borderline = noise_at_margin(FIVE_LEVELS)
    cases = {
        "exactly at the margin on all": (borderline, 0.0),
        "the same, errors of the judges correlated (.6)": (borderline, 0.6),
        "twice that error, correlated (.6)": (2 * borderline, 0.6),
    }
    rows = []
    for name, (noise, shared) in cases.items():
        row = [name]
        for n in SIZES[1:]:
            result = list(
                found_fit_in_part(FIVE_LEVELS, noise=noise, shared=shared, n_groups=n, seed=n)
            )
            share = float(np.mean([share for _, share in result]))
            row.append(f"{_share(wrong for wrong, _ in result)} ({100 * share:.0f} %)")
        rows.append(row)
    return _markdown(["judge", *(f"{n} groups" for n in SIZES[1:])], rows)


def selected_by_printed_figures(*, n_judges: int, seed: int) -> Iterator[dict[str, bool]]:
    """Yield whether the judge passes that figures select among judges at the margin.

    150 groups, of which 60 are the test, answered by four models, in a slice of 20 values. Errors
    correlate .6 within a group.

    Args:
        n_judges: Judges.
        seed: Seed.
    """
    world, rng = FIVE_LEVELS, np.random.default_rng(seed)
    noise, group = noise_at_margin(world), groups_of(150)
    is_test = group >= 90
    for _ in range(N_SELECTED):
        quality = quality_of(group, rng)
        people = world.people(quality, group, rng, split="test")
        cell = 20 * (np.arange(len(group)) % 4) + rng.integers(0, 20, len(group))
        errors = STATES[0].errors(group, n_judges, rng)
        judges = [world.rated(quality + noise * error, rng, noise=0.0) for error in errors]
        mean = people.ratings.mean(axis=1)
        rows = np.ones(len(group), dtype=bool)
        figures: dict[str, list[float]] = {
            "none, at random": [0.0] * n_judges,
            "A^HA on train and dev": [_a_ha(people.ratings, j, ~is_test) for j in judges],
            "means by model and slice nearest to people's": [
                _nearness(mean, j, cell, rows) for j in judges
            ],
            "the same of the test alone, from the files": [
                _nearness(mean, j, cell, is_test) for j in judges
            ],
            "A^HA on the test, which is held out": [
                _a_ha(people.ratings, j, is_test) for j in judges
            ],
        }
        test = people.only(is_test)
        yield {
            name: judge_fitness(
                test,
                judges[int(np.argmax(values))][is_test],
                margin=MARGIN,
                significance=evaluation_significance(1, n_candidates=1),
                people_agree=True,
            ).verdict
            == "fit"
            for name, values in figures.items()
        }


def _a_ha(ratings: Floats, judge: Floats, selected: npt.NDArray[np.bool_]) -> float:
    return float(np.mean(1 - np.abs(ratings - judge[:, np.newaxis])[selected] / 4))


def _nearness(
    mean: Floats, judge: Floats, cell: Integers, selected: npt.NDArray[np.bool_]
) -> float:
    """Return minus the mean squared distance of a judge's means by cell from people's."""
    n = np.bincount(cell[selected], minlength=80)
    difference = np.bincount(cell[selected], (judge - mean)[selected], 80)[n > 0] / n[n > 0]
    return -float(np.mean(difference**2))


def _selection_table() -> str:
    """Return how often the best of 30 judges at the margin passes, by how it was selected."""
    trials = list(selected_by_printed_figures(n_judges=30, seed=7))
    rows = [[name, _share(trial[name] for trial in trials)] for name in trials[0]]
    return _markdown(["selected by", "passes"], rows)


def table() -> str:
    """Simulate, and return the tables."""
    turn = f"{MOST_EVALUATIONS} evaluations in turn"
    parts = {
        f"A judge exactly at the margin passes one of {turn}": _margin_table,
        "A judge equal to people passes the first evaluation": _equal_table,
        "A candidate that is no better than the judge it would replace is accepted as improved in "
        f"one of {turn}": _null_table,
        f"An attacker who learns from what is printed is accepted in one of {turn}": _attack_table,
        "A gain of .15 is found": _gain_table,
        f"A part passes in one of {turn} although judge and people together do not reach the "
        "margin, and in brackets the mean share that passes (0 without one)": _part_table,
        "The best of 30 judges at the margin passes, by the figures that select it before the "
        f"test is evaluated ({N_SELECTED:,} selections)": _selection_table,
    }
    return "\n\n".join(f"{title}.\n\n{measured()}" for title, measured in parts.items())


def _share(events: Iterable[bool]) -> str:
    """Return the share of events that happened, in percent."""
    return f"{100 * np.mean(list(events)):.1f} %"


def _markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
