"""Live runs killed with -9 at a random moment, with the ledger on SQLite and on PostgreSQL.

How old the replies are that a kill loses is measured by benchmarks/kills.py, on a quiet machine.
"""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.kills import N_UNITS, calls_of_runs, kill_round

if TYPE_CHECKING:
    from tests.postgres import Postgres

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest) -> str | None:
    """Return the value of EVAL_LEDGER: nothing, or the URL of a new database."""
    if request.param == "sqlite":
        return None
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


def test_a_killed_run_is_completed_by_the_next_which_asks_nothing_that_was_answered(
    ledger_url: str | None, program_folder: Path
) -> None:
    moments = random.Random(1)  # noqa: S311 - moments, not secrets
    done = kill_round(moments, ledger_url=ledger_url, program=program_folder / "eval-assets")

    assert done.is_complete, done


def test_two_runs_at_once_send_exactly_the_requests_of_one(
    ledger_url: str | None, program_folder: Path
) -> None:
    program = program_folder / "eval-assets"

    assert calls_of_runs(2, ledger_url=ledger_url, program=program) == N_UNITS
