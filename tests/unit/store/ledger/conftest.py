"""Ledgers on a file and on PostgreSQL, and rows to put into them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_assets.ledger import Attempt, Batch, CallSubject
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.workers import Worker

if TYPE_CHECKING:
    from tests.postgres import Postgres

NOW = datetime(2026, 11, 21, 5, 0, 0, 250_000, tzinfo=UTC)


def batch_of(intent_id: str, *keys: str, judge_id: str = "gpt", most_usd: float = 0.0) -> Batch:
    """Return a batch of requests about responses of the keys' names."""
    subjects = {key: CallSubject("judging", f"r-{key}", "q") for key in keys}
    return Batch(intent_id, judge_id, subjects, NOW, most_usd=most_usd)


def prompts_of(*keys: str) -> dict[str, str]:
    """Return what requests ask, by key."""
    return {key: f'{{"messages": ["Rate {key}."]}}' for key in keys}


def attempt(key: str, **fields: Any) -> Attempt:
    """Return an attempt that was answered with 4, for one cent."""
    inputs: dict[str, Any] = {
        "call_key": key,
        "attempt": 1,
        "judge_id": "gpt",
        "operation": "judging",
        "response_id": f"r-{key}",
        "question_id": "q",
        "replicate": 0,
        "provider": "openai",
        "base_url": "http://127.0.0.1/v1",
        "model_requested": "gpt-6-luna",
        "status": "ok",
        "started_at": NOW,
        "latency_seconds": 0.5,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.01,
        "charged_usd": 0.01,
        "raw_output": "4",
        "raw_reply": '{"choices": ["4"]}',
    }
    return Attempt(**inputs | fields)


def failed(key: str, **fields: Any) -> Attempt:
    """Return an attempt that came to nothing and cost nothing."""
    empty: dict[str, Any] = {
        "status": "api_error",
        "raw_output": None,
        "raw_reply": None,
        "cost_usd": None,
        "charged_usd": 0.0,
        "error": "HTTP 500",
    }
    return attempt(key, **empty | fields)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def setting(request: pytest.FixtureRequest) -> str | None:
    """Return the value of EVAL_LEDGER: nothing, or the URL of a new database."""
    if request.param == "sqlite":
        return None
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture
def ledger(tmp_path: Path, setting: str | None) -> Iterator[SqlLedger]:
    """A new ledger."""
    with open_ledger(tmp_path, evaluation="poems", setting=setting) as ledger:
        yield ledger


@pytest.fixture
def worker(ledger: SqlLedger) -> Iterator[Worker]:
    """A worker of a run."""
    with Worker(ledger, asset="judge_scores", run_id="run-1") as worker:
        yield worker
