"""Simulated evaluations of which the responses with two ratings were drawn in a known way."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.agreement.selection import ResponseFeatures
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5

Floats = NDArray[np.float64]

QUESTION = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
EVALUATION = Evaluation("test", Path(), (QUESTION,))
N_MODELS = 3

Design = Literal["responses", "groups", "one per group"]
"""How the overlap is drawn at random."""

Cause = Literal["long", "model", "low judge score", "middle judge score", "newer", "long prompts"]


@dataclass(frozen=True, eq=False)
class PlantedOverlap:
    """An evaluation of which part of the responses has two ratings.

    Args:
        humans: Its ratings.
        features: Features of its responses.
        all_ratings: Ratings by both raters of all responses.
    """

    humans: HumanRatings
    features: ResponseFeatures
    all_ratings: Floats


def planted_overlap(  # noqa: PLR0913 - one parameter for each part of the design
    rng: np.random.Generator,
    cause: Cause | None = None,
    *,
    design: Design = "responses",
    n_groups: int = 60,
    sizes: tuple[int, int] = (1, 6),
    share: float = 0.4,
    strength: float = 3.0,
) -> PlantedOverlap:
    """Return an evaluation whose overlap was drawn at random, or by a feature.

    Quality, length and date are shared within groups. Raters disagree more on long responses and
    on those of one model.

    Args:
        rng: Source of chance.
        cause: Feature that the overlap goes with; None if it was drawn at random.
        design: How it was drawn at random.
        n_groups: Response groups.
        sizes: Fewest and most responses of a group.
        share: About the share of responses with two ratings.
        strength: Log odds to have two ratings between the ends of the feature.
    """
    group = np.repeat(np.arange(n_groups), rng.integers(sizes[0], sizes[1] + 1, n_groups))
    n = len(group)
    shared = rng.normal(0, 0.6, n_groups)
    quality = shared[group] + rng.normal(0, 0.8, n)
    model = rng.integers(0, N_MODELS, n)
    length = np.exp(5 + 0.5 * shared[group] + rng.normal(0, 0.6, n))
    prompt_length = np.exp(4 + rng.normal(0, 0.5, n_groups))[group]
    date = rng.normal(0, 1, n_groups)[group] + rng.normal(0, 0.3, n)
    judge_score = 1 / (1 + np.exp(-quality - rng.normal(0, 0.5, n)))
    noise = 0.35 + 0.5 * _rank(length) + 0.3 * (model == 0)
    latent = quality[:, None] + noise[:, None] * rng.normal(size=(n, 2))
    complete = np.clip(np.round(3 + 1.2 * latent), 1, 5)
    placed = {
        "long": _rank(length) - 0.5,
        "model": (model == 0) - 1 / N_MODELS,
        "low judge score": 0.5 - _rank(judge_score),
        "middle judge score": (np.abs(_rank(judge_score) - 0.5) < 0.25) - 0.5,
        "newer": _rank(date) - 0.5,
        "long prompts": _rank(prompt_length) - 0.5,
    }
    if cause is not None:
        chance = 1 / (1 + np.exp(-np.log(share / (1 - share)) - strength * placed[cause]))
        is_rated = rng.random(n) < chance
    elif design == "groups":
        is_rated = (rng.random(n_groups) < share)[group]
    elif design == "one per group":
        is_rated = np.zeros(n, np.bool_)
        order = rng.permutation(n)
        is_rated[order[np.unique(group[order], return_index=True)[1]]] = True
    else:
        is_rated = rng.random(n) < share
    unit = np.concatenate([np.arange(n), np.flatnonzero(is_rated)])
    rater = np.concatenate([np.zeros(n, np.int64), np.ones(is_rated.sum(), np.int64)])
    order = np.lexsort((rater, unit))
    ratings = LongRatings(
        unit[order], rater[order], complete[unit, rater][order], ("anna", "ben"), group
    )
    return PlantedOverlap(
        HumanRatings({QUESTION.id: ratings}, {}, {}, "v1"),
        ResponseFeatures(
            lengths=length,
            prompt_lengths=prompt_length,
            dates=date,
            models=np.array([f"model {k}" for k in model], dtype=object),
            applicable={QUESTION.id: np.ones(n, np.bool_)},
            judge_scores={QUESTION.id: judge_score},
        ),
        complete,
    )


def _rank(values: Floats) -> Floats:
    rank: Floats = values.argsort().argsort() / max(1, len(values) - 1)
    return rank
