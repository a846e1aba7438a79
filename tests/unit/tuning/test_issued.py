from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from eval_assets.tuning.history import SealedEvaluation
from eval_assets.tuning.issued import certificate_files, certificate_rows
from eval_assets.tuning.versions import Fingerprints, JudgeVersion
from tests.unit.tuning.made_up import certificate

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
EVIDENCE = Fingerprints("f", "rubric", "labels", "scores", ("m",))
FIRST = JudgeVersion("gpt", "1.0.0", "declared", None, "f")
SECOND = replace(FIRST, version="1.1.0", prompt_text="New.")


def reading(
    number: int,
    *versions: JudgeVersion,
    certified: bool = True,
    fitness: str = "fit",
    question_id: str = "q",
) -> SealedEvaluation:
    rows = tuple(
        {
            "judge_id": version.judge_id,
            "version": version.version,
            "kind": kind,
            "verdict": verdict,
            "reason": f"is {verdict}",
            "n_groups": 40,
        }
        for version in versions
        for kind, verdict in (("improvement", "unchanged"), ("fitness", fitness))
    )
    return SealedEvaluation(
        question_id,
        1,
        number,
        0.025,
        versions,
        ("g1",),
        f"content {number}",
        rows,
        {v.judge_id: certificate(question_id, evidence=EVIDENCE) for v in versions}
        if certified
        else {},
        NOW + timedelta(days=number),
    )


def rows(
    *readings: SealedEvaluation, now: Fingerprints | None = EVIDENCE, **named: Any
) -> list[dict[str, Any]]:
    named = {"sources": (), **named}
    found = certificate_rows(readings, lambda _reading, _judge: now, today=NOW, **named)
    return [vars(row) for row in found]


def test_a_certificate_holds_while_nothing_changes() -> None:
    [row] = rows(reading(1, FIRST))

    assert row["certificate"].holds == ("fit",)
    assert (row["fitness"], row["improvement"], row["stale_because"]) == ("fit", "unchanged", None)
    assert (row["n_groups"], row["n_readings"], row["created_at"]) == (
        40,
        1,
        NOW + timedelta(days=1),
    )


def test_a_version_without_a_claim_has_verdicts_and_no_certificate() -> None:
    [row] = rows(reading(1, FIRST, certified=False, fitness="undecided"))

    assert (row["fitness"], row["certificate"], row["stale_because"]) == ("undecided", None, None)


def test_rejected_maps_are_shown_with_the_judge_as_declared() -> None:
    first = reading(1, FIRST)
    mapped: dict[str, object] = {"judge_id": "gpt", "version": "1.0.1", "kind": "improvement"}
    mapped |= {"verdict": "rejected", "reason": "agrees less with people", "n_groups": 40}
    [row] = rows(replace(first, rows=(mapped, *first.rows)))

    assert (row["version"], row["fitness"], row["improvement"]) == ("1.0.0", "fit", "rejected")
    assert row["reason"] == "the maps of 1.0.1: agrees less with people; is fit"


def test_a_later_version_supersedes_an_earlier_one() -> None:
    old, new = rows(reading(1, FIRST), reading(2, SECOND))

    assert (old["version"], old["stale_because"]) == ("1.0.0", "superseded by 1.1.0")
    assert (new["version"], new["stale_because"]) == ("1.1.0", None)


def test_a_later_reading_that_cannot_tell_takes_nothing_away() -> None:
    """It has a stricter level, and the levels of all readings add up."""
    [row] = rows(reading(1, FIRST), reading(2, FIRST, certified=False, fitness="undecided"))

    assert (row["fitness"], row["stale_because"]) == ("fit", None)


def test_a_later_reading_that_says_the_opposite_makes_it_stale() -> None:
    [row] = rows(reading(1, FIRST), reading(2, FIRST, certified=False, fitness="unfit"))

    assert row["stale_because"] == "a later reading says unfit"


def test_every_reason_is_named() -> None:
    [row] = rows(
        reading(1, FIRST), now=replace(EVIDENCE, labels="x"), left_out="the gates are closed"
    )

    assert row["stale_because"] == "the gates are closed; human ratings in the test changed"


def test_a_judge_that_is_gone_has_a_stale_certificate() -> None:
    [row] = rows(reading(1, FIRST), now=None)

    assert "no longer declared" in row["stale_because"]


def test_a_question_that_was_never_read_has_no_row() -> None:
    assert rows() == []
    assert rows(replace(reading(1, FIRST), rows=(), certificates={})) == []


def test_one_file_holds_all_questions_of_a_version() -> None:
    files = certificate_files(
        [
            reading(1, FIRST),
            reading(1, FIRST, question_id="p"),
            reading(2, SECOND),
            reading(3, FIRST, certified=False),
        ]
    )

    assert list(files) == ["gpt-1.0.0", "gpt-1.1.0"]
    first, second = files.values()
    assert [each.question_id for each in first.predicate.questions] == ["p", "q"]
    assert first.predicate.supersedes is None
    assert second.predicate.supersedes == "1.0.0"


def test_a_certificate_is_stale_once_a_source_of_its_prompt_is_withdrawn() -> None:
    made_from = replace(FIRST, sources=("r1", "r2/anna"))
    [holds] = rows(reading(1, made_from), sources=("r1", "r2/anna", "r3"))
    [stale] = rows(reading(1, made_from), sources=("r1", "r3"))

    assert holds["stale_because"] is None
    assert stale["stale_because"] == ("its prompt was made from what was withdrawn since: r2/anna")
