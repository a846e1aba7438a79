"""Rates of advice on raters with honest labels, and of recognised planted faults."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.table import Row, markdown
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import Labelling
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.quality import QualityFigure, measure_quality
from eval_assets.scale import BINARY, LIKERT5, Scale

STUDIES = 200
HONEST_SHARE = 0.05
FOUND_SHARE = 0.9
N_WORDS = 150

Floats = NDArray[np.float64]
Ratings = dict[str, Floats]
Seconds = dict[str, Floats]
Fault = Callable[[np.random.Generator, Ratings, Seconds], None]
"""Puts a fault into the labels of the first rater, in the order in which they are given."""


def table() -> str:
    """Simulate all studies and return the rows as Markdown."""
    rows = []
    for scale, name in ((LIKERT5, "1 to 5"), (BINARY, "yes or no")):
        for n_raters, n_responses in ((2, 100), (3, 60), (5, 100), (10, 200)):
            share = _share_with(scale, n_raters, n_responses, _nothing, measure=None)
            work = f"honest studies with advice: {name}, {n_raters} raters, {n_responses} responses"
            rows.append(_row(work, share, at_most=HONEST_SHARE))
    for scale, name in ((LIKERT5, "1 to 5"), (BINARY, "yes or no")):
        for fault, (plant, measure) in _FAULTS.items():
            share = _share_with(scale, 5, 200, plant, measure=measure)
            work = f"{fault} found: {name}, 5 raters, 200 responses"
            rows.append(_row(work, share, at_least=FOUND_SHARE))
    return markdown(rows)


def _share_with(
    scale: Scale, n_raters: int, n_responses: int, plant: Fault, *, measure: str | None
) -> float:
    """Return the share of studies with advice: on the first rater's measure, or any if None."""
    n_advised = 0
    for seed in range(STUDIES):
        figures = _figures(scale, n_raters, n_responses, plant, np.random.default_rng(seed))
        n_advised += any(
            figure.advice
            and (measure is None or (figure.rater_id, figure.measure) == ("r0", measure))
            for figure in figures
        )
    return n_advised / STUDIES


def _figures(
    scale: Scale, n_raters: int, n_responses: int, plant: Fault, rng: np.random.Generator
) -> list[QualityFigure]:
    raters = [f"r{number}" for number in range(n_raters)]
    question = RubricQuestion("q", "?", scale, "ordinal" if scale is LIKERT5 else "nominal")
    evaluation = Evaluation("e", Path(), (question,), labelling=Labelling(raters=tuple(raters)))
    ratings, seconds = _honest(scale, raters, n_responses, rng)
    orders = {rater: rng.permutation(n_responses) for rater in raters}
    in_order = {rater: ratings[rater][orders[rater]] for rater in raters}
    by_response = dict(in_order)
    if plant is _copied:
        ratings["r0"] = ratings["r1"].copy()
        by_response["r0"] = ratings["r0"][orders["r0"]]
    else:
        plant(rng, by_response, seconds)
    frames = [
        _labels(rater, by_response[rater], orders[rater], seconds[rater], rng) for rater in raters
    ]
    repeats = [_repeats(rater, ratings[rater], scale, rng) for rater in raters]
    labels = pd.concat(frames, ignore_index=True)
    history = pd.concat(repeats, ignore_index=True)
    return measure_quality(
        evaluation, lambda _: labels, history, assigned={}, controls={}, checks={}
    )


def _honest(
    scale: Scale, raters: list[str], n: int, rng: np.random.Generator
) -> tuple[Ratings, Seconds]:
    """Raters who differ in severity and care, and read 150 to 400 words a minute."""
    quality = rng.uniform(-1.5, 1.5, n)
    difficulty = rng.normal(0, 0.3, n)
    ratings, seconds = {}, {}
    for rater in raters:
        severity, noise = rng.normal(0, 0.15), rng.uniform(0.3, 0.7)
        impression = quality + difficulty + severity + rng.normal(0, noise, n)
        if scale is LIKERT5:
            ratings[rater] = np.clip(np.rint(impression * 1.3 + 3), 1, 5)
        else:
            ratings[rater] = (impression > -0.4).astype(float)
        seconds[rater] = N_WORDS / (rng.uniform(150, 400) / 60) * rng.lognormal(0, 0.3, n)
    return ratings, seconds


def _labels(
    rater: str, values: Floats, order: NDArray[np.int64], seconds: Floats, rng: np.random.Generator
) -> pd.DataFrame:
    n = len(values)
    skipped = rng.random(n) < 0.03
    minutes = pd.Timestamp("2026-11-21T09:00:00Z") + pd.to_timedelta(np.arange(n), unit="min")
    return pd.DataFrame(
        {
            "response_id": [f"a{k:04}" for k in order],
            "question_id": "q",
            "rater_id": rater,
            "value": np.where(skipped, np.nan, values),
            "skipped": skipped,
            "confidence": rng.choice(["high", "medium", "low"], n),
            "labelled_at": minutes.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": seconds,
            "words": float(N_WORDS),
            "is_outdated": False,
        }
    )


def _repeats(rater: str, values: Floats, scale: Scale, rng: np.random.Generator) -> pd.DataFrame:
    """A tenth of the responses again, rated one step apart in one case of eight."""
    n = len(values) // 10
    is_shifted = rng.random(n) < 1 / 8
    repeat = values[:n] + np.where(values[:n] >= scale.high, -1, 1) * is_shifted
    return pd.DataFrame(
        {
            "response_id": [f"a{k:04}" for k in range(n)],
            "question_id": "q",
            "rater_id": rater,
            "kind": "repeat",
            "before": values[:n],
            "after": repeat,
        }
    )


def _nothing(_: np.random.Generator, __: Ratings, ___: Seconds) -> None:
    """Plant no fault."""


def _copied(_: np.random.Generator, __: Ratings, ___: Seconds) -> None:
    """Give the second rater's answers; they are copied before they are put in order."""


def _fast(rng: np.random.Generator, _: Ratings, seconds: Seconds) -> None:
    """Give labels in one to four seconds."""
    seconds["r0"] = rng.uniform(1, 4, len(seconds["r0"]))


def _one_value(rng: np.random.Generator, ratings: Ratings, _: Seconds) -> None:
    """Give one value to nineteen of twenty responses."""
    ratings["r0"] = np.where(rng.random(len(ratings["r0"])) < 0.95, 1.0, ratings["r0"])


def _straight(rng: np.random.Generator, ratings: Ratings, _: Seconds) -> None:
    """Give one value from some moment in the second half on."""
    start = rng.integers(len(ratings["r0"]) // 2, 3 * len(ratings["r0"]) // 4)
    ratings["r0"][start:] = ratings["r0"][start]


_FAULTS: Mapping[str, tuple[Fault, str]] = {
    "copied answers": (_copied, "identical_share"),
    "labels in 1 to 4 seconds": (_fast, "too_fast_share"),
    "one value in 19 of 20 labels": (_one_value, "most_frequent_share"),
    "one value from the second half on": (_straight, "longest_run"),
}


def _row(work: str, share: float, *, at_most: float = 1, at_least: float = 0) -> Row:
    target = f"at least {at_least:.0%}" if at_least else f"at most {at_most:.0%}"
    return Row(work, f"{share:.1%}", "", "", target, at_least <= share <= at_most)
