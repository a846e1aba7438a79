"""Sealed tests of tuned judges: read when due, opened, and recomputed from what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import duckdb

from eval_assets.figures import HumanFigures
from eval_assets.store.figures import read_figures
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.seals import (
    readings_elsewhere,
    readings_of,
    record_reading,
    release_reading,
    versions_of,
)
from eval_assets.store.prompted import prompted_scores
from eval_assets.store.scores import declared_fingerprints
from eval_assets.store.splits import (
    costs_of_prompts,
    models_returned,
    questions_where_people_agree,
)
from eval_assets.store.tuned_judges import judges_of, members_of
from eval_assets.tuning.fingerprints import Fingerprints, fingerprints_of, label_fingerprints
from eval_assets.tuning.history import OPENED, Reading, Seal
from eval_assets.tuning.issued import FingerprintsNow
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.reading import Row
from eval_assets.tuning.sealed_evaluation import (
    Background,
    candidates_for,
    due_reading,
    make_reading,
    sealed_units,
    unread_rows,
    why_not_read,
)
from eval_assets.tuning.steps import JURY, TunedJudge


def background_of(
    connection: duckdb.DuckDBPyConnection, question_id: str, *, margin: float
) -> Background:
    """Return what a certificate says of a question and its judges besides the test."""
    rows = read_figures(connection, HumanFigures, subjects=("question",))
    [columns] = [row.columns() for row in rows if row.question_id == question_id]
    figures = ("a_hh", "a_hh_low", "a_hh_high", "alpha", "alpha_low", "alpha_high")
    return Background(
        margin=margin,
        people_agree=question_id in questions_where_people_agree(connection),
        human_agreement={name: columns[name] for name in figures},
        cost_per_1000_usd=costs_of_prompts(connection),
        models_returned=models_returned(connection),
    )


def seal_of(ledger: SqlLedger, units: RatedUnits) -> Seal:
    """Return the seal that a question's test is under.

    Readings of the same labels count under whatever name of the question or the evaluation.
    """
    labels = label_fingerprints(units.part("test"))
    elsewhere = readings_elsewhere(ledger, units.question.id)
    return Seal.of(
        readings_of(ledger, units.question.id), [r for r in elsewhere if r.has_read(labels)]
    )


def read_if_due(
    ledger: SqlLedger,
    units: RatedUnits,
    judges: Sequence[TunedJudge],
    background: Background,
    *,
    asked: bool,
) -> tuple[list[Row], bool]:
    """Return what the test of one question says, and whether it was read for that just now.

    A reading is written down before it is made: one that is cut off is made again under the
    number that it already has.

    Args:
        ledger: The ledger.
        units: All rated units of the question.
        judges: The versions that are tested.
        background: What certificates say besides.
        asked: Whether somebody asked for a reading.

    Raises:
        StoreError: If another run took the reading meanwhile.
    """
    question_id = units.question.id
    seal = seal_of(ledger, units)
    live, candidates = sealed_units(units, seal), candidates_for(units, seal, judges)
    if reason := why_not_read(live, candidates, seal):
        return unread_rows(question_id, candidates, reason=reason), False
    now = datetime.now(tz=UTC)
    reading, is_new = due_reading(live, candidates, seal, asked=asked, now=now)
    if not is_new:
        return list(reading.rows), False
    if reading not in seal.readings:
        record_reading(ledger, reading)
    made = make_reading(reading, live, candidates, background)
    release_reading(ledger, made)
    return list(made.rows), True


def open_seal(
    ledger: SqlLedger,
    units: RatedUnits,
    judges: Sequence[TunedJudge],
    background: Background,
) -> list[Row]:
    """End the seal of one question, and return everything that its test says of the judges.

    The test groups count no more; groups that are labelled later form the next seal.

    Raises:
        StoreError: If another run opened it meanwhile.
    """
    seal = seal_of(ledger, units)
    live, candidates = sealed_units(units, seal), candidates_for(units, seal, judges)
    if reason := why_not_read(live, candidates, seal):
        return unread_rows(units.question.id, candidates, reason=reason)
    now = datetime.now(tz=UTC)
    reading, _ = due_reading(live, candidates, seal, asked=True, now=now)
    shown = make_reading(reading, live, candidates, background, open_seal=True)
    opened = replace(shown, number=OPENED, read_at=now, certificates={})
    record_reading(ledger, opened)
    release_reading(ledger, opened)
    return list(opened.rows)


def fingerprints_today(
    connection: duckdb.DuckDBPyConnection,
    ledger: SqlLedger,
    units: Mapping[str, RatedUnits],
    question_id: str,
) -> FingerprintsNow:
    """Return what certificates of a question would rest on now, by reading and judge.

    A certificate stays with its version: that another version is tested by now does not touch it.
    """
    declared = declared_fingerprints(connection)
    returned, prompted = models_returned(connection), prompted_scores(connection, units)
    versions = versions_of(ledger)

    def now(reading: Reading, judge_id: str) -> Fingerprints | None:
        [version] = [each for each in reading.candidates if each.judge_id == judge_id]
        singles = members_of(version, versions) if judge_id == JURY else [version]
        if not all(each.judge_id in declared for each in singles):
            return None
        changed = [v for v in singles if v.fingerprint != declared[v.judge_id]]
        [judge] = judges_of([version], units, prompted, versions, {})
        rated = units[question_id]
        was_read = (rated.splits == "test") & rated.are_of(reading.groups)
        return fingerprints_of(
            replace(version, fingerprint="another") if changed else version,
            rated.only(was_read),
            judge.raw[question_id][was_read],
            models_returned=returned.get(judge_id, ()),
        )

    return now


def recomputed_certificates(
    connection: duckdb.DuckDBPyConnection,
    ledger: SqlLedger,
    units: Mapping[str, RatedUnits],
    reading: Reading,
    background: Background,
) -> dict[str, dict[str, Any]]:
    """Return the certificates that a reading would give on what is stored now, by judge.

    Args:
        connection: The database, with the scores of tuned prompts.
        ledger: The ledger.
        units: All rated units by question.
        reading: The reading, as the ledger keeps it.
        background: What certificates say besides.
    """
    rated = units[reading.question_id]
    live = rated.only((rated.splits != "test") | rated.are_of(reading.groups))
    mine = {**units, reading.question_id: live}
    prompted = prompted_scores(connection, mine)
    earlier = [r for r in readings_of(ledger, reading.question_id) if r.read_at < reading.read_at]
    judges = judges_of(
        reading.candidates, mine, prompted, versions_of(ledger), {reading.question_id: earlier}
    )
    no_seal = Seal(number=reading.seal, readings=(), spent_groups=frozenset())
    made = make_reading(reading, live, candidates_for(live, no_seal, judges), background)
    return dict(made.certificates)
