"""Figures that a certificate shows beside its verdicts, and never instead of them."""

import math

import numpy as np

from eval_assets.stats import (
    alternative_annotator_test,
    best_monotone_map,
    concordance,
    human_agreement,
    judge_human_agreement,
    krippendorff_alpha,
    spearman,
)
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.wording import or_none

Figures = dict[str, object]

ALT_TEST_EPSILON = 0.15
"""Value of a judge's lower cost beside skilled raters, as the test's authors propose."""


def figures_beside(train: RatedUnits, test: RatedUnits, scores: Floats) -> Figures:
    """Return what is known of a certified version on the test, as JSON.

    Args:
        train: Units that controls are fitted on.
        test: Units under the seal that the version scored.
        scores: The version's scores of these units, none missing.
    """
    scale = test.question.scale
    constant = _best_constant(train, test)
    figures: Figures = {
        "a_ha": or_none(_a_ha(test, scores)),
        "a_hh": or_none(human_agreement(test.ratings, low=scale.low, high=scale.high)),
        "alpha_people": or_none(krippendorff_alpha(test.ratings, level=test.level)),
        "alpha_with_judge": or_none(
            krippendorff_alpha(np.column_stack([test.ratings, scores]), level=test.level)
        ),
        "spearman": or_none(spearman(np.nanmean(test.ratings, axis=1), scores)),
        "alternative_annotator_test": _alt_test(test, scores),
        "people": _distribution(test),
        "confusion": _confusion(test, scores),
        "by_model": _by_model(test, scores),
        "controls": {
            "constant": {
                "value": constant,
                "kappa": 0.0,
                "a_ha": or_none(_a_ha(test, np.full(len(scores), constant))),
                "alternative_annotator_test": _alt_test(test, np.full(len(scores), constant)),
            },
            "shuffled": {"kappa": 0.0, "a_ha": or_none(_shuffled_a_ha(test, scores))},
            "length": {"kappa": _length_figure(train, test)},
        },
    }
    if scale.is_binary:
        figures |= _of_positives(test, scores)
    return figures


def _a_ha(test: RatedUnits, scores: Floats) -> float:
    """Return A^HA; NaN if undefined."""
    scale = test.question.scale
    return judge_human_agreement(test.ratings, scores, low=scale.low, high=scale.high)


def _best_constant(train: RatedUnits, test: RatedUnits) -> float:
    """Return the value that has the highest A^HA on train; without train, that of the test."""
    units = train if len(train.ratings) else test
    given = units.ratings[~np.isnan(units.ratings)]
    candidates = np.unique(given)
    near = [_a_ha(units, np.full(len(units.ratings), value)) for value in candidates]
    return float(candidates[int(np.argmax(near))])


def _alt_test(test: RatedUnits, scores: Floats) -> Figures:
    by_value = test.level != "nominal" and not test.question.scale.is_binary
    found = alternative_annotator_test(
        test.ratings,
        scores,
        scoring="rmse" if by_value else "accuracy",
        epsilon=ALT_TEST_EPSILON,
    )
    return {
        "winning_rate": or_none(found.winning_rate),
        "advantage": or_none(found.advantage),
        "epsilon": ALT_TEST_EPSILON,
    }


def _distribution(test: RatedUnits) -> dict[str, float]:
    """Return the share of each value among the ratings."""
    given = test.ratings[~np.isnan(test.ratings)]
    values, counts = np.unique(given, return_counts=True)
    return {f"{v:g}": float(c / len(given)) for v, c in zip(values, counts, strict=True)}


def _confusion(test: RatedUnits, scores: Floats) -> list[dict[str, float | int]]:
    """Return how often each (human rating, judge's score) occurs, of all pairs."""
    unit, rater = np.nonzero(~np.isnan(test.ratings))
    humans, row = np.unique(test.ratings[unit, rater], return_inverse=True)
    judged, column = np.unique(scores[unit], return_inverse=True)
    cells, counts = np.unique(row * len(judged) + column, return_counts=True)
    if len(cells) > MOST_CELLS:
        return []
    return [
        {"human": float(human), "judge": float(judge), "n": int(n)}
        for human, judge, n in zip(
            humans[cells // len(judged)], judged[cells % len(judged)], counts, strict=True
        )
    ]


MOST_CELLS = 200
"""A confusion table of more cells shows nothing."""


def _of_positives(test: RatedUnits, scores: Floats) -> Figures:
    """Return accuracy, precision, recall and F1 of the judge's 1, over all (rater, judge) pairs."""
    unit, rater = np.nonzero(~np.isnan(test.ratings))
    human, judge = test.ratings[unit, rater] > 0.5, scores[unit] > 0.5  # noqa: PLR2004 - of 0, 1
    both = int((human & judge).sum())
    precision = both / int(judge.sum()) if judge.any() else math.nan
    recall = both / int(human.sum()) if human.any() else math.nan
    return {
        "accuracy": float((human == judge).mean()),
        "precision": or_none(precision),
        "recall": or_none(recall),
        "f1": or_none(2 * both / int(judge.sum() + human.sum())) if (judge | human).any() else None,
    }


def _by_model(test: RatedUnits, scores: Floats) -> list[Figures]:
    """Return the figure within each model's answers, and judge minus mean human.

    The figure does not travel to easier or harder answers; the difference to people does.
    """
    rows: list[Figures] = []
    mean = np.nanmean(test.ratings, axis=1)
    for model in np.unique(test.models):
        own = test.models == model
        rows.append(
            {
                "model_name": str(model),
                "n_units": int(own.sum()),
                "kappa": or_none(concordance(test.ratings[own], scores[own])),
                "judge_minus_human": float((scores[own] - mean[own]).mean()),
            }
        )
    return rows


def _shuffled_a_ha(test: RatedUnits, scores: Floats) -> float:
    """Return the A^HA to expect if these scores were dealt out to the answers at random."""
    values, counts = np.unique(scores, return_counts=True)
    near = [_a_ha(test, np.full(len(scores), value)) for value in values]
    return float(np.dot(counts, near) / len(scores))


def _length_figure(train: RatedUnits, test: RatedUnits) -> float | None:
    """Return the figure of a judge that knows only how long an answer is, as it fits train."""
    figures = []
    for sign in (1, -1):
        fitted = best_monotone_map(train.ratings, sign * train.lengths, scale=train.question.scale)
        on_train = concordance(train.ratings, fitted(sign * train.lengths))
        on_test = concordance(test.ratings, fitted(sign * test.lengths))
        if not math.isnan(on_train):
            figures.append((on_train, on_test))
    return or_none(max(figures)[1]) if figures else None
