import pytest

from eval_assets.labelling.sessions import Close, Session, Total, Undo
from tests.unit.labelling.conftest import START, after, label, session


def ratings(state: Session) -> list[float | None]:
    return [one.rating for one in state.labels]


def undo(at: float) -> Undo:
    return Undo(("a", False), after(at))


def test_an_answer_is_added_in_order_of_time() -> None:
    state = session(label("a", 3, at=0), label("b", 5, at=10))

    assert [(one.response_id, one.rating) for one in state.labels] == [("a", 3), ("b", 5)]
    assert state.updated_at == after(10)


def test_the_same_answer_again_changes_nothing() -> None:
    single = session(label(at=0))

    assert single.after([label(at=500)]) is single


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
    assert session(label(at=0)).after([undo(59)]).labels == ()


def test_an_undo_of_a_change_brings_the_first_answer_back() -> None:
    state = session(label(rating=3, at=0), label(rating=4, at=100))

    assert state.after([undo(130)]).labels[0] == label(rating=3, at=0)


def test_a_label_older_than_a_minute_cannot_be_taken_back() -> None:
    with pytest.raises(ValueError, match="older than 60 seconds"):
        session(label(at=0)).after([undo(61)])


def test_what_was_never_labelled_cannot_be_taken_back() -> None:
    with pytest.raises(ValueError, match="no label to take back"):
        session().after([Undo(("a", False), START)])


def test_an_answer_opens_a_closed_session_again() -> None:
    closed = session(label("a", at=0)).after([Total(3), Close(after(10))])

    assert (closed.closed_at, closed.n_units) == (after(10), 3)
    assert closed.after([label("b", at=20)]).closed_at is None
