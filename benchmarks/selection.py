"""Rates at which an overlap is reported as different, and coverage of weighted intervals."""

from collections.abc import Iterator
from itertools import product
from typing import get_args

import numpy as np

from eval_assets.agreement.selection import SelectionFeature, SelectionMeasures, measure_selection
from eval_assets.catalogue import Figure
from eval_assets.scale import LIKERT5
from eval_assets.stats import human_agreement, krippendorff_alpha
from tests.unit.agreement.planted_overlaps import (
    EVALUATION,
    Cause,
    Design,
    PlantedOverlap,
    planted_overlap,
)

N_NULL, N_PLANTED = 1_000, 400
SEED = 20261123
POPULATION = 40_000
"""Groups that the true values are computed from."""

SIZES = ((1, 1), (4, 4), (1, 6), (1, 20))
"""Fewest and most responses of a group."""

N_GROUPS = (24, 60)
SHARES = (0.2, 0.5, 0.8)
FEATURES: dict[Cause, SelectionFeature] = {
    "long": SelectionFeature.LENGTH,
    "model": SelectionFeature.MODEL,
    "low judge score": SelectionFeature.JUDGE_SCORE,
    "middle judge score": SelectionFeature.JUDGE_SCORE,
    "newer": SelectionFeature.DATE,
    "long prompts": SelectionFeature.PROMPT_LENGTH,
}
_NULL = f"""
{N_NULL:,} simulated evaluations a cell, of which a random fifth, half or four fifths of the
responses, or of the groups, have two ratings; of "one per group" one response of each. Length, date
and quality are shared within groups. Six features are tested. Target: at most 5 % have any
difference reported. With groups of unequal size "one per group" draws more from small groups, which
is reported as such, so it has no cell there.

"""
_PLANTED = f"""
{N_PLANTED} simulated evaluations a row: the chance to have two ratings goes with one feature, by
log odds of 3 between its ends, for about 40 % of the responses. Raters disagree more on long
responses and on those of one model. Columns A^HH and alpha have the share of 95 % intervals that
hold the value on all responses of a large population, bias that of alpha.

| overlap goes with | groups | reported | A^HH | weighted | alpha | weighted | bias | weighted |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def table() -> str:
    """Simulate overlaps that were drawn at random, and by a feature."""
    return _NULL.lstrip() + _null() + "\n" + _PLANTED + "\n".join(_planted())


def _measured(overlap: PlantedOverlap) -> SelectionMeasures:
    return measure_selection(overlap.humans, overlap.features, EVALUATION)


def _null() -> str:
    columns = [(sizes, n) for sizes in SIZES for n in N_GROUPS]
    heads = [
        f"{n} groups of {low if low == high else f'{low} to {high}'}" for (low, high), n in columns
    ]
    lines = [f"| drawn | {' | '.join(heads)} |", "| --- " * (len(heads) + 1) + "|"]
    for design in get_args(Design):
        cells = [
            ""
            if design == "one per group" and sizes[0] != sizes[1]
            else f"{100 * _share_reported(design, sizes, n):.1f} %"
            for sizes, n in columns
        ]
        lines.append(f"| {design} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share_reported(design: Design, sizes: tuple[int, int], n_groups: int) -> float:
    rng = np.random.default_rng(SEED)
    n_reported = 0
    for _ in range(N_NULL):
        share = float(rng.choice(SHARES))
        overlap = planted_overlap(rng, design=design, n_groups=n_groups, sizes=sizes, share=share)
        n_reported += any(test.is_reported for test in _measured(overlap).tests)
    return n_reported / N_NULL


def _planted() -> Iterator[str]:
    for cause, (sizes, n_groups) in product(
        (None, *get_args(Cause)), (((1, 1), 100), ((1, 6), 40), ((1, 6), 100))
    ):
        complete = planted_overlap(
            np.random.default_rng(SEED), n_groups=POPULATION, sizes=sizes
        ).all_ratings
        a_hh = human_agreement(complete, scale=LIKERT5)
        alpha = krippendorff_alpha(complete, level="ordinal")
        rng = np.random.default_rng(SEED)
        overlaps = (
            planted_overlap(rng, cause, n_groups=n_groups, sizes=sizes) for _ in range(N_PLANTED)
        )
        measures = [_measured(overlap) for overlap in overlaps]
        rows = [row for one in measures for row in one.weighted]
        reported = [
            any(
                test.is_reported and (cause is None or test.feature is FEATURES[cause])
                for test in one.tests
            )
            for one in measures
        ]
        cells = [
            cause or "nothing",
            f"{n_groups} of {sizes[0]} to {sizes[1]}",
            f"{100 * np.mean(reported):.1f} %",
            _held([row.a_hh for row in rows], a_hh),
            _held([row.a_hh_weighted for row in rows], a_hh),
            _held([row.alpha for row in rows], alpha),
            _held([row.alpha_weighted for row in rows], alpha),
            f"{np.mean([row.alpha.value for row in rows]) - alpha:+.3f}",
            f"{np.mean([row.alpha_weighted.value for row in rows]) - alpha:+.3f}",
        ]
        yield f"| {' | '.join(cells)} |"


def _held(figures: list[Figure], truth: float) -> str:
    held = [figure.low <= truth <= figure.high for figure in figures]
    return f"{np.mean(held):.3f}".removeprefix("0")
