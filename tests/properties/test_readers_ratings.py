"""A rating is read as the value that was written, and held against its scale as Scale does."""

from datetime import datetime, timedelta, timezone

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.readers.formats.table import FileColumn
from eval_assets.readers.references import id_of
from eval_assets.readers.values import canonical_number, in_utc, number_in, parsed_ratings
from eval_assets.scale import BINARY, LIKERT5, Scale

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.floats(min_value=-2, max_value=7)
SCALES = st.sampled_from(
    [
        BINARY,
        LIKERT5,
        Scale(low=0, high=1),
        Scale(low=-1, high=2, values=(-1, 0.25, 2)),
        Scale.from_steps(low=0, high=1, step=0.1),
    ]
)


@given(NUMBERS)
def test_a_number_is_read_back(number: float) -> None:
    assert number_in(repr(number)) == number


@given(
    values=st.lists(NEAR | st.sampled_from([0.1, 0.25, 1.0, 3.0, 5.0]), max_size=6), scale=SCALES
)
def test_a_scale_contains_the_same_values_one_by_one_and_all_at_once(
    values: list[float], scale: Scale
) -> None:
    cells = parsed_ratings(FileColumn.of([repr(value) for value in values]))
    values_on_scale, is_on_scale = cells.on_scale(scale)

    assert is_on_scale.tolist() == [scale.contains(value) for value in values]
    assert (
        np.abs(values_on_scale[is_on_scale] - np.array(values)[is_on_scale]).max(initial=0) <= 1e-9
    )
    if scale.values is not None:
        assert set(values_on_scale[is_on_scale]) <= set(scale.values)


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_all_spellings_of_a_seed_are_one(seed: int) -> None:
    spellings = [f"{seed}", f" {seed}.0 ", f"{seed}.", f"{'-' * (seed < 0)}00{abs(seed)}"]

    assert {canonical_number(spelling) for spelling in spellings} == {str(seed)}


PART = st.text(st.sampled_from("a|\\"), min_size=1)
KEYS = st.tuples(PART, PART, PART, PART, PART)


@given(first=KEYS, second=KEYS)
def test_different_keys_make_different_ids(
    first: tuple[str, str, str, str, str], second: tuple[str, str, str, str, str]
) -> None:
    assert (id_of(first) == id_of(second)) == (first == second)


OFFSETS = st.integers(min_value=-1439, max_value=1439).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)


@given(st.datetimes(timezones=OFFSETS))
def test_a_time_keeps_its_instant_in_utc(time: datetime) -> None:
    text = in_utc(time.isoformat())

    assert text is None or datetime.fromisoformat(text) == time
