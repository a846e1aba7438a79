"""Coverage of 95 % intervals on simulated responses whose true figures are known."""

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from eval_assets.stats import (
    Interval,
    agreement_profile,
    judge_human_profile,
    overall_profile,
)

N_REPLICATIONS = {10: 2_000, 20: 2_000, 50: 5_000, 200: 5_000}
"""Simulated data sets of each number of groups: 2,000 tell a coverage of .95 to +-.01, 5,000 to
+-.006."""

POPULATION = 2_000_000
"""Responses, about, that the true values are computed from."""

SIZES = tuple(N_REPLICATIONS)

FEWEST_DEFINED = 100
"""Intervals below which their share that holds says nothing, and is left out of the table."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """Ratings of a question and of a stricter one, a judge's scores, and groups."""

    ratings: Floats
    stricter: Floats
    judge: Floats
    groups: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """Raters, and a judge, who see the quality of a response with error.

    The responses of a group share part of their quality, and how hard they are to rate.

    Attributes:
        name: As the table calls it.
        n_raters: Raters of each response, a tenth of whose ratings are missing.
        quality: Mean quality of the responses: 3 is the middle of 1-5, 4.2 is skewed towards 5.
        n_responses: Responses of a group; 0 for uneven groups of one to twelve.
        rare: Of a binary question the share of the rarer value; None on 1-5.
    """

    name: str
    n_raters: int
    quality: float = 3.0
    n_responses: int = 1
    rare: float | None = None

    @property
    def scale(self) -> Scale:
        """1-5, or 0 and 1."""
        return LIKERT5 if self.rare is None else BINARY

    @property
    def level(self) -> Level:
        """Ordinal, or nominal if binary."""
        return "ordinal" if self.rare is None else "nominal"

    @property
    def is_grouped(self) -> bool:
        """Whether groups hold more than one response."""
        return self.n_responses != 1

    def drawn(self, n_groups: int, rng: np.random.Generator) -> Answers:
        """Return the answers of so many groups."""
        sizes = np.full(n_groups, self.n_responses)
        if not self.n_responses:
            sizes = rng.integers(1, 13, n_groups)
        groups = np.repeat(np.arange(n_groups), sizes)
        quality, noise = rng.normal(0, 1.2, (len(groups), 1)), np.full((len(groups), 1), 0.7)
        if self.is_grouped:
            quality = rng.normal(0, 0.9, quality.shape)
            quality += rng.normal(0, 0.8, (n_groups, 1))[groups]
            noise = noise * np.exp(rng.normal(0, 0.5, (n_groups, 1)))[groups]
        shape = len(groups), self.n_raters
        ratings, stricter = (quality + noise * rng.normal(size=shape) for _ in range(2))
        judge = quality + 0.3 + 1.3 * noise * rng.normal(size=quality.shape)
        missing = rng.random(shape) < 0.1
        rated = [self.on_scale(qualities) for qualities in (ratings, stricter - 0.5, judge)]
        for matrix in rated[:2]:
            matrix[missing] = math.nan
        return Answers(rated[0], rated[1], rated[2][:, 0], groups)

    def on_scale(self, qualities: Floats) -> Floats:
        """Return the ratings of qualities that are seen."""
        if self.rare is None:
            return np.rint(np.clip(qualities + self.quality, 1, 5))
        return (qualities < CUTS[self.rare]).astype(np.float64)


CUTS = {0.5: 0.0, 0.1: 1.83, 0.03: 2.69}
"""Quality from which on a response fails, for each share of failures."""

SETTINGS = (
    Setting("1-5, 2 raters", 2),
    Setting("1-5 skewed, 3 raters", 3, quality=4.2),
    Setting("1-5, five of six are 5, 2 raters", 2, quality=5.7),
    Setting("1-5, 3 raters, 6 responses a group", 3, n_responses=6),
    Setting("1-5 skewed, 2 raters, 1 to 12 a group", 2, quality=4.2, n_responses=0),
    Setting("binary 50/50, 2 raters", 2, rare=0.5),
    Setting("binary 90/10, 2 raters", 2, rare=0.1),
    Setting("binary 90/10, 3 raters, 6 a group", 3, n_responses=6, rare=0.1),
    Setting("binary 97/3, 2 raters", 2, rare=0.03),
    Setting("binary 97/3, 2 raters, 6 a group", 2, n_responses=6, rare=0.03),
)


def table() -> str:
    """Simulate, and count the intervals that hold the true value."""
    heads = ["answers", "figure", "true value", *(f"{n} groups" for n in SIZES)]
    heads += ["50, groups ignored", "undefined at 20"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    tasks = list(product(SETTINGS, SIZES))
    with ProcessPoolExecutor() as pool:
        true = dict(zip(SETTINGS, pool.map(_true_values, SETTINGS), strict=True))
        results = pool.map(_counted, *zip(*((s, n, true[s]) for s, n in tasks), strict=True))
        result = dict(zip(tasks, results, strict=True))
    for setting in SETTINGS:
        for place, (name, value) in enumerate(true[setting].items()):
            by_size = [result[setting, n][place] for n in SIZES]
            cells = [setting.name, name, f"{value:.3f}", *(_cell(held) for held, _, _ in by_size)]
            ignored, undefined = by_size[SIZES.index(50)][1], by_size[SIZES.index(20)][2]
            cells.append(f"{ignored:.3f}" if setting.is_grouped else "")
            cells.append(f"{undefined:.2f}" if undefined else "")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.3f}"


def figures(setting: Setting, answers: Answers, *, grouped: bool) -> dict[str, Interval]:
    """Return every figure of the answers, by groups or as if responses were independent."""
    groups = answers.groups if grouped else None
    scale, level = setting.scale, setting.level
    humans = agreement_profile(
        answers.ratings, scale=scale, level=level, confidence=0.95, groups=groups
    )
    overall = overall_profile(
        [(answers.ratings, scale), (answers.stricter, scale)], confidence=0.95, groups=groups
    )
    judge = judge_human_profile(
        answers.ratings, answers.judge, scale=scale, level=level, confidence=0.95, groups=groups
    )
    return {
        "A^HH": humans.a_hh,
        "exact agreement": humans.exact_agreement,
        "alpha": humans.alpha,
        "Fleiss' kappa": humans.fleiss_kappa,
        "Gwet's AC1": humans.gwet_ac1,
        "A^HH, two questions": overall.a_hh,
        "alpha, two questions pooled": overall.alpha,
        "alpha within questions": overall.alpha_within,
        "A^HA": judge.a_ha,
        "kappa": judge.kappa,
        "weighted kappa": judge.weighted_kappa,
        "alpha, judge and mean human": judge.alpha,
        "Spearman": judge.spearman,
        "Kendall": judge.kendall,
        "Pearson": judge.pearson,
        "MAE": judge.mae,
        "bias": judge.bias,
    }


def _true_values(setting: Setting) -> dict[str, float]:
    """Figures of a population."""
    n_groups = POPULATION // (setting.n_responses or 6)
    answers = setting.drawn(n_groups, np.random.default_rng(1))
    result = figures(setting, answers, grouped=True)
    return {name: figure.value for name, figure in result.items()}


def _counted(
    setting: Setting, n_groups: int, true: dict[str, float]
) -> list[tuple[float, float, float]]:
    """Of each figure: share of defined intervals that hold, ignoring groups too, and undefined."""
    rng = np.random.default_rng(n_groups)
    held, ignored, defined = np.zeros((3, len(true)))
    ignoring = setting.is_grouped and n_groups == 50
    values, n_sets = np.array(list(true.values())), N_REPLICATIONS[n_groups]
    for _ in range(n_sets):
        answers = setting.drawn(n_groups, rng)
        low, high = ends(figures(setting, answers, grouped=True))
        held += (low <= values) & (values <= high)
        defined += ~np.isnan(low)
        if ignoring:
            low, high = ends(figures(setting, answers, grouped=False))
            ignored += (low <= values) & (values <= high)
    shown = np.where(defined < FEWEST_DEFINED, np.nan, held / np.maximum(defined, 1))
    shares = shown, ignored / n_sets, 1 - defined / n_sets
    return list(zip(*(share.tolist() for share in shares), strict=True))


def ends(intervals: dict[str, Interval]) -> Floats:
    """Return the lower and the upper ends, shape (2, n_figures)."""
    noise = 1e-9  # a binary value may be the end itself
    return np.array([(i.low - noise, i.high + noise) for i in intervals.values()]).T
