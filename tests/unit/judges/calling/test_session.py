"""Models made ready to be asked."""

import pytest

from eval_assets.judges.calling.session import warn_of_budget


def test_what_a_budget_did_not_reach_is_logged_with_what_is_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warn_of_budget(0, left_usd=0.5)
    warn_of_budget(3, left_usd=None)
    assert not caplog.records
    warn_of_budget(3, left_usd=0.0125)
    assert "did not reach 3 scores or responses; 0.0125 USD are left" in caplog.text
