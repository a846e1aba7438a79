"""The ledger: what was asked, answered and paid, and what else nothing can compute again.

SQLAlchemy Core on SQLite or PostgreSQL, with one schema and one set of statements.
"""

from eval_assets.store.ledger._engine import SqlLedger
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import (
    DualJudgement,
    readings_of,
    record_agreement,
    record_dual_judgement,
    record_reading,
    record_validation,
    release_reading,
    validation_history,
    write_staged_mode,
)
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.spending import spent_in_month, spent_in_run
from eval_assets.store.ledger.workers import Worker

__all__ = [
    "DualJudgement",
    "SqlLedger",
    "Worker",
    "copy_ledger",
    "open_ledger",
    "readings_of",
    "record_agreement",
    "record_dual_judgement",
    "record_reading",
    "record_validation",
    "release_reading",
    "spent_in_month",
    "spent_in_run",
    "validation_history",
    "write_staged_mode",
]
