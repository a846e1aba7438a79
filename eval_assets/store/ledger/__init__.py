"""The ledger: what was asked, answered and paid, and what else nothing can compute again.

SQLAlchemy Core on SQLite or PostgreSQL, with one schema and one set of statements.
"""

from eval_assets.store.ledger._engine import SqlLedger
from eval_assets.store.ledger.copies import copy_ledger, store_ledger
from eval_assets.store.ledger.exports import export_ledger
from eval_assets.store.ledger.histories import (
    DualJudgement,
    append_history,
    history_of,
    write_staged_mode,
)
from eval_assets.store.ledger.opening import open_ledger
from eval_assets.store.ledger.seals import (
    readings_elsewhere,
    readings_of,
    record_reading,
    register_versions,
    release_reading,
    versions_of,
)
from eval_assets.store.ledger.spending import (
    SpendingBy,
    costs_of,
    in_flight,
    reserved,
    spending,
    spent_in_month,
)
from eval_assets.store.ledger.workers import Worker

__all__ = [
    "DualJudgement",
    "SpendingBy",
    "SqlLedger",
    "Worker",
    "append_history",
    "copy_ledger",
    "costs_of",
    "export_ledger",
    "history_of",
    "in_flight",
    "open_ledger",
    "readings_elsewhere",
    "readings_of",
    "record_reading",
    "register_versions",
    "release_reading",
    "reserved",
    "spending",
    "spent_in_month",
    "store_ledger",
    "versions_of",
    "write_staged_mode",
]
