"""Merging sessions, whatever raters do in several windows and copies."""

from hypothesis import given
from hypothesis import strategies as st

from eval_assets.labelling.session_files import parse_session, session_text
from eval_assets.labelling.sessions import Session
from tests.unit.labelling.conftest import after, label, session

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([None, 1.0, 5.0, "undo"]),
        st.booleans(),
    ),
    max_size=12,
)


def played(actions: list[tuple[str, object, bool]], *, offset: float) -> Session:
    """A session after some labels, repeats and undos, 25 seconds apart."""
    state = session()
    for step, (response, text, repeat) in enumerate(actions):
        at = offset + 25 * step
        if text != "undo":
            state = state.with_label(label(response, text, at=at, repeat=repeat))  # type: ignore[arg-type]
            continue
        events = [e for one in state.labels if one.unit == (response, repeat) for e in one.events]
        if events and (after(at) - events[-1].labelled_at).total_seconds() <= 60:
            state = state.without_latest((response, repeat), at=after(at))
    return state


@given(ACTIONS, ACTIONS, ACTIONS)
def test_merging_is_idempotent_and_does_not_depend_on_the_order(
    one: list[tuple[str, object, bool]],
    two: list[tuple[str, object, bool]],
    three: list[tuple[str, object, bool]],
) -> None:
    a, b, c = played(one, offset=0), played(two, offset=7), played(three, offset=13)

    assert a.merged(a) == a
    assert a.merged(b).merged(b) == a.merged(b)
    assert a.merged(b).labels == b.merged(a).labels
    assert a.merged(b).merged(c).labels == a.merged(b.merged(c)).labels


@given(ACTIONS)
def test_a_session_is_read_back_as_it_was_written(actions: list[tuple[str, object, bool]]) -> None:
    state = played(actions, offset=0.25)

    assert parse_session(session_text(state), file="x.json") == state


@given(ACTIONS)
def test_one_label_a_unit_decides_and_it_is_its_first_rating(
    actions: list[tuple[str, object, bool]],
) -> None:
    state = played(actions, offset=0)

    assert len({one.unit for one in state.labels}) == len(state.labels)
    for one in state.labels:
        rated = [event for event in one.events if event.rating is not None]
        assert one.labelled_at == (rated or one.events)[0].labelled_at
