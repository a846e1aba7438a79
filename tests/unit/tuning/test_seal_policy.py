import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.tuning.seal_policy import MOST_READINGS, coarse_gain, reading_significance


def test_all_readings_together_stay_below_five_percent() -> None:
    total = sum(reading_significance(k, n_candidates=1) for k in range(1, MOST_READINGS + 1))

    assert total == pytest.approx(0.05 * MOST_READINGS / (MOST_READINGS + 1))


def test_candidates_of_one_reading_share_its_level() -> None:
    assert reading_significance(1, n_candidates=1) == 0.025
    assert reading_significance(3, n_candidates=4) == pytest.approx(0.05 / 12 / 4)


@pytest.mark.parametrize("reading", [0, 21])
def test_a_spent_seal_has_no_further_reading(reading: int) -> None:
    with pytest.raises(ValueError, match=f"readings are 1 to 20, got {reading}"):
        reading_significance(reading, n_candidates=1)


def test_a_reading_takes_a_candidate() -> None:
    with pytest.raises(ValueError, match="n_candidates must be at least 1, got 0"):
        reading_significance(1, n_candidates=0)


@given(st.floats(min_value=-2, max_value=2))
def test_a_coarse_gain_is_a_step_of_two_hundredths_and_near(gain: float) -> None:
    coarse = coarse_gain(gain)

    assert abs(coarse - gain) <= 0.01 + 1e-12
    assert round(coarse / 0.02) * 0.02 == pytest.approx(coarse)
    assert math.copysign(1, coarse) == 1 or coarse < 0  # no "-0.0"


def test_an_undefined_gain_stays_undefined() -> None:
    assert math.isnan(coarse_gain(math.nan))
