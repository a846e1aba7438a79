"""Certificates that readings gave, and whether they still hold."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from eval_assets.tuning.certificate import Evidence, stale_because, statement
from eval_assets.tuning.history import Reading
from eval_assets.tuning.reading import Row

EvidenceNow = Callable[[Reading, str], Evidence | None]
"""Gives what a judge's certificate from a reading would rest on today; None if there is no such
judge any more."""


def certificate_rows(
    readings: Sequence[Reading], evidence_now: EvidenceNow, *, today: datetime, left_out: str = ""
) -> list[Row]:
    """Return rows of `judge_certificates` of one question.

    There is one for every version in the last reading, and one for every version that was ever
    certified.

    Args:
        readings: All readings of the question, under whichever seal.
        evidence_now: What certificates would rest on today.
        today: The present.
        left_out: Why the question may not be tuned on now; empty if it may.
    """
    in_order = sorted((each for each in readings if each.rows), key=lambda r: (r.seal, r.number))
    if not in_order:
        return []
    last = in_order[-1]
    shown: dict[tuple[str, str], Reading] = {}
    for reading in in_order:
        for version in reading.candidates:
            key = version.judge_id, version.version
            if version.judge_id in reading.certificates or (reading is last and key not in shown):
                shown[key] = reading
    return [
        _row(judge, version, reading, in_order, evidence_now, today=today, left_out=left_out)
        for (judge, version), reading in shown.items()
    ]


def certificate_files(readings: Sequence[Reading]) -> dict[str, dict[str, Any]]:
    """Return the statement on every version that was certified on any question, by file name.

    Args:
        readings: All readings of all questions.
    """
    parts: dict[str, dict[str, dict[str, Any]]] = {}
    versions = {}
    for reading in sorted(readings, key=lambda r: r.read_at):
        for version in reading.candidates:
            if version.judge_id in reading.certificates:
                name = f"{version.judge_id}-{version.version}"
                versions[name] = version
                parts.setdefault(name, {})[reading.question_id] = dict(
                    reading.certificates[version.judge_id]
                )
    files = {}
    latest: dict[str, str] = {}
    for name, questions in parts.items():
        version = versions[name]
        files[name] = statement(
            version,
            [questions[question] for question in sorted(questions)],
            supersedes=latest.get(version.judge_id),
        )
        latest[version.judge_id] = version.version
    return files


def _row(  # noqa: PLR0913 - a row, what it is from and what it is compared with
    judge: str,
    version: str,
    reading: Reading,
    readings: Sequence[Reading],
    evidence_now: EvidenceNow,
    *,
    today: datetime,
    left_out: str,
) -> Row:
    verdicts = _verdicts(reading, judge, version)
    certificate = reading.certificates.get(judge)
    stale = None
    if certificate is not None:
        reasons = [
            _superseded(judge, version, reading, readings),
            left_out,
            stale_because(
                Evidence(
                    **{
                        **certificate["evidence"],
                        "models_returned": tuple(certificate["evidence"]["models_returned"]),
                    }
                ),
                evidence_now(reading, judge),
                until=certificate["valid_until"],
                today=today,
            ),
        ]
        stale = "; ".join(filter(None, reasons)) or None
    return {
        "judge_id": judge,
        "version": version,
        "question_id": reading.question_id,
        "fitness": verdicts["fitness"]["verdict"],
        "improvement": verdicts["improvement"]["verdict"],
        "reason": "; ".join(str(row["reason"]) for row in verdicts.values()),
        "n_groups": verdicts["fitness"].get("n_groups"),
        "n_readings": sum(each.seal == reading.seal for each in readings),
        "certificate": certificate,
        "created_at": reading.read_at,
        "stale_because": stale,
    }


def _verdicts(reading: Reading, judge: str, version: str) -> Mapping[str, Row]:
    """Return the rows of one version in a reading, by kind."""
    return {
        str(row["kind"]): row
        for row in reading.rows
        if (row["judge_id"], row["version"]) == (judge, version)
    }


def _superseded(judge: str, version: str, reading: Reading, readings: Sequence[Reading]) -> str:
    """Return what a later reading said against a certificate; empty if nothing."""
    for later in readings[readings.index(reading) + 1 :]:
        for other in later.candidates:
            if other.judge_id != judge:
                continue
            if judge in later.certificates and other.version != version:
                return f"superseded by {other.version}"
            against = {
                row["verdict"]
                for row in _verdicts(later, judge, version).values()
                if row["verdict"] in ("unfit", "rejected")
            }
            if against:
                return f"a later reading says {' and '.join(sorted(map(str, against)))}"
    return ""
