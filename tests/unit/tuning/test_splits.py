"""Splits of rated responses into what a judge is tuned on and what it is tested on."""

import hashlib

import numpy as np
import pytest

from eval_assets.tuning import split_by_group

RNG_SEED = 5


def spread(n_groups: int, per_group: int = 2) -> tuple[list[str], np.ndarray]:
    """Groups whose ratings rise from 1 to 5, all responses of a group next to each other."""
    groups = [f"g{i:03}" for i in range(n_groups) for _ in range(per_group)]
    return groups, np.repeat(np.linspace(1, 5, n_groups), per_group)


def test_responses_of_one_group_are_never_parted() -> None:
    rng = np.random.default_rng(RNG_SEED)
    groups = [f"g{i}" for i in rng.integers(0, 40, size=300)]
    splits = split_by_group(groups, rng.uniform(1, 5, size=300), test_share=0.5, salt="q")

    assert all(
        len({s for g, s in zip(groups, splits, strict=True) if g == name}) == 1 for name in groups
    )
    assert set(splits) == {"train", "test"}


@pytest.mark.parametrize(("test_share", "expected"), [(0.5, 50), (0.2, 20), (0.33, 33)])
def test_the_test_part_holds_its_share_of_groups(test_share: float, expected: int) -> None:
    groups, ratings = spread(100)
    splits = split_by_group(groups, ratings, test_share=test_share, salt="q")

    assert splits.count("test") == 2 * expected


def test_both_parts_hold_high_and_low_ratings_alike() -> None:
    """Five strata of 20 groups give 10 of each to either part, so the means lie close."""
    groups, ratings = spread(100)
    is_test = np.array(split_by_group(groups, ratings, test_share=0.5, salt="q")) == "test"

    for fifth in np.array_split(is_test, 5):
        assert fifth.sum() == len(fifth) / 2
    assert abs(ratings[is_test].mean() - ratings[~is_test].mean()) < 0.2


def test_the_order_of_rows_does_not_matter() -> None:
    groups, ratings = spread(30)
    order = np.random.default_rng(RNG_SEED).permutation(len(groups))
    splits = split_by_group(groups, ratings, test_share=0.5, salt="q")
    shuffled = split_by_group([groups[i] for i in order], ratings[order], test_share=0.5, salt="q")

    assert shuffled == [splits[i] for i in order]


def test_another_salt_splits_otherwise() -> None:
    groups, ratings = spread(30)

    assert split_by_group(groups, ratings, test_share=0.5, salt="clarity") != split_by_group(
        groups, ratings, test_share=0.5, salt="safety"
    )


def test_equal_ratings_are_parted_by_the_hash_of_the_name_alone() -> None:
    """With one stratum the group whose hash is lowest goes to the test."""
    names = ["a", "b", "c"]
    lowest = min(names, key=lambda name: hashlib.sha256(f"q\x1f{name}".encode()).digest()[:8])
    splits = split_by_group(names, np.full(3, 2.0), test_share=1 / 3, salt="q")

    assert dict(zip(names, splits, strict=True)) == {
        name: "test" if name == lowest else "train" for name in names
    }


def test_a_single_group_is_kept_whole() -> None:
    splits = split_by_group(["a"] * 4, np.array([1.0, 2, 3, 4]), test_share=0.5, salt="q")

    assert len(set(splits)) == 1


def test_no_responses_make_no_split() -> None:
    assert split_by_group([], np.array([]), test_share=0.5, salt="q") == []


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="one group a rating is needed, got 2 for 1"):
        split_by_group(["a", "b"], np.array([1.0]), test_share=0.5, salt="q")


@pytest.mark.parametrize("test_share", [0.0, 1.0, -0.1, 50.0, float("nan")])
def test_a_share_outside_its_range_is_refused(test_share: float) -> None:
    with pytest.raises(ValueError, match=r"test_share must lie in \(0, 1\), got "):
        split_by_group(["a"], np.array([1.0]), test_share=test_share, salt="q")
