"""Simulated labels of which the cause of disagreement is known."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.causes import CauseKind, RatedResponses
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float64]

PER_PROMPT = 4
N_MODELS = 3


def planted_study(  # noqa: PLR0913 - one parameter for each part of the design
    rng: np.random.Generator,
    kind: CauseKind | None,
    *,
    n_units: int = 100,
    n_raters: int = 3,
    n_levels: int = 5,
    noise: float = 0.6,
    share_missing: float = 0.0,
    skew: float = 0.0,
    share_copied: float = 0.0,
) -> tuple[RatedResponses, RubricQuestion]:
    """Return labels with one planted cause, or none.

    Quality is shared within prompts, differs by model and goes with length, none of which is a
    cause of disagreement.

    Args:
        rng: Source of randomness.
        kind: The cause; None for labels that differ by chance alone.
        n_units: Responses.
        n_raters: Raters, each of whom rates every response.
        n_levels: Values of the scale; 0 for a continuous one.
        noise: Standard deviation of a rater's error; that of quality is about 1.
        share_missing: Share of labels that are missing at random.
        skew: Shift of the scale's limits, in standard deviations of quality.
        share_copied: Share of the responses whose text, and quality, another one has too.
    """
    group = np.arange(n_units) // PER_PROMPT
    model = rng.integers(0, N_MODELS, n_units)
    quality = rng.normal(0, 0.84, n_units) + rng.normal(0, 0.55, n_units // PER_PROMPT + 1)[group]
    length = np.exp(0.5 * quality + rng.normal(0, 0.5, n_units) + 5)
    quality += 0.3 * (model - 1)
    text = np.arange(n_units)
    text[1 : round(share_copied * n_units) : 2] -= 1
    quality, length = quality[text], length[text]
    order = np.stack([rng.permutation(n_units) for _ in range(n_raters)], axis=1)
    position = order / (n_units - 1)
    error = rng.normal(0, noise, (n_units, n_raters)) * _spread(
        kind, length, model, position, is_copied=np.bincount(text, minlength=n_units)[text] > 1
    )
    impression = quality[:, None] + error
    match kind:
        case CauseKind.RATER:
            impression[:, 0] = rng.normal(0, 1.2, n_units)
        case CauseKind.CAMPS:
            other = rng.normal(0, 1, n_units)
            impression[:, n_raters // 2 :] += (other - quality)[:, None]
        case CauseKind.SCALE_USE:
            impression[:, 0] += 1.2
        case CauseKind.PREFERENCE:
            impression[:, 0] -= 1.2 * (np.log(length) - 5)
    value, scale = _on_scale(impression, n_levels, skew, rng)
    if kind is CauseKind.LEVELS:
        is_middle = (value == 2) | (value == 3)
        value[is_middle] = rng.integers(2, 4, int(is_middle.sum()))
    value[rng.random(value.shape) < share_missing] = np.nan
    unit, rater = np.nonzero(~np.isnan(value))
    names = tuple(f"r{index}" for index in range(n_raters))
    return (
        RatedResponses(
            ratings=LongRatings(unit, rater, value[unit, rater], names, group),
            response_ids=np.array([f"x{index}" for index in range(n_units)], dtype=object),
            lengths=length,
            models=np.array([f"m{index}" for index in model], dtype=object),
            positions=position[unit, rater],
            texts=text,
        ),
        RubricQuestion("clarity", "Is it clear?", scale, "ordinal" if n_levels else "interval"),
    )


def _spread(
    kind: CauseKind | None,
    length: Floats,
    model: NDArray[np.int64],
    position: Floats,
    *,
    is_copied: NDArray[np.bool_],
) -> Floats:
    """Return by how much each error is larger than it would be."""
    spreads: Mapping[CauseKind, Floats] = {
        CauseKind.COPIES: np.where(is_copied, 2.2, 0.6)[:, None],
        CauseKind.FATIGUE: 0.4 + 1.6 * position,
        CauseKind.LENGTH: np.where(length > np.quantile(length, 0.6), 2, 0.6)[:, None],
        CauseKind.MODEL: np.where(model == N_MODELS - 1, 2.2, 0.6)[:, None],
    }
    ones: Floats = np.ones((len(length), 1))
    return ones if kind is None else spreads.get(kind, ones)


def _on_scale(
    impression: Floats, n_levels: int, skew: float, rng: np.random.Generator
) -> tuple[Floats, Scale]:
    if not n_levels:
        return np.clip(50 + 18 * impression, 0, 100), Scale(low=0.0, high=100.0)
    limits = np.quantile(rng.normal(skew, 1.3, 20_000), np.linspace(0, 1, n_levels + 1)[1:-1])
    value = 1 + np.searchsorted(limits, impression).astype(np.float64)
    return value, Scale.from_steps(low=1, high=n_levels)
