import pytest

from tests.unit.labelling.conftest import START, after, label, session


def ratings(state: object) -> list[float | None]:
    return [one.rating for one in state.labels]  # type: ignore[attr-defined]


def test_an_answer_is_added_in_order_of_time() -> None:
    state = session(label("a", 3, at=0), label("b", 5, at=10))

    assert [(one.response_id, one.rating) for one in state.labels] == [("a", 3), ("b", 5)]
    assert state.updated_at == after(10)


def test_the_same_answer_again_changes_nothing() -> None:
    single = session(label(at=0))

    assert single.with_label(label(at=500)) == single


def test_an_answer_within_a_minute_replaces_the_last_one_without_trace_in_the_labels() -> None:
    state = session(label(rating=3, at=0), label(rating=4, at=60))

    assert ratings(state) == [4]
    assert state.labels[0].history == ()


def test_a_later_answer_is_kept_beside_the_first_which_decides() -> None:
    state = session(label(rating=3, at=0), label(rating=4, at=61))

    assert ratings(state) == [3]
    assert [one.rating for one in state.labels[0].history] == [4]


def test_the_first_rating_decides_even_if_the_rater_skipped_the_response_before() -> None:
    state = session(label(rating=None, at=0), label(rating=4, at=100), label(rating=5, at=200))

    assert ratings(state) == [4]
    assert [one.rating for one in state.labels[0].history] == [None, 5]


def test_a_repeat_is_a_label_of_its_own() -> None:
    state = session(label(rating=3, at=0), label(rating=4, at=600, repeat=True))

    assert ratings(state) == [3, 4]
    assert all(one.history == () for one in state.labels)


def test_an_undo_within_a_minute_leaves_no_label() -> None:
    state = session(label(at=0)).without_latest(("a", False), at=after(59))

    assert state.labels == ()
    assert len(state.withdrawn) == 1


def test_an_undo_of_a_change_brings_the_first_answer_back() -> None:
    state = session(label(rating=3, at=0), label(rating=4, at=100))

    assert state.without_latest(("a", False), at=after(130)).labels[0] == label(rating=3, at=0)


def test_a_label_older_than_a_minute_cannot_be_taken_back() -> None:
    with pytest.raises(ValueError, match="older than 60 seconds"):
        session(label(at=0)).without_latest(("a", False), at=after(61))


def test_what_was_never_labelled_cannot_be_taken_back() -> None:
    with pytest.raises(ValueError, match="no label to take back"):
        session().without_latest(("a", False), at=START)


def test_merging_adds_what_only_the_other_holds() -> None:
    first = session(label("a", at=0), label("b", at=10))
    second = session(label("a", at=0), label("c", at=20))

    merged = first.merged(second)

    assert [one.response_id for one in merged.labels] == ["a", "b", "c"]
    assert merged.updated_at == after(20)


def test_merging_an_older_copy_does_not_bring_back_what_was_undone() -> None:
    before = session(label("a", at=0), label("b", at=10))
    undone = before.without_latest(("b", False), at=after(20))

    assert undone.merged(before).labels == undone.labels


def test_sessions_of_different_raters_cannot_be_merged() -> None:
    other = session(label())
    object.__setattr__(other, "key", type(other.key)(rater_id="ben", question_id="clarity"))

    with pytest.raises(ValueError, match="it is the session ben"):
        session().merged(other)


def test_two_answers_at_the_same_instant_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="answers differently about a at one and the same time"):
        session(label(rating=3)).merged(session(label(rating=4)))
