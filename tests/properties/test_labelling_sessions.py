"""Sessions, whatever raters do in them."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Event, Session, Undo
from tests.unit.labelling.conftest import KEY, after, label, session

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([None, 1.0, 5.0, "undo"]),
        st.booleans(),
    ),
    max_size=12,
)


def events_of(actions: list[tuple[str, object, bool]]) -> list[Event]:
    """Labels, repeats and possible undos, 25 seconds apart."""
    state, events = session(), list[Event]()
    for step, (response, text, repeat) in enumerate(actions):
        unit, at = (response, repeat), 0.25 + 25 * step
        event: Event = label(response, text, at=at, repeat=repeat)  # type: ignore[arg-type]
        if text == "undo":
            earlier = state.by_unit[unit].events if unit in state.by_unit else ()
            if not earlier or (after(at) - earlier[-1].labelled_at).total_seconds() > 60:
                continue
            event = Undo(unit, after(at))
        state = state.after([event])
        events.append(event)
    return events


@given(ACTIONS)
def test_a_session_is_read_back_as_it_was_written(actions: list[tuple[str, object, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sessions, state = SessionFolder(Path(folder)), session()
        for event in events_of(actions):
            state = sessions.append(session(), event)

        assert (SessionFolder(Path(folder)).read(KEY) or session()) == state


@given(ACTIONS)
def test_one_label_a_unit_decides_and_it_is_its_first_rating(
    actions: list[tuple[str, object, bool]],
) -> None:
    state: Session = session().after(events_of(actions))

    assert len({one.unit for one in state.labels}) == len(state.labels)
    for one in state.labels:
        rated = [event for event in one.events if event.rating is not None]
        assert one.labelled_at == (rated or one.events)[0].labelled_at
