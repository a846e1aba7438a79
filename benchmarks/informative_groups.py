"""Coverage of 95 % intervals if groups are homogeneous and few have the rarer values."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks import coverage
from benchmarks.coverage import Answers, Setting

N_SETS = 300
"""Simulated data sets of each kind, which tell a coverage of .95 to +-.025."""

SIZES = (24, 50, 100)

POPULATION = 20_000
"""Groups that the true values are computed from."""

ALIKE = 0.9
"""Share of the variance of quality that the responses of a group have in common."""


@dataclass(frozen=True)
class AlikeGroups(Setting):
    """Groups of responses that are much alike."""

    def drawn(self, n_groups: int, rng: np.random.Generator) -> Answers:
        """Return the answers of so many groups."""
        groups = np.repeat(np.arange(n_groups), self.n_responses)
        shape = len(groups), self.n_raters
        of_response, shared = rng.normal(size=(len(groups), 1)), rng.normal(size=(n_groups, 1))
        quality = 1.2 * (math.sqrt(1 - ALIKE) * of_response + math.sqrt(ALIKE) * shared[groups])
        noise = 0.7 * np.exp(rng.normal(0, 0.5, (n_groups, 1)))[groups]
        ratings, stricter = (quality + noise * rng.normal(size=shape) for _ in range(2))
        judge = quality + 0.3 + 1.3 * noise * rng.normal(size=quality.shape)
        rated = [self.on_scale(qualities) for qualities in (ratings, stricter - 0.5, judge)]
        missing = rng.random(shape) < 0.1
        for matrix in rated[:2]:
            matrix[missing] = math.nan
        return Answers(rated[0], rated[1], rated[2][:, 0], groups)


SETTINGS = (
    AlikeGroups("binary 97/3, 2 raters, 20 a group", 2, n_responses=20, rare=0.03),
    AlikeGroups("binary 90/10, 2 raters, 20 a group", 2, n_responses=20, rare=0.1),
    AlikeGroups("1-5 skewed, 2 raters, 20 a group", 2, quality=4.2, n_responses=20),
)


def table() -> str:
    """Simulate, and count the intervals that hold the true value."""
    columns = {}
    names: list[str] = []
    for setting, n_groups in product(SETTINGS, SIZES):
        names, columns[setting.name, n_groups] = held(setting, n_groups, n_sets=N_SETS)
    heads = ["figure", *(f"{name}: {n_groups}" for name, n_groups in columns)]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    rare = ["groups with a rarer value", *(f"{column[0]:.1f}" for column in columns.values())]
    lines.append(f"| {' | '.join(rare)} |")
    for place, name in enumerate(names, start=1):
        cells = [name, *(f"{column[place]:.3f}" for column in columns.values())]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def held(setting: Setting, n_groups: int, *, n_sets: int) -> tuple[list[str], list[float]]:
    """Return the figures, and the mean groups with a rarer value and the shares that hold."""
    rng = np.random.default_rng(1)
    true = {
        name: figure.value
        for name, figure in coverage.figures(
            setting, setting.drawn(POPULATION, rng), grouped=True
        ).items()
    }
    values = np.array(list(true.values()))
    holds, defined, n_rare = np.zeros(len(true)), np.zeros(len(true)), 0
    for _ in range(n_sets):
        answers = setting.drawn(n_groups, rng)
        n_rare += _n_rare(answers)
        ends = coverage.ends(coverage.figures(setting, answers, grouped=True))
        holds += (ends[0] <= values) & (values <= ends[1])
        defined += ~np.isnan(ends[0])
    return list(true), [n_rare / n_sets, *(holds / np.maximum(defined, 1)).tolist()]


def _n_rare(answers: Answers) -> int:
    """Return the groups with a rating other than the most frequent one."""
    rated = ~np.isnan(answers.ratings)
    values, counts = np.unique(answers.ratings[rated], return_counts=True)
    is_rare = rated & (answers.ratings != values[counts.argmax()])
    return len(np.unique(answers.groups[is_rare.any(axis=1)]))
