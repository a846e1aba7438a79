"""Schedules as evaluation.yaml declares them."""

import pytest

from eval_assets.config.operations import Schedule
from eval_assets.errors import DeclarationError


@pytest.mark.parametrize(
    "cron",
    [
        "0 6 * * *",
        "*/15 8-18 * * mon-fri",
        "0,30 0 1 1,7 *",
        "0 0 29 2 *",
        "5 4 31 jan 0",
        "0 18-8 * * *",
    ],
)
def test_cron_expressions_of_five_fields_are_accepted(cron: str) -> None:
    assert Schedule(cron=cron).cron == cron


@pytest.mark.parametrize(
    ("cron", "fault"),
    [
        ("@daily", "has 1 fields, not 5"),
        ("0 6 * *", "has 4 fields, not 5"),
        ("60 6 * * *", '"60 6 * * *" is not a schedule'),
        ("0 6 0 * *", "out of range"),
        ("0 6 * * someday", '"0 6 * * someday" is not a schedule'),
        ("*/0 6 * * *", "step '0' in field 0 is not acceptable"),
        ("0 6 30 2 *", "failed to find next date"),
    ],
)
def test_other_expressions_are_refused(cron: str, fault: str) -> None:
    with pytest.raises(DeclarationError, match="Write minute") as raised:
        Schedule(cron=cron)
    assert fault in str(raised.value)


def test_a_time_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DeclarationError, match='"Berlin" is not a time zone'):
        Schedule(timezone="Berlin")
