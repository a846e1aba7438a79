import math

import numpy as np
import pytest
from scipy import stats

from eval_assets.scale import LIKERT5
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    Level,
    RatingPatterns,
    coefficient_interval,
    groups_to_detect,
    more_to_decide,
    probability_below,
)
from eval_assets.stats.planning import doubles_to_tell, units_after_revision

LIMIT = 0.667


def pairs(shares: list[float], alpha: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return ratings of two raters with a true alpha: the second copies the first that often."""
    first = rng.choice(len(shares), n, p=shares)
    second = np.where(rng.random(n) < alpha, first, rng.choice(len(shares), n, p=shares))
    return np.column_stack([first, second]).astype(float)


@pytest.mark.parametrize(
    ("shares", "level"),
    [([0.5, 0.5], "nominal"), ([0.8, 0.2], "nominal"), ([0.1, 0.2, 0.4, 0.2, 0.1], "ordinal")],
)
@pytest.mark.parametrize("alpha", [0.4, 0.9])
def test_doubles_tell_who_agrees_in_four_of_five_studies(
    shares: list[float], level: Level, alpha: float
) -> None:
    rng = np.random.default_rng(1)
    values = np.repeat(np.arange(len(shares)), np.round(np.array(shares) * 100).astype(int))
    n = doubles_to_tell(values.astype(float), level=level, limit=LIMIT)
    assert n is not None

    n_clear = 0
    for _ in range(100):
        study = coefficient_interval(pairs(shares, alpha, n, rng), Alpha(level), confidence=0.95)
        n_clear += study.low >= LIMIT if alpha > LIMIT else study.high < LIMIT

    assert 0.65 <= n_clear / 100 <= 0.95


def test_doubles_of_one_value_tell_nothing() -> None:
    assert doubles_to_tell(np.ones(30), level="nominal", limit=LIMIT) is None


@pytest.mark.parametrize("limit", [0.3, 0.95])
def test_doubles_are_planned_for_any_minimum(limit: float) -> None:
    n = doubles_to_tell(np.repeat([0.0, 1.0], 50), level="nominal", limit=limit)

    assert n is not None
    assert 10 < n < 200


def study(noise: float, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, n)
    rated = quality[:, None] + rng.normal(0, noise, (n, 3))
    return np.searchsorted([-1.3, -0.45, 0.45, 1.3], rated).astype(float)


def test_new_units_show_a_revised_question_in_most_studies() -> None:
    """The plan is made on a poor question, and the studies have an alpha of .8."""
    plans = []
    for seed in range(20):
        ratings = study(1.0, 60, seed)
        alpha = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
        patterns = RatingPatterns.from_matrix(ratings)
        plans.append(units_after_revision(patterns, alpha, level="ordinal", limit=LIMIT))
    n = int(np.median([plan for plan in plans if plan is not None]))
    truth = coefficient_interval(study(0.4, 20_000, 1), Alpha("ordinal"), confidence=0.95)
    assert truth.value == pytest.approx(0.8, abs=0.02)

    shown = [
        coefficient_interval(study(0.4, n, seed), Alpha("ordinal"), confidence=0.95).low >= LIMIT
        for seed in range(100)
    ]

    assert 0.6 <= np.mean(shown) <= 0.95


def test_no_new_units_are_planned_without_an_interval() -> None:
    ratings = [[1, 2]]
    alpha = coefficient_interval(ratings, Alpha("ordinal"), confidence=0.95)
    patterns = RatingPatterns.from_matrix(ratings)

    assert units_after_revision(patterns, alpha, level="ordinal", limit=LIMIT) is None


def test_halving_the_effect_takes_four_times_the_groups() -> None:
    assert groups_to_detect(0.04, detectable=0.08, n_groups=50) == 200
    assert groups_to_detect(0.08, detectable=0.08, n_groups=50) == 50


def test_size_of_a_study_of_a_share_is_the_textbook_one() -> None:
    """152 of a share of .8 against .7: ((1.96 sqrt(.7 x .3) + .84 sqrt(.8 x .2)) / .1)^2."""
    low, high = stats.binomtest(48, 60).proportion_ci(method="wilson")
    n_more = more_to_decide(0.8, low=low, high=high, limit=0.7, n=60)

    assert n_more is not None
    assert 60 + n_more == pytest.approx(152, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "coefficient", "limit"),
    [
        (0.5, Alpha("interval"), 0.667),
        (0.7, Alpha("interval"), 0.667),
        (0.5, Alpha("ordinal"), 0.8),
        (0.8, Alpha("nominal"), 0.5),
        (0.7, HumanAgreement(LIKERT5), 0.77),
    ],
)
def test_four_of_five_studies_of_the_planned_size_decide(
    noise: float, coefficient: Alpha | HumanAgreement, limit: float
) -> None:
    """Studies of three raters, planned from intervals of 60 responses around the true value."""
    rng = np.random.default_rng(1)
    n_cuts = 1 if coefficient == Alpha("nominal") else 4
    cuts = np.linspace(-1.2, 1.2, n_cuts) if n_cuts > 1 else np.zeros(1)

    def interval(n_responses: int) -> Interval:
        latent = rng.normal(size=(n_responses, 1)) + noise * rng.normal(size=(n_responses, 3))
        return coefficient_interval(np.digitize(latent, cuts) + 1.0, coefficient, confidence=0.95)

    truth = interval(500_000).value
    planned = []
    for _ in range(100):
        pilot = interval(60)
        shift = truth - pilot.value
        n_more = more_to_decide(
            truth, low=pilot.low + shift, high=pilot.high + shift, limit=limit, n=60
        )
        planned.append(60 + (n_more or 0))
    n_planned = int(np.median(planned))
    assert n_planned > 60
    studies = [interval(n_planned) for _ in range(300)]
    share = np.mean([not study.low < limit < study.high for study in studies])

    assert share == pytest.approx(0.8, abs=0.08)


def test_decided_and_undefined_figures_take_no_more() -> None:
    assert more_to_decide(0.8, low=0.71, high=0.9, limit=0.7, n=30) == 0
    assert more_to_decide(0.6, low=0.5, high=0.7, limit=0.7, n=30) == 0
    assert more_to_decide(0.7, low=0.6, high=0.8, limit=0.7, n=30) is None
    assert more_to_decide(0.7, low=math.nan, high=math.nan, limit=0.6, n=30) is None
    with pytest.raises(ValueError, match=r"low must not be above high, got 0\.8 and 0\.6"):
        more_to_decide(0.7, low=0.8, high=0.6, limit=0.6, n=30)


@pytest.mark.parametrize("effect", [0.0, -0.1])
def test_groups_to_detect_take_an_effect_above_zero(effect: float) -> None:
    with pytest.raises(ValueError, match=f"effect must be above 0, got {effect:g}"):
        groups_to_detect(effect, detectable=0.1, n_groups=40)


@pytest.mark.parametrize("is_share", [True, False])
def test_the_probability_below_a_limit_is_that_of_the_interval_at_its_ends(
    is_share: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    at = [
        probability_below(0.75, low=0.6, high=0.86, limit=limit, n_groups=40, is_share=is_share)
        for limit in (0.6, 0.75, 0.86)
    ]

    assert at == pytest.approx([0.025, 0.5, 0.975], abs=0.004)


def test_agreement_without_an_exception_has_the_exact_bound() -> None:
    """Of 20 groups that are all alike, 1 - .025^(1/20) may differ."""
    low = 0.025 ** (1 / 20)
    at = [
        probability_below(1.0, low=low, high=1.0, limit=limit, n_groups=20, is_share=True)
        for limit in (low, 0.9)
    ]

    assert at == pytest.approx([0.025, 0.9**20])
    assert math.isnan(
        probability_below(0.7, low=math.nan, high=0.8, limit=0.6, n_groups=20, is_share=True)
    )
