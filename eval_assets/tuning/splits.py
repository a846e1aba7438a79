"""Splits: which rated responses a judge is tuned on, and which it never sees before its test."""

import hashlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Split = Literal["train", "test"]

TEST_SHARE = 0.5
"""Share of groups kept for the test: its interval must be as narrow as tuning's gain is small."""


def split_by_group(
    groups: Sequence[str], ratings: NDArray[np.float64], *, test_share: float, salt: str
) -> list[Split]:
    """Part rated responses into train and test, never responses of one group.

    Groups are ordered by their mean rating and parted within neighbours, so that both parts hold
    high and low ratings alike. Which of the neighbours goes where follows from a hash of its
    name: the same data give the same split on every machine.

    Args:
        groups: Group of each response, such as its prompt or conversation; shape (n_responses,).
        ratings: Mean human rating of each response; shape (n_responses,).
        test_share: Share of groups that go to the test, in (0, 1).
        salt: Text that another split of the same data would differ in, such as the question.

    Returns:
        The split of each response.

    Raises:
        ValueError: If lengths differ, or `test_share` is not in (0, 1).

    Examples:
        >>> split_by_group(
        ...     ["a", "a", "b"], np.array([1.0, 2.0, 4.0]), test_share=0.5, salt="helpfulness"
        ... )
        ['test', 'test', 'train']
    """
    if len(groups) != len(ratings):
        raise ValueError(f"one group a rating is needed, got {len(groups)} for {len(ratings)}")
    if not 0 < test_share < 1:
        raise ValueError(f"test_share must lie in (0, 1), got {test_share}")
    names, index = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    means = np.bincount(index, weights=ratings) / np.bincount(index)
    chance = [_uniform(f"{salt}\x1f{name}") for name in names]
    by_mean = sorted(range(len(names)), key=lambda g: (round(float(means[g]), 9), chance[g]))
    is_test = np.zeros(len(names), dtype=bool)
    n_strata = max(1, min(5, len(names) // 4))
    owed = 0.0
    for stratum in np.array_split(by_mean, n_strata):
        owed += test_share * len(stratum)
        n_test = round(owed)
        owed -= n_test
        drawn = sorted(stratum.tolist(), key=chance.__getitem__)[:n_test]
        is_test[drawn] = True
    return ["test" if is_test[group] else "train" for group in index]


def _uniform(text: str) -> float:
    """A number in [0, 1) that only `text` decides."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
