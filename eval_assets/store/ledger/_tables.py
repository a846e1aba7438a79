"""Tables of the ledger on SQLite and PostgreSQL, and the way from earlier ones."""

from datetime import UTC, datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

import sqlalchemy as sa

from eval_assets.ledger import Attempt, CallSubject
from eval_assets.wording import storable

SCHEMA = "eval_assets"
"""Schema on PostgreSQL, and the only one searched: no name means another program's table."""


class _Moment(sa.TypeDecorator[datetime]):
    """A moment in UTC: SQLite has no time zones, PostgreSQL answers in the session's."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Return the moment in UTC."""
        del dialect
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Return the moment in UTC."""
        del dialect
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


class _Words(sa.TypeDecorator[str]):
    """Text of a vendor: lone surrogates and NUL, which databases refuse, become U+FFFD."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Return text that any database takes."""
        del dialect
        return None if value is None else storable(value)


_Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""SQLite numbers rows only in a column of exactly this type."""

metadata = sa.MetaData()


def _evaluation() -> sa.Column[str]:
    """Return the column for the name of the evaluation, which is empty in a folder's own ledger."""
    return sa.Column("evaluation", sa.Text, nullable=False)


_TYPES: dict[object, Any] = {
    bool: sa.Boolean,
    int: sa.BigInteger,
    float: sa.Float,
    datetime: _Moment,
}


def _columns(record: type) -> list[sa.Column[Any]]:
    columns = []
    for name, hint in get_type_hints(record).items():
        options = get_args(hint) or (hint,)
        kind = next((_TYPES[option] for option in options if option in _TYPES), _Words)
        columns.append(sa.Column(name, kind, nullable=NoneType in options))
    return columns


ledger_version = sa.Table(
    "ledger_version",
    metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("identity", sa.Text, nullable=False),
)

# Everything that asks: one asset of one run or a shard of it, or one command.
workers = sa.Table(
    "workers",
    metadata,
    sa.Column("worker", _Id, primary_key=True, autoincrement=True),
    _evaluation(),
    sa.Column("run_id", sa.Text),
    sa.Column("asset", sa.Text, nullable=False),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("process", sa.BigInteger, nullable=False),
    sa.Column("started_at", _Moment, nullable=False),
    sa.Column("shard", sa.Integer, nullable=False, server_default="0"),
    sa.Column("n_shards", sa.Integer, nullable=False, server_default="1"),
    sa.Index("workers_by_run", "run_id"),
)

# Who holds the slots of judges, by their locks, for messages: the locks end with a process.
slots = sa.Table(
    "slots",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("worker", _Id, nullable=False),
)

# What was asked, as it was rendered: once per key, whoever asked.
requests = sa.Table(
    "requests",
    metadata,
    sa.Column("call_key", sa.Text, primary_key=True),
    sa.Column("prompt", _Words, nullable=False),
    sa.Column("first_asked_at", _Moment, nullable=False),
)

# Only ever added to. A request has one reply that counts; another one, paid by a process that lost
# its slots or by another evaluation at the same time, has the status `repeated`.
attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", _Id, primary_key=True, autoincrement=True),
    _evaluation(),
    sa.Column("worker", _Id),
    *_columns(Attempt),
    sa.Column("day", sa.Date, nullable=False),
    sa.Index("attempts_by_key", "call_key"),
    sa.Index("attempts_once", "call_key", "attempt", "started_at", unique=True),
    sa.Index("attempts_by_worker", "worker"),
    sa.Index("attempts_by_day", "evaluation", "day"),
)

# Not an sa.Index: one with a condition imports the dialect of PostgreSQL.
_ONE_REPLY = """
    CREATE UNIQUE INDEX one_reply ON attempts (call_key)
    WHERE status IN ('ok', 'truncated', 'refused', 'content_filter', 'unparsable')
"""
sa.event.listen(attempts, "after_create", sa.DDL(_ONE_REPLY))  # type: ignore[no-untyped-call]

batches = sa.Table(
    "batches",
    metadata,
    sa.Column("intent_id", sa.Text, primary_key=True),
    _evaluation(),
    sa.Column("worker", _Id, nullable=False),
    sa.Column("judge_id", sa.Text, nullable=False),
    sa.Column("batch_id", sa.Text),
    sa.Column("n_requests", sa.Integer, nullable=False),
    sa.Column("most_usd", sa.Float, nullable=False),
    sa.Column("intended_at", _Moment, nullable=False),
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("closed_at", _Moment),
    sa.Index("batches_by_judge", "evaluation", "judge_id"),
)

# Requests of open batches: nobody asks them until their batch is closed.
batch_requests = sa.Table(
    "batch_requests",
    metadata,
    sa.Column("call_key", sa.Text, primary_key=True),
    sa.Column("batch", sa.Text, nullable=False),
    *_columns(CallSubject),
    sa.Index("batch_requests_by_batch", "batch"),
)

# What an endpoint refused to take for a model, learnt from its answer.
refusals = sa.Table(
    "refusals",
    metadata,
    sa.Column("base_url", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("capability", sa.Text, primary_key=True),
    sa.Column("error", _Words, nullable=False),
    sa.Column("learnt_at", _Moment, nullable=False),
)

# How many requests in flight an endpoint served for a model, by the last run that asked it.
endpoints = sa.Table(
    "endpoints",
    metadata,
    sa.Column("base_url", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("in_flight", sa.Integer, nullable=False),
    sa.Column("learnt_at", _Moment, nullable=False),
)

# What all processes sent to a model in each second of the last minute, since 1970.
rates = sa.Table(
    "rates",
    metadata,
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("second", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("requests", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
)

# Versions of judges that tuning made: the same definition never gets two numbers.
judge_versions = sa.Table(
    "judge_versions",
    metadata,
    sa.Column("evaluation", sa.Text, primary_key=True),
    sa.Column("judge_id", sa.Text, primary_key=True),
    sa.Column("version", sa.Text, primary_key=True),
    sa.Column("step", sa.Text, nullable=False),
    sa.Column("parent", sa.Text),
    sa.Column("prompt_text", _Words, nullable=False),
    sa.Column("prompt_hash", sa.Text, nullable=False),
    sa.Column("sources", sa.JSON, nullable=False),
    sa.Column("definition", sa.JSON, nullable=False),
    sa.Column("definition_hash", sa.Text, nullable=False),
    sa.Column("notes", sa.JSON, nullable=False),
    sa.Column("created_at", _Moment, nullable=False),
    sa.UniqueConstraint("evaluation", "judge_id", "definition_hash"),
)

# Evaluations of held-out tests; the k-th of a test and a question is made once.
test_set_uses = sa.Table(
    "test_set_uses",
    metadata,
    sa.Column("seal_id", sa.Text, primary_key=True),
    sa.Column("question_id", sa.Text, primary_key=True),
    sa.Column("k", sa.Integer, primary_key=True),
    _evaluation(),
    sa.Column("judge_set", sa.Text, nullable=False),
    sa.Column("level", sa.Float, nullable=False),
    sa.Column("candidates", sa.JSON, nullable=False),
    sa.Column("released", sa.JSON),
    sa.Column("read_at", _Moment, nullable=False),
)

# Rows of further tables that are only ever added to: each as JSON, so that a column more or less
# is no migration.
histories = sa.Table(
    "histories",
    metadata,
    sa.Column("id", _Id, primary_key=True, autoincrement=True),
    _evaluation(),
    sa.Column("history", sa.Text, nullable=False),
    sa.Column("row", sa.JSON, nullable=False),
    sa.Index("histories_by_name", "evaluation", "history"),
)

VERSION, FIRST_VERSION = 9, 3
"""The version of these tables, and the earliest that is brought up to date: that of November 22,
2026."""


def upgrade(connection: sa.Connection) -> None:
    """Bring the tables of an earlier version up to date."""
    tables = sa.inspect(connection).get_table_names()
    for name in ("takeovers", "staged_mode", "rate_grants", "slots"):
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
    for table in (slots, batch_requests, endpoints, rates):
        table.create(connection, checkfirst=True)
    if "claims" in tables:
        for statement in (*_CLAIMS_TO_SLOTS.split(";"), _ONE_REPLY):
            connection.exec_driver_sql(statement)


# Of several replies to a request the latest counts.
_CLAIMS_TO_SLOTS = """
    INSERT INTO batch_requests
        SELECT call_key, batch, operation, response_id, question_id, replicate
        FROM claims WHERE batch IS NOT NULL;
    DROP TABLE claims;
    DROP INDEX workers_by_lease;
    ALTER TABLE workers DROP COLUMN lease_until;
    ALTER TABLE workers DROP COLUMN reserved_usd;
    ALTER TABLE workers ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE workers ADD COLUMN n_shards INTEGER NOT NULL DEFAULT 1;
    DELETE FROM attempts WHERE id NOT IN (
        SELECT min(id) FROM attempts GROUP BY call_key, attempt, started_at);
    CREATE UNIQUE INDEX attempts_once ON attempts (call_key, attempt, started_at);
    UPDATE attempts SET status = 'repeated'
    WHERE status IN ('ok', 'truncated', 'refused', 'content_filter', 'unparsable')
      AND EXISTS (
        SELECT 1 FROM attempts AS later
        WHERE later.call_key = attempts.call_key
          AND later.status IN ('ok', 'truncated', 'refused', 'content_filter', 'unparsable')
          AND (later.started_at, later.id) > (attempts.started_at, attempts.id))
"""
