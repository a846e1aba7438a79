import hashlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.config.tuning import SplitShares
from eval_assets.errors import DeclarationError
from eval_assets.tuning.rated import split_of, splits_of

SHARES = SplitShares()


@pytest.mark.parametrize("name", ["p0", "", "Ä b", "conala_001", "x" * 1000])
def test_the_first_sixteen_digits_of_the_names_hash_decide(name: str) -> None:
    place = int(hashlib.sha256(name.encode()).hexdigest()[:16], 16) / 2**64

    assert split_of(name, SHARES) == ("train" if place < 0.4 else "dev" if place < 0.6 else "test")


def test_two_fifths_are_train_and_one_fifth_is_dev_to_the_last_group() -> None:
    assert (SHARES.train, SHARES.dev, SHARES.test) == (0.4, 0.2, 0.4)
    for k in range(500):
        place = int(hashlib.sha256(str(k).encode()).hexdigest()[:16], 16) / 2**64
        expected = "train" if place < 0.4 else "dev" if place < 0.6 else "test"

        assert split_of(str(k), SHARES) == expected
        narrow = SplitShares(train=0.25, dev=0.25, test=0.5)
        expected = "train" if place < 0.25 else "dev" if place < 0.5 else "test"
        assert split_of(str(k), narrow) == expected


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8)), st.lists(st.text(max_size=8)))
def test_groups_that_are_added_move_no_other_group(old: list[str], new: list[str]) -> None:
    assert splits_of(old + new, SHARES)[: len(old)].tolist() == splits_of(old, SHARES).tolist()


def test_shares_are_those_of_the_groups() -> None:
    counts = Counter(split_of(f"group {k}", SHARES) for k in range(10_000))

    assert counts["train"] / 10_000 == pytest.approx(0.4, abs=0.02)
    assert counts["dev"] / 10_000 == pytest.approx(0.2, abs=0.02)


def test_other_shares_move_only_groups_between_their_limits() -> None:
    """A larger train share takes from dev and leaves the test alone."""
    wider = SplitShares(train=0.5, dev=0.1, test=0.4)
    for k in range(200):
        assert (split_of(str(k), wider) == "test") == (split_of(str(k), SHARES) == "test")


@pytest.mark.parametrize("shares", [(0.5, 0.2, 0.4), (0.4, 0.2, 0.3)])
def test_shares_that_do_not_add_up_are_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(DeclarationError, match="train, dev and test add up to"):
        SplitShares(*shares)
