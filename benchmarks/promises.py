"""Error rates and power of the verdicts of judge tuning, on simulated judges."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY, LIKERT5, Scale
from eval_assets.stats import non_inferiority
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.claim_results import judge_fitness, judge_improvement
from eval_assets.tuning.evaluation_levels import MOST_READINGS, coarse_gain, reading_significance
from eval_assets.tuning.partial_automation import (
    JudgePart,
    chosen_part,
    judge_part,
    partial_comparison,
    tried_parts,
)
from eval_assets.tuning.rated import RatedUnits

Floats = npt.NDArray[np.float64]

N_EVALUATIONS = 500
"""Simulated evaluations behind each share: one of .05 is known to +-.02."""

N_AT_THE_LIMIT = 20_000
"""Simulated evaluations of the one case near 5 %: its share is known to +-.003."""

ANSWERS_PER_GROUP = 4
Sizes = Callable[[int, np.random.Generator], npt.NDArray[np.int64]]
MARGIN = 0.10


@dataclass(frozen=True)
class World:
    """Answers whose quality raters and judges see with error, and put on a scale.

    Attributes:
        name: As the table calls it.
        scale: The scale.
        cuts: Quality from which on each higher value is given.
        noise: Standard deviation of a rater's error; quality itself has 1. It is such that people
            agree just well enough for the gates: their figure is about .70.
        prompt: Part of the quality's variance that answers to one prompt share.
    """

    name: str
    scale: Scale
    cuts: tuple[float, ...]
    noise: float
    prompt: float = 0.3

    def quality(self, n_groups: int, rng: np.random.Generator) -> Floats:
        """Return the quality of all answers of so many groups."""
        shared = np.repeat(rng.normal(0, math.sqrt(self.prompt), n_groups), ANSWERS_PER_GROUP)
        of_response = rng.normal(0, math.sqrt(1 - self.prompt), n_groups * ANSWERS_PER_GROUP)
        quality: Floats = shared + of_response
        return quality

    def rated(self, quality: Floats, rng: np.random.Generator, *, noise: float) -> Floats:
        """Return the values of a rater or judge with such an error."""
        values = np.asarray(self.scale.values)
        impression = quality + rng.normal(0, noise, len(quality))
        inputs: Floats = values[np.searchsorted(self.cuts, impression)]
        return inputs

    def people(self, quality: Floats, rng: np.random.Generator, *, split: str) -> RatedUnits:
        """Return units rated by three people."""
        n_units = len(quality)
        ratings = [self.rated(quality, rng, noise=self.noise) for _ in range(3)]
        return RatedUnits(
            question=RubricQuestion("q", "?", self.scale, level="ordinal"),
            response_ids=np.arange(n_units).astype(str),
            groups=np.arange(n_units) // ANSWERS_PER_GROUP,  # type: ignore[arg-type]
            splits=np.full(n_units, split),
            ratings=np.stack(ratings, axis=1),
            scores={},
            models=np.full(n_units, ""),
            prompt_texts=np.full(n_units, ""),
            response_texts=np.full(n_units, ""),
        )


FIVE_LEVELS = World("5 levels", LIKERT5, (-1.3, -0.45, 0.45, 1.3), noise=0.58)
SKEWED = World("5 levels, most of them 5", LIKERT5, (-2.6, -1.9, -1.2, -0.3), noise=0.5)
EVEN = World("binary, 50/50", BINARY, (0.0,), noise=0.35)
RARE = World("binary, 90/10", BINARY, (1.33,), noise=0.27)
VERY_RARE = World("binary, 97/3", BINARY, (1.92,), noise=0.21)

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


def moved(share: float) -> Judge:
    """Return a judge that copies the other and moves so many of its scores to another value."""

    def judge(
        world: World,
        quality: Floats,  # noqa: ARG001 - it reads nothing
        copied: Floats,
        rng: np.random.Generator,
    ) -> Floats:
        values = np.asarray(world.scale.values)
        at = np.searchsorted(values, copied)
        step = rng.choice([-1, 1], len(at))
        other = np.clip(at + step, 0, len(values) - 1)
        other = np.where(other == at, np.clip(at - step, 0, len(values) - 1), other)
        return np.where(rng.random(len(at)) < share, values[other], copied)

    return judge


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


RARE_ERROR_SHARE = 0.031
"""Makes `rare_errors` agree with people about as well as the judge that it replaces."""


def certified(
    world: World, candidate: Judge, *, n_groups: int, n_readings: int, seed: int
) -> Iterator[bool]:
    """Yield for each simulated evaluation whether one of so many tries in a row is accepted.

    Every try is a new candidate against the same judge and the same labels, each with its own map
    fitted on as many groups of train.
    """
    rng = np.random.default_rng(seed)
    for _ in range(N_EVALUATIONS):
        quality = world.quality(2 * n_groups, rng)
        half = len(quality) // 2
        train = world.people(quality[:half], rng, split="train")
        test = world.people(quality[half:], rng, split="test")
        judge = world.rated(quality, rng, noise=world.noise)
        baseline = calibrate(train, judge[:half]).fitted(judge[half:])
        accepted = False
        for reading in range(1, n_readings + 1):
            scores = candidate(world, quality, judge, rng)
            result = judge_improvement(
                test,
                calibrate(train, scores[:half]).fitted(scores[half:]),
                baseline,
                significance=reading_significance(reading, n_candidates=1),
                n_train_groups=n_groups,
            )
            if result.verdict == "accepted":
                accepted = True
                break
        yield accepted


def attacked(*, exact: bool, n_readings: int, n_groups: int, seed: int) -> Iterator[bool]:
    """Yield whether a candidate that learns from what readings print is ever accepted.

    The attacker has two judges that are equally good. Each reading but the last tries a candidate
    that takes every score from one of them at random; the last takes each from the judge that
    printed gains speak for. `exact` prints gains unrounded, and lets readings go on after the
    seal is spent, which the rules forbid.
    """
    world = FIVE_LEVELS
    rng = np.random.default_rng(seed)
    for _ in range(N_EVALUATIONS):
        quality = world.quality(n_groups, rng)
        test = world.people(quality, rng, split="test")
        judge, other = (world.rated(quality, rng, noise=world.noise) for _ in range(2))
        choices: list[npt.NDArray[np.bool_]] = []
        gains: list[float] = []
        accepted = False
        for reading in range(1, n_readings + 1):
            chosen = rng.random(len(quality)) < 0.5
            if reading == n_readings:
                chosen = (np.array(gains) - np.mean(gains)) @ (np.array(choices) - 0.5) > 0
            result = judge_improvement(
                test,
                np.where(chosen, other, judge),
                judge,
                significance=_significance(reading),
                n_train_groups=n_groups,
            )
            if result.verdict == "accepted":
                accepted = True
                break
            gain = result.compared.gain.value
            gains.append(gain if exact else coarse_gain(gain))
            choices.append(chosen)
        yield accepted


def _significance(reading: int) -> float:
    """Return the level of a reading, also of those that the seal no longer allows."""
    if reading <= MOST_READINGS:
        return reading_significance(reading, n_candidates=1)
    return 0.05 / (reading * (reading + 1))


def found_fit(
    world: World, *, noise: float, n_groups: int, seed: int, significance: float = 0.025
) -> Iterator[str]:
    """Yield the fitness verdicts on a judge with such an error."""
    rng = np.random.default_rng(seed)
    for _ in range(N_EVALUATIONS):
        quality = world.quality(n_groups, rng)
        test = world.people(quality, rng, split="test")
        yield judge_fitness(
            test,
            world.rated(quality, rng, noise=noise),
            margin=MARGIN,
            significance=significance,
            people_agree=True,
        ).verdict


def equal_sizes(n_groups: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:  # noqa: ARG001
    """Return the same number of answers in each group."""
    return np.full(n_groups, ANSWERS_PER_GROUP)


def uneven_sizes(n_groups: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return lognormal numbers of answers, from 1 to 40."""
    drawn = np.round(rng.lognormal(math.log(3), 1.0, n_groups))
    return np.clip(drawn, 1, 40).astype(np.int64)


def one_large_group(n_groups: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:  # noqa: ARG001
    """Return two answers in each group but the first, which holds most of all answers."""
    sizes = np.full(n_groups, 2)
    sizes[0] = 2 * n_groups + 20
    return sizes


def found_fit_in_turn(  # noqa: PLR0913 - the world, the judges and the groups
    world: World,
    sizes: Sizes,
    *,
    noise: float,
    shared: float,
    n_groups: int,
    n_judges: int,
    n_evaluations: int,
    seed: int,
) -> Iterator[bool]:
    """Yield whether one of several judges is found fit, each evaluated on the same test in turn.

    Args:
        world: The world.
        sizes: Number of answers of each group.
        noise: Standard deviation of a judge's error.
        shared: Part of the error's variance that answers of one group share.
        n_groups: Groups in the test.
        n_judges: Judges.
        n_evaluations: Simulated evaluations.
        seed: Seed.
    """
    rng = np.random.default_rng(seed)
    for _ in range(n_evaluations):
        group = np.repeat(np.arange(n_groups), sizes(n_groups, rng))
        quality = rng.normal(0, math.sqrt(world.prompt), n_groups)[group] + rng.normal(
            0, math.sqrt(1 - world.prompt), len(group)
        )
        test = replace(world.people(quality, rng, split="test"), groups=group.astype(str))
        yield any(
            judge_fitness(
                test,
                world.rated(
                    quality + rng.normal(0, noise * math.sqrt(shared), n_groups)[group],
                    rng,
                    noise=noise * math.sqrt(1 - shared),
                ),
                margin=MARGIN,
                significance=reading_significance(reading, n_candidates=1),
                people_agree=True,
            ).verdict
            == "fit"
            for reading in range(1, n_judges + 1)
        )


N_SELECTED = 4_000
"""Simulated selections behind each share."""


def selected_by_printed_figures(*, n_judges: int, seed: int) -> Iterator[dict[str, bool]]:
    """Yield whether the judge is found fit that figures select among judges at the margin.

    150 groups, of which 60 are the test, answered by four models, in a slice of 20 values. Errors
    correlate .6 within a group.

    Args:
        n_judges: Judges.
        seed: Seed.
    """
    world, rng = FIVE_LEVELS, np.random.default_rng(seed)
    noise, shared, n_groups = noise_at_margin(world), 0.6, 150
    group = np.repeat(np.arange(n_groups), ANSWERS_PER_GROUP)
    is_test = group >= 90
    for _ in range(N_SELECTED):
        quality = world.quality(n_groups, rng)
        people = world.people(quality, rng, split="test")
        cell = 20 * (np.arange(len(group)) % 4) + rng.integers(0, 20, len(group))
        errors = (
            rng.normal(0, noise * math.sqrt(shared), n_groups)[group] for _ in range(n_judges)
        )
        judges = [
            world.rated(quality + error, rng, noise=noise * math.sqrt(1 - shared))
            for error in errors
        ]
        mean = np.nanmean(people.ratings, axis=1)
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
            "A^HA on the test, which is sealed": [
                _a_ha(people.ratings, j, is_test) for j in judges
            ],
        }
        test = people.only(is_test)
        yield {
            name: judge_fitness(
                test,
                judges[int(np.argmax(values))][is_test],
                margin=MARGIN,
                significance=reading_significance(1, n_candidates=1),
                people_agree=True,
            ).verdict
            == "fit"
            for name, values in figures.items()
        }


def _a_ha(ratings: Floats, judge: Floats, by_judge: npt.NDArray[np.bool_]) -> float:
    return float(np.nanmean(1 - np.abs(ratings - judge[:, None])[by_judge] / 4))


def _nearness(
    mean: Floats, judge: Floats, cell: npt.NDArray[np.int64], by_judge: npt.NDArray[np.bool_]
) -> float:
    """Return minus the mean squared distance of a judge's means by cell from people's."""
    n = np.bincount(cell[by_judge], minlength=80)
    difference = np.bincount(cell[by_judge], (judge - mean)[by_judge], 80)[n > 0] / n[n > 0]
    return -float(np.mean(difference**2))


def _selection_table() -> str:
    """Return how often the best of 30 borderline judges is found fit, by how it was selected."""
    trials = list(selected_by_printed_figures(n_judges=30, seed=7))
    rows = [[name, _share(trial[name] for trial in trials)] for name in trials[0]]
    return _markdown(["selected by", "found fit"], rows)


def noise_at_margin(world: World, *, margin: float = MARGIN) -> float:
    """Return the error of a judge whose agreement with people is `margin` below people's."""
    low, high = world.noise, 8 * world.noise
    for _ in range(24):
        middle = (low + high) / 2
        rng = np.random.default_rng(1)
        quality = world.quality(100_000, rng)
        people = world.people(quality, rng, split="test")
        judge = world.rated(quality, rng, noise=middle)
        result = non_inferiority(people.ratings, judge, margin=MARGIN, level="ordinal")
        low, high = (middle, high) if result.gap.value > -margin else (low, middle)
    return (low + high) / 2


def found_fit_in_part(  # noqa: PLR0913 - the world, the judges and the test
    world: World,
    *,
    noise: float,
    shared: float,
    n_groups: int,
    n_judges: int,
    seed: int,
) -> Iterator[tuple[bool, float]]:
    """Yield whether a part of one of several judges is found fit although it is not, and its share.

    The part is chosen on one and a half times as many groups, by the distance from another judge,
    and tested on these. It is not fit if on 40,000 other answers the mixture is below the margin.

    Args:
        world: Answers and people.
        noise: Standard deviation of the judges' errors.
        shared: Correlation of the errors of judge and doubting judge.
        n_groups: Groups in the test.
        n_judges: Judges that are evaluated in turn on the same test, each as the next reading.
        seed: Seed of the simulation.
    """
    rng = np.random.default_rng(seed)
    population_quality = world.quality(10_000, rng)
    population = world.people(population_quality, rng, split="test")
    other_place = _judges_of(world, population_quality, rng, noise=noise, shared=shared)
    doubts_elsewhere = np.abs(other_place[0] - other_place[1])
    is_fit: dict[JudgePart, bool] = {}
    for _ in range(N_EVALUATIONS):
        quality = world.quality(5 * n_groups // 2, rng)
        units = world.people(quality, rng, split="test")
        is_seen = np.asarray(units.groups) >= n_groups  # type: ignore[operator]
        units = replace(units, splits=np.where(is_seen, "train", "test"))
        wrong, shares = False, [0.0]
        for reading in range(1, n_judges + 1):
            level = reading_significance(reading, n_candidates=2)
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
            result = judge_part(
                units.part("test"),
                judge[~is_seen],
                doubts[~is_seen],
                chosen.part,
                margin=MARGIN,
                significance=level,
                people_agree=True,
            ).fitness
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
    """Return how often a part is found fit although it is not, and the mean share found fit."""
    world = FIVE_LEVELS
    borderline = noise_at_margin(world)
    cases = {
        "null: scores that do not depend on the answer": (50.0, 0.0),
        "borderline: exactly at the margin on all": (borderline, 0.0),
        "borderline, errors of the judges correlated (.6)": (borderline, 0.6),
        "twice the borderline's error": (2 * borderline, 0.0),
        "twice the borderline's error, correlated (.6)": (2 * borderline, 0.6),
    }
    rows = []
    for name, (noise, shared) in cases.items():
        row = [name]
        for n_groups in (40, 100):
            for n_judges in (1, TRIES):
                result = list(
                    found_fit_in_part(
                        world,
                        noise=noise,
                        shared=shared,
                        n_groups=n_groups,
                        n_judges=n_judges,
                        seed=n_groups,
                    )
                )
                share = float(np.mean([share for _, share in result]))
                row.append(f"{_share(wrong for wrong, _ in result)} ({100 * share:.0f} %)")
        rows.append(row)
    heads = [f"{n} groups, {t}" for n in (40, 100) for t in ("1 judge", f"{TRIES} judges")]
    return _markdown(["judge", *heads], rows)


def table() -> str:
    """Simulate, and return the tables."""
    parts = {
        "Judges that are no better than the one they would replace, and got a certificate in one "
        f"try or in one of {TRIES}, by groups in the test": _null_table,
        "An attacker who learns from what readings print, by groups in the test": _attack_table,
        "What is found: a gain of .15": _power_table,
        "Found fit: a judge equal to people, and one exactly at the margin, for which 1.2 % is "
        "nominal": _fitness_table,
        f"Found fit although exactly at the margin: one judge, or one of {TRIES} evaluated in turn "
        "on the same test": _uneven_table,
        "Found fit on a part of the answers although judge and people together are not, and in "
        "brackets the mean share that is found fit (0 without one)": _part_table,
        "Found fit: the best of 30 judges at the margin, by the figures that select it before the "
        f"test is read ({N_SELECTED:,} selections; 1.2 % is nominal)": _selection_table,
    }
    return "\n\n".join(f"{title}.\n\n{measured()}" for title, measured in parts.items())


SIZES = (20, 40, 100)
TRIES = 10


def _null_table() -> str:
    """Return how often copies and replicates of a judge are accepted."""
    kinds: dict[str, Judge] = {
        "replicate of the judge": replicate,
        "copy, 2 % of the scores moved": moved(0.02),
        "copy, 5 % of the scores moved": moved(0.05),
        "copy, 20 % of the scores moved": moved(0.20),
        "smaller errors, but rarely the opposite end": rare_errors,
    }
    heads = [f"{n} groups, {tries}" for n in SIZES for tries in ("1 try", f"{TRIES} tries")]
    rows = [
        [
            world.name,
            name,
            *(
                _share(certified(world, judge, n_groups=n, n_readings=tries, seed=n))
                for n in SIZES
                for tries in (1, TRIES)
            ),
        ]
        for world in (FIVE_LEVELS, SKEWED, EVEN, RARE)
        for name, judge in kinds.items()
        if judge is not rare_errors or world is FIVE_LEVELS
    ]
    return _markdown(["scale", "candidate", *heads], rows)


def _attack_table() -> str:
    """Return how often an attacker who learns from readings is accepted."""
    cases = [(False, n) for n in (5, 10, MOST_READINGS)] + [(True, n) for n in (20, 50, 100)]
    rows = [
        [
            "exact gains, no end" if exact else "as the seal prints them",
            str(n_readings),
            *(
                _share(attacked(exact=exact, n_readings=n_readings, n_groups=n, seed=n))
                for n in SIZES
            ),
        ]
        for exact, n_readings in cases
    ]
    return _markdown(["gains printed", "readings", *(f"{n} groups" for n in SIZES)], rows)


def _power_table() -> str:
    """Return the gains that a first reading detects, and how often a gain of .15 is found."""
    rows = []
    for n_groups in (20, 40, 60, 100, 200):
        detectable, first, tenth = _power(n_groups)
        rows.append([str(n_groups), f"{detectable:.3f}", first, tenth])
    heads = ["test groups", "detectable gain", "gain of .15 found, 1st try", "10th try"]
    return _markdown(heads, rows)


def _power(n_groups: int) -> tuple[float, str, str]:
    """Return the median detectable gain, and how often a gain of .15 is found."""
    world, rng = FIVE_LEVELS, np.random.default_rng(n_groups)
    worse = noise_at_margin(world, margin=0.15)
    detectable: list[float] = []
    first: list[bool] = []
    tenth: list[bool] = []
    for _ in range(N_EVALUATIONS):
        quality = world.quality(n_groups, rng)
        test = world.people(quality, rng, split="test")
        candidate = world.rated(quality, rng, noise=world.noise)
        baseline = world.rated(quality, rng, noise=worse)
        for reading, result in ((1, first), (TRIES, tenth)):
            level = reading_significance(reading, n_candidates=1)
            verdict = judge_improvement(
                test, candidate, baseline, significance=level, n_train_groups=n_groups
            )
            result.append(verdict.verdict == "accepted")
            if reading == 1:
                detectable.append(verdict.compared.gain.detectable(significance=level))
    return float(np.median(detectable)), _share(first), _share(tenth)


def _fitness_table() -> str:
    """Return how often a judge equal to people is found fit, and one exactly at the margin."""
    rows = []
    for world in (FIVE_LEVELS, SKEWED, EVEN, RARE, VERY_RARE):
        at_margin = noise_at_margin(world)
        rng = np.random.default_rng(2)
        quality = world.quality(100_000, rng)
        people = world.people(quality, rng, split="test")
        judge = world.rated(quality, rng, noise=world.noise)
        figure = non_inferiority(people.ratings, judge, margin=MARGIN, level="ordinal").people
        rows.append(
            [
                world.name,
                f"{figure.value:.2f}",
                *(
                    _share(v == "fit" for v in found_fit(world, noise=noise, n_groups=n, seed=n))
                    for noise in (world.noise, at_margin)
                    for n in SIZES
                ),
            ]
        )
    heads = [f"{kind}, {n} groups" for kind in ("equal", "at the margin") for n in SIZES]
    return _markdown(["scale", "people's figure", *heads], rows)


def _uneven_table() -> str:
    """Return how often one judge at the margin, or one of ten, is found fit, by shape of groups."""
    world = FIVE_LEVELS
    noise = noise_at_margin(world)
    cases: dict[str, tuple[Sizes, float]] = {
        "equal groups": (equal_sizes, 0.0),
        "equal groups, errors correlated within a group (.6)": (equal_sizes, 0.6),
        "uneven groups": (uneven_sizes, 0.0),
        "one group with most answers": (one_large_group, 0.0),
    }
    rows = [
        [
            name,
            *(
                _share(
                    found_fit_in_turn(
                        world,
                        sizes,
                        noise=noise,
                        shared=shared,
                        n_groups=n,
                        n_judges=tries,
                        n_evaluations=N_AT_THE_LIMIT
                        if shared and (n, tries) == (24, TRIES)
                        else N_EVALUATIONS,
                        seed=n,
                    )
                )
                for n in (24, 40, 100)
                for tries in (1, TRIES)
            ),
        ]
        for name, (sizes, shared) in cases.items()
    ]
    heads = [
        f"{n} groups, {tries}" for n in (24, 40, 100) for tries in ("1 judge", f"{TRIES} judges")
    ]
    return _markdown(["groups", *heads], rows)


def _share(events: Iterable[bool]) -> str:
    """Return the share of events that happened, in percent."""
    return f"{100 * np.mean(list(events)):.1f} %"


def _markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
