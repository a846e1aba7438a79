"""Agreement within response groups, beside scores dealt out there."""

import math

import numpy as np
import pytest

from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import JudgeHumanProfile, judge_human_profile
from eval_assets.stats._numbers import Floats, Integers

CLASSES = Scale(1, 5, (1.0, 2.0, 3.0, 4.0, 5.0), has_order=False)


def profile_of(
    human: Floats, judge: Floats, groups: Integers | None, *, scale: Scale = LIKERT5
) -> JudgeHumanProfile:
    level = scale.default_level() if scale.has_order else "nominal"
    return judge_human_profile(
        human, judge, scale=scale, level=level, confidence=0.95, groups=groups
    )


def sample(*, seed: int, n: int = 60, n_groups: int = 15) -> tuple[Floats, Floats, Integers]:
    """Ratings of three raters and scores, some of each missing, and groups."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (n, 3)).astype(float)
    judge = np.where(rng.random(n) < 0.5, human[:, 0], rng.integers(1, 6, n))
    human[rng.random((n, 3)) < 0.3] = np.nan
    judge[rng.random(n) < 0.1] = np.nan
    return human, judge, rng.integers(0, n_groups, n)


def enumerated(human: Floats, judge: Floats, groups: Integers, scale: Scale) -> tuple[float, float]:
    """Return the figures of judge and people from every pair of a score and a rating."""

    def agreement(score: float, ratings: Floats) -> float:
        apart = np.abs(ratings - score) / 4 if scale.has_order else ratings != score
        return 1 - float(np.nanmean(np.where(np.isnan(ratings), np.nan, apart)))

    judged = ~np.isnan(judge) & ~np.isnan(human).all(axis=1)
    gains: dict[str, list[float]] = {"judge": [], "people": []}
    for group in np.unique(groups):
        units = np.flatnonzero(judged & (groups == group))
        if len(units) < 2:
            continue
        sides = [("judge", judge, human, units)]
        for rater in range(human.shape[1]):
            peers = np.delete(human, rater, axis=1)
            is_paired = ~np.isnan(human[units, rater]) & ~np.isnan(peers[units]).all(axis=1)
            sides.append(("people", human[:, rater], peers, units[is_paired]))
        for side, scores, ratings, dealt in sides:
            for unit in dealt if len(dealt) > 1 else ():
                by_chance = np.mean([agreement(scores[other], ratings[unit]) for other in dealt])
                gains[side].append(agreement(scores[unit], ratings[unit]) - float(by_chance))
    return float(np.mean(gains["judge"])), float(np.mean(gains["people"]))


@pytest.mark.parametrize("scale", [LIKERT5, CLASSES, Scale(1, 5, None)])
@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_all_ways_to_deal_scores_out_within_a_group(
    scale: Scale, seed: int
) -> None:
    human, judge, groups = sample(seed=seed)
    profile = profile_of(human, judge, groups, scale=scale)

    assert (profile.a_ha_within.value, profile.a_hh_within.value) == pytest.approx(
        enumerated(human, judge, groups, scale)
    )
    assert profile.a_ha_within_above_people.value == pytest.approx(
        profile.a_ha_within.value - profile.a_hh_within.value
    )


def test_a_judge_is_measured_as_a_rater_who_gives_the_same_ratings() -> None:
    human, _, groups = sample(seed=4)
    pair = human[~np.isnan(human[:, :2]).any(axis=1), :2]
    profile = profile_of(pair[:, :1], pair[:, 1], groups[: len(pair)])
    reverse = profile_of(pair[:, 1:], pair[:, 0], groups[: len(pair)])
    repeat = profile_of(pair, pair[:, 0], groups[: len(pair)])

    assert repeat.a_hh_within.value == pytest.approx(
        (profile.a_ha_within.value + reverse.a_ha_within.value) / 2
    )


def test_equal_scores_within_groups_add_nothing_to_those_dealt_out() -> None:
    human, _, groups = sample(seed=5)
    within = profile_of(human, (groups % 5 + 1).astype(float), groups).a_ha_within

    assert within.value == 0
    assert within.method == "exact"
    assert within.high == pytest.approx(1 - 0.025 ** (1 / within.n_groups))
    assert within.low == -within.high


@pytest.mark.parametrize("groups", [None, np.arange(60)])
def test_groups_of_one_unit_say_nothing_of_responses_of_one_group(groups: Integers | None) -> None:
    human, judge, _ = sample(seed=6)
    profile = profile_of(human, judge, groups)

    for figure in (profile.a_ha_within, profile.a_hh_within, profile.a_ha_within_above_people):
        assert np.isnan([figure.value, figure.low, figure.high]).all()


def test_groups_of_one_unit_change_no_figure_within_groups() -> None:
    human, judge, groups = sample(seed=7)
    alone, more, _ = sample(seed=8)
    longer = profile_of(
        np.vstack([human, alone]),
        np.append(judge, more),
        np.append(groups, 100 + np.arange(60)),
    )

    assert longer.a_ha_within == profile_of(human, judge, groups).a_ha_within
    assert longer.a_hh_within == profile_of(human, judge, groups).a_hh_within


def test_people_without_two_ratings_of_a_unit_have_no_agreement_within_groups() -> None:
    human, judge, groups = sample(seed=9)
    profile = profile_of(human[:, :1], judge, groups)

    assert np.isnan(profile.a_hh_within.value)
    assert profile.a_ha_within.low < profile.a_ha_within.value < profile.a_ha_within.high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_interval_within_groups_holds_over_other_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(20), 5)

    def drawn(n_groups: int, groups: Integers) -> tuple[Floats, Floats]:
        quality = rng.normal(size=n_groups)[groups] + rng.normal(size=len(groups))
        impression = quality[:, np.newaxis] + rng.normal(0, 0.7, (len(groups), 3))
        rated = np.clip(np.rint(impression + 3), 1, 5)
        return rated[:, :2], rated[:, 2]

    many = np.repeat(np.arange(4000), 5)
    truth = profile_of(*drawn(4000, many), many).a_ha_within.value
    result = [profile_of(*drawn(20, groups), groups) for _ in range(100)]
    held = [p.a_ha_within.low <= truth <= p.a_ha_within.high for p in result]
    as_people = [p.a_ha_within_above_people for p in result]

    assert sum(held) >= 88
    assert sum(figure.low <= 0 <= figure.high for figure in as_people) >= 88


def test_what_judge_and_people_share_narrows_the_interval_of_their_difference() -> None:
    """Responses differ in half of the groups alone: there both agree, and elsewhere neither."""
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(40), 5)
    quality = np.where(groups % 2 == 0, np.tile(np.arange(1, 6), 40), 3)
    ratings = np.clip(quality[:, None] + rng.integers(-1, 2, (200, 3)), 1, 5).astype(float)
    profile = profile_of(ratings[:, :2], ratings[:, 2], groups)
    widths = [
        figure.high - figure.low
        for figure in (
            profile.a_ha_within,
            profile.a_hh_within,
            profile.a_ha_within_above_people,
        )
    ]

    assert widths[2] < 0.6 * math.hypot(*widths[:2])
