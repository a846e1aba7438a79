"""Scales: which values they hold, and which declarations they refuse."""

import math

import numpy as np
import pytest

from eval_assets.scale import BINARY, LIKERT5, Level, Scale


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (5, 1), (math.nan, 1), (0, math.nan), (-math.inf, 1), (0, math.inf)]
)
def test_ends_that_do_not_ascend_are_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="min must lie below max"):
        Scale(low=low, high=high)
    with pytest.raises(ValueError, match="min must lie below max"):
        Scale.from_steps(low=low, high=high)


@pytest.mark.parametrize("values", [(), (1.0,), (1.0, 1.0), (1.0, 3.0, 2.0), (1.0, math.nan)])
def test_values_that_do_not_ascend_are_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="values must ascend without repeats"):
        Scale(low=1, high=3, values=values)


def test_values_that_miss_the_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="values must lead from 0 to 5, got 1, 2, 3"):
        Scale(low=0, high=5, values=(1.0, 2.0, 3.0))


@pytest.mark.parametrize("step", [0.3, 2.5, 7.0])
def test_a_step_that_misses_the_high_end_is_refused(step: float) -> None:
    with pytest.raises(ValueError, match=r"does not lead from 1 to 5"):
        Scale.from_steps(low=1, high=5, step=step)


@pytest.mark.parametrize("step", [0.0, -1.0, math.nan, math.inf])
def test_a_step_must_be_above_zero(step: float) -> None:
    with pytest.raises(ValueError, match="step must be above 0"):
        Scale.from_steps(low=1, high=5, step=step)


def test_steps_of_a_tenth_come_out_as_people_write_them() -> None:
    """0.1 + 0.1 + 0.1 is 0.30000000000000004, which no file holds."""
    scale = Scale.from_steps(low=0, high=1, step=0.1)

    assert scale.values == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert scale.step == pytest.approx(0.1)


def test_a_rating_is_held_with_float_noise_and_not_between_the_steps() -> None:
    assert LIKERT5.contains(3.0 + 1e-12)
    assert not LIKERT5.contains(3.5)
    assert not LIKERT5.contains(0.0)
    assert not LIKERT5.contains(6.0)


def test_a_judge_may_score_between_the_steps_and_not_outside_the_ends() -> None:
    assert LIKERT5.spans(3.5)
    assert LIKERT5.spans(5.0)
    assert not LIKERT5.spans(5.01)
    assert not LIKERT5.spans(0.99)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_scale_contains_or_spans_what_is_not_a_number(value: float) -> None:
    for scale in (LIKERT5, BINARY, Scale(low=0, high=1)):
        assert not scale.contains(value)
        assert not scale.spans(value)


def test_a_continuous_scale_contains_everything_between_its_ends() -> None:
    scale = Scale(low=0, high=1)

    assert scale.contains(0.123)
    assert not scale.contains(1.001)
    assert scale.step is None


def test_uneven_values_have_no_step() -> None:
    assert Scale(low=0, high=5, values=(0.0, 1.0, 5.0)).step is None
    assert LIKERT5.step == 1
    assert BINARY.step == 1


@pytest.mark.parametrize(
    ("scale", "level"),
    [
        (BINARY, "nominal"),
        (LIKERT5, "ordinal"),
        (Scale(low=0, high=1, values=(0.0, 0.5, 1.0)), "interval"),
        (Scale(low=0, high=1), "interval"),
    ],
)
def test_the_default_level_follows_from_the_values(scale: Scale, level: Level) -> None:
    assert scale.default_level() == level


def test_only_zero_and_one_are_binary() -> None:
    assert BINARY.is_binary
    assert not Scale(low=1, high=2, values=(1.0, 2.0)).is_binary
    assert not Scale(low=0, high=1).is_binary


def test_a_scale_is_described_as_people_would_write_it() -> None:
    assert LIKERT5.described() == "1, 2, 3, 4, 5"
    assert Scale(low=0, high=1).described() == "any number from 0 to 1"
    assert Scale.from_steps(low=0, high=100).described() == "0, 1, ... 100"


def test_words_stand_for_their_places() -> None:
    scale = Scale.from_words("Bad", "OK", "Good")

    assert (scale.values, scale.default_level()) == ((0, 1, 2), "ordinal")
    assert [scale.shown(value) for value in (0, 2, 1.5)] == ["0 (Bad)", "2 (Good)", "1.5"]
    assert Scale.from_words("Fail", "Pass").is_binary


def test_words_must_differ() -> None:
    with pytest.raises(ValueError, match="each value needs a word of its own, got good, Good"):
        Scale.from_words("good", "Good")


def test_values_of_any_scale_are_compared_on_the_unit_interval() -> None:
    assert LIKERT5.to_unit(np.array([1.0, 2.0, 5.0])).tolist() == [0, 0.25, 1]
    assert Scale(low=-1, high=1).to_unit(0.0) == 0.5


def test_numbers_in_a_list_are_values_and_no_words() -> None:
    assert Scale.parse("1,2,3,4,5") == Scale.parse("1-5")
    assert Scale.parse("0, 0.1, 0.2, 0.3").values == (0.0, 0.1, 0.2, 0.3)
    for text in ("1,2,5", "1,2,2", "5,4,3"):
        with pytest.raises(ValueError, match=r"equal steps|step|min must lie below max"):
            Scale.parse(text)
