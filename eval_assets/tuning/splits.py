"""Splits: on which response groups a judge is tuned, and which it never sees before its test."""

import hashlib
from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.config.tuning import SplitShares

Split = Literal["train", "dev", "test"]


def split_of(group_id: str, shares: SplitShares) -> Split:
    """Return the split of a response group: a hash of its name, and nothing else, decides.

    A group stays where it is whatever is added, removed, labelled or rated otherwise, for every
    question and on every machine.

    Args:
        group_id: Name of the group.
        shares: Share of groups that each split gets.

    Examples:
        >>> [split_of(name, SplitShares()) for name in ("p0", "p6", "p1")]
        ['train', 'dev', 'test']
    """
    place = int(hashlib.sha256(group_id.encode()).hexdigest()[:16], 16) / 2**64
    if place < shares.train:
        return "train"
    return "dev" if place < shares.train + shares.dev else "test"


def splits_of(group_ids: Iterable[str], shares: SplitShares) -> NDArray[np.str_]:
    """Return the split of each response, given the group of each."""
    groups = list(group_ids)
    known = {group: split_of(group, shares) for group in set(groups)}
    return np.array(list(map(known.__getitem__, groups)), dtype=np.str_)
