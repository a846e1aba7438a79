"""Parts of the responses that a judge scores, chosen on train and dev and tested once."""

from dataclasses import replace

import numpy as np
import pytest

from eval_assets.tuning.claim_results import judge_fitness
from eval_assets.tuning.partial_automation import (
    MOST_THRESHOLDS,
    OTHER_JUDGES,
    REPLICATES,
    JudgePart,
    chosen_part,
    doubts_by_source,
    tried_parts,
)
from tests.unit.tuning.made_up import judged, partly_wrong, simulated


def test_doubts_are_distances_to_others_and_spreads_of_replicates() -> None:
    scores = {
        "a": np.array([1.0, 2.0, np.nan]),
        "b": np.array([2.0, 2.0, 1.0]),
        "c": np.array([4.0, np.nan, 1.0]),
    }
    spread = np.array([0.5, 0.0, 1.0])
    doubts = doubts_by_source("a", scores, spread, is_ordered=True)

    assert set(doubts) == {"b", "c", OTHER_JUDGES, REPLICATES}
    np.testing.assert_array_equal(doubts["b"], [1, 0, np.nan])
    np.testing.assert_array_equal(doubts[OTHER_JUDGES], [2, np.nan, np.nan])
    np.testing.assert_array_equal(doubts[REPLICATES], [0.5, 0, np.nan])


def test_classes_without_order_only_differ_or_not() -> None:
    scores = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([3.0, 2.0, np.nan])}
    doubts = doubts_by_source("a", scores, None, is_ordered=False)

    assert set(doubts) == {"b"}
    np.testing.assert_array_equal(doubts["b"], [1, 0, np.nan])


def test_a_part_with_all_units_is_tested_like_the_judge_on_all() -> None:
    units, quality = simulated(60, seed=3)
    scores, doubts = judged(quality, seed=4), np.zeros(len(quality))
    whole = judge_fitness(units, scores, margin=0.1, significance=0.025, people_agree=True)
    part = judge_fitness(
        units,
        scores,
        doubts=doubts,
        part=JudgePart("b", 0.0),
        margin=0.1,
        significance=0.025,
        people_agree=True,
    )

    assert part.compared == whole.compared
    assert part.verdict == whole.verdict


def test_the_part_is_chosen_without_labels_of_the_test() -> None:
    units, scores = partly_wrong()
    relabelled = units.ratings.copy()
    relabelled[units.splits == "test"] = 3
    doubts = doubts_by_source("broken", scores, None, is_ordered=True)
    chosen = [
        chosen_part(tried_parts(rated, scores["broken"], doubts, margin=0.1, significance=0.0125))
        for rated in (units, replace(units, ratings=relabelled))
    ]

    assert chosen[0] is not None
    assert chosen[0].part.doubt_source == "right"
    assert 0.6 < chosen[0].compared.share < 1
    assert chosen[0] == chosen[1]


def test_at_most_twelve_thresholds_are_tried() -> None:
    units, quality = simulated(200, seed=5, split=None)
    doubts = {"b": np.random.default_rng(1).random(len(quality))}
    tried = tried_parts(units, judged(quality, seed=2), doubts, margin=0.1, significance=0.0125)

    assert len(tried) == MOST_THRESHOLDS


@pytest.mark.parametrize(("n_kept", "expected"), [(23, False), (24, True)])
def test_a_part_is_tested_from_enough_groups_of_the_test_on(
    n_kept: int,
    expected: bool,  # noqa: FBT001
) -> None:
    """All other groups of the test have doubts, so that they could decide, and are not kept."""
    units, scores = partly_wrong()
    is_test = units.splits == "test"
    part_groups = np.unique(units.groups[is_test])[:n_kept]
    doubts = np.where(is_test & ~np.isin(units.groups, part_groups), 1.0, 0.0)
    [part] = tried_parts(units, scores["right"], {"b": doubts}, margin=0.1, significance=0.025)

    assert part.is_confirmable is expected


@pytest.mark.parametrize("n_single", [1, None])
def test_a_part_without_rater_pairs_on_train_and_dev_is_not_expected_to_be_confirmed(
    n_single: int | None,
) -> None:
    units, scores = partly_wrong()
    doubts = np.where(units.splits == "test", 0.0, 1.0)
    single = np.flatnonzero(units.splits != "test")[:n_single]
    doubts[single] = 0
    units.ratings[single, 1:] = np.nan
    part, *_ = tried_parts(units, scores["right"], {"b": doubts}, margin=0.1, significance=0.025)

    assert not part.compared.share > 0
    assert not part.is_confirmable
