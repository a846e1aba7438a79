"""Versions of the stored ratings, by which verdicts are recognised as current or stale."""

import hashlib
from collections.abc import Mapping

from duckdb import DuckDBPyConnection as Connection

from eval_assets.figures import RaterKind
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.store.connection import n_openings
from eval_assets.store.long_ratings import OF_CONVERSATIONS_SQL, RATINGS_SQL
from eval_assets.store.schema import content_fingerprint, count_rows


def rating_versions(connection: Connection) -> dict[RaterKind, str]:
    """Return a fingerprint of the stored ratings of each kind, with their scales.

    It does not depend on the order of rows, and covers everything that decides agreement: each
    unit, rater and value, which of the rated responses are in one group, each question's scale and
    level, and the judges' fingerprints. Of humans it covers how disagreements were settled too:
    judges are compared with that.
    """
    # Every gate asks for it, and it takes seconds of millions of ratings. That nothing changed is
    # seen in a tenth of the time, by hashes that hold for one version of DuckDB only.
    of_all = _fingerprints(connection, _DECIDING_OF_ALL)
    versions: dict[RaterKind, str] = {}
    for kind, tables in _DECIDING.items():
        now = (kind, *of_all, *_fingerprints(connection, tables))
        if now not in _known_versions:
            _known_versions[now] = _data_version(connection, kind)
        versions[kind] = _known_versions[now]
    return versions


_known_versions: dict[tuple[str, ...], str] = {}


def combined_fingerprint(connection: Connection) -> str:
    """Return the `content_fingerprint` of `combined_scores` from those of the tables behind it."""
    tables = {**_DECIDING_OF_ALL, **_DECIDING["human"], **_DECIDING["judge"]}
    tables["question_limits"] = _LIMIT_COLUMNS
    parts = hashlib.sha256(" ".join(_fingerprints(connection, tables)).encode()).hexdigest()
    return f"{count_rows(connection, 'combined_scores')}-{parts}"


def _fingerprints(connection: Connection, tables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the fingerprint of each table, which is taken once of each import."""
    # with parameters DuckDB would import pandas
    rows = connection.execute(
        """SELECT table_name, path, epoch_us(imported_at)
           FROM imports, duckdb_databases() WHERE database_name = current_database()"""
    ).fetchall()
    imports = {table: (n_openings(), path, table, at) for table, path, at in rows}
    fingerprints = []
    for table, columns in tables.items():
        key = imports.get(table)
        fingerprint = _known_fingerprints.get(key) if key else None
        fingerprints.append(fingerprint or content_fingerprint(connection, table, columns))
        if key:
            _known_fingerprints[key] = fingerprints[-1]
    return fingerprints


_known_fingerprints: dict[tuple[int, str | None, str, int], str] = {}
"""By number of openings, database file, table and time of its import."""

_DECIDING: dict[RaterKind, dict[str, tuple[str, ...]]] = {
    "human": {
        "human_labels": ("response_id", "question_id", "rater_id", "value"),
        "adjudicated_labels": ("response_id", "question_id", "value", "excluded"),
        "earlier_labels": ("response_id", "question_id", "rater_id", "value", "round"),
    },
    "judge": {
        "judge_scores": (
            *("response_id", "question_id", "judge_id", "score", "raw_score", "spread", "status"),
        ),
        "judges": ("judge_id", "fingerprint", "version"),
    },
}
_DECIDING_OF_ALL = {
    "responses": tuple(name for name in RESPONSE_COLUMNS if name not in ("role", "timestamp")),
    "rubric_questions": ("question_id", "scale_min", "scale_max", "scale_values", "level"),
}
_LIMIT_COLUMNS = ("question_id", "column_name", "value")
"""Columns that data versions depend on, by table."""


def _data_version(connection: Connection, kind: RaterKind) -> str:
    """Compute the data version of one kind; see `rating_versions`."""
    ratings = RATINGS_SQL[kind]
    of_unit = "response_id, question_id, rater_id, value"
    hashes = [f"md5_number(concat_ws(chr(31), {of_unit})) AS h FROM ratings"]
    rows = ["SELECT question_id, scale_min, scale_max, scale_values, level FROM rubric_questions"]
    if kind == "judge":
        ratings += f" UNION ALL {OF_CONVERSATIONS_SQL}"
        rows.append("SELECT judge_id, fingerprint FROM judges")
    else:
        rows.append("SELECT response_id, question_id, value, excluded FROM adjudicated_labels")
        hashes.append(f"md5_number(concat_ws(chr(31), round, {of_unit})) FROM earlier_labels")
    # The groups of many responses take seconds, also where nothing is rated.
    [[is_rated]] = connection.execute(f"SELECT EXISTS (FROM ({ratings}))").fetchall()
    if is_rated:
        rows.append("FROM grouped")
    hashes += [f"md5_number(t::VARCHAR) FROM ({row}) AS t" for row in rows]
    parts = " UNION ALL SELECT ".join(hashes)
    [(version,)] = connection.execute(
        f"""
        WITH ratings AS (
            {ratings}
        ), grouped AS (
            SELECT response_id, min(response_id) OVER same AS first_of_group
            FROM response_groups SEMI JOIN ratings USING (response_id)
            WINDOW same AS (PARTITION BY group_id)
            QUALIFY count(*) OVER same > 1
        )
        SELECT md5(concat_ws(' ', count(*), bit_xor(h))) FROM (SELECT {parts})
        """  # noqa: S608 - constants of ours
    ).fetchall()
    return str(version)[:16]
