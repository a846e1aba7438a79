from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.issued import (
    CurrentEvidence,
    certificate_files,
    certificate_rows,
    certified_parts,
)
from eval_assets.tuning.partial_automation import JudgePart
from eval_assets.tuning.steps import VersionScores
from eval_assets.tuning.versions import Fingerprints, JudgeVersion, fingerprints_of, scores_hash
from tests.unit.tuning.made_up import certificate, judged, simulated

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
EVIDENCE = Fingerprints("f", "rubric", "labels", "scores", ("m",))
FIRST = JudgeVersion("gpt", "1.0.0", "declared", None, "f")
SECOND = replace(FIRST, version="1.1.0", prompt_text="New.")
OTHER = replace(FIRST, judge_id="mistral", fingerprint="g")


def reading(
    number: int,
    *versions: JudgeVersion,
    certified: bool = True,
    fitness: str = "fit",
    improvement: str = "unchanged",
    question_id: str = "q",
) -> HeldOutEvaluation:
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
        for kind, verdict in (("improvement", improvement), ("fitness", fitness))
    )
    return HeldOutEvaluation(
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
    *evaluations: HeldOutEvaluation, now: Fingerprints | None = EVIDENCE, **named: Any
) -> list[dict[str, Any]]:
    named = {"sources": (), **named}
    result = certificate_rows(evaluations, lambda _reading, _judge: now, today=NOW, **named)
    return [vars(row) for row in result]


@pytest.mark.parametrize(("margin", "holds"), [(0.1, True), (0.2, True), (0.05, False)])
def test_a_certificate_does_not_hold_for_a_smaller_margin(margin: float, *, holds: bool) -> None:
    evaluated = reading(1, FIRST)
    of_margin = tuple({**row, "margin": 0.1} for row in evaluated.rows)

    [row] = rows(replace(evaluated, rows=of_margin), margin=margin)

    assert (row["stale_because"] is None) == holds
    if not holds:
        assert row["stale_because"] == "its test allowed a margin of 0.1, and 0.05 is declared"


def test_a_certificate_holds_while_nothing_changes() -> None:
    [row] = rows(reading(1, FIRST))

    assert row["certificate"].holds == ("fit",)
    assert (row["fitness"], row["improvement"], row["stale_because"]) == ("fit", "unchanged", None)
    assert (row["n_groups"], row["n_readings"], row["created_at"]) == (
        40,
        1,
        NOW + timedelta(days=1),
    )


def test_a_certificate_ends_with_its_validity() -> None:
    held = reading(1, FIRST)
    certificate = held.certificates["gpt"]
    yesterday = (NOW - timedelta(days=1)).date().isoformat()
    ended = {"gpt": certificate.model_copy(update={"valid_until": yesterday})}

    [row] = rows(replace(held, certificates=ended))
    assert row["stale_because"] == f"its validity ended on {yesterday}"


def test_verdicts_of_an_earlier_rule_are_stale() -> None:
    fit, unfit = reading(1, FIRST), reading(1, OTHER, certified=False, fitness="unfit")
    earlier = replace(fit, candidates=(FIRST, OTHER), rows=(*fit.rows, *unfit.rows), rule="")

    certified, refused = rows(earlier)
    assert certified["stale_because"].startswith("it was decided by an earlier rule; eval-assets ")
    assert refused["stale_because"] == "it was decided by an earlier rule"


def test_an_evaluation_by_the_present_rule_takes_the_place_of_an_earlier_one() -> None:
    earlier, now = replace(reading(1, FIRST), rule=""), reading(2, FIRST, certified=False)

    [row] = rows(earlier, replace(now, rows=reading(2, FIRST, fitness="undecided").rows))
    assert (row["fitness"], row["certificate"], row["stale_because"]) == ("undecided", None, None)


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


def test_a_version_is_superseded_by_its_own_judge_only() -> None:
    old, other, new = rows(reading(1, FIRST), reading(2, OTHER, SECOND))

    assert old["stale_because"] == "superseded by 1.1.0"
    assert other["stale_because"] is new["stale_because"] is None


def test_each_judge_has_its_own_verdicts() -> None:
    fit, unfit = reading(1, FIRST), reading(1, OTHER, certified=False, fitness="unfit")
    joint = replace(fit, candidates=(FIRST, OTHER), rows=(*unfit.rows, *fit.rows))

    assert [(row["judge_id"], row["fitness"]) for row in rows(joint)] == [
        ("gpt", "fit"),
        ("mistral", "unfit"),
    ]


def test_valid_certificates_of_a_part_have_the_part_of_their_judge() -> None:
    parts = {"gpt": JudgePart("mistral", 1.0), "mistral": JudgePart("gpt", 0.0)}
    whole = reading(1, FIRST, OTHER, fitness="undecided")
    partial = tuple(
        {**row, "kind": "fitness_in_part", "verdict": "fit", "share": 0.8}
        for row in whole.rows
        if row["kind"] == "fitness"
    )
    in_part = replace(
        whole,
        rows=whole.rows + partial,
        certificates={
            judge: certificate(holds=["fit_in_part"], evidence=EVIDENCE) for judge in parts
        },
        parts=parts,
    )
    evaluations = [replace(reading(2, FIRST, OTHER, certified=False), rows=()), in_part]
    certificates = certificate_rows(
        evaluations, lambda _reading, _judge: EVIDENCE, today=NOW, sources=()
    )

    assert [
        (item.version, item.part, item.share) for item in certified_parts(evaluations, certificates)
    ] == [
        (FIRST, parts["gpt"], 0.8),
        (OTHER, parts["mistral"], 0.8),
    ]
    stale = [replace(row, stale_because="labels changed") for row in certificates]
    assert certified_parts(evaluations, stale) == []


def test_a_later_reading_that_cannot_tell_takes_nothing_away() -> None:
    """It has a stricter level, and the levels of all readings add up."""
    [row] = rows(reading(1, FIRST), reading(2, FIRST, certified=False, fitness="undecided"))

    assert (row["fitness"], row["stale_because"]) == ("fit", None)


def test_a_reading_says_nothing_against_its_own_certificate() -> None:
    [row] = rows(reading(1, FIRST, improvement="rejected"))

    assert (row["improvement"], row["stale_because"]) == ("rejected", None)


def test_verdicts_without_a_certificate_are_stale_once_their_labels_change() -> None:
    undecided = replace(reading(1, FIRST, certified=False), evidence={"gpt": EVIDENCE})
    other_model = replace(EVIDENCE, models_returned=("another",))
    [same] = rows(undecided, now=replace(EVIDENCE, models_returned=()))
    [changed] = rows(replace(undecided, evidence={"gpt": replace(other_model, labels="x")}))

    assert same["stale_because"] == "the vendor answers with another model"
    assert changed["stale_because"].startswith("human ratings in the test changed")


def test_a_later_reading_that_says_the_opposite_makes_it_stale() -> None:
    [row] = rows(reading(1, FIRST), reading(2, FIRST, certified=False, fitness="unfit"))

    assert row["stale_because"] == "it fails a later evaluation"


def test_every_reason_is_named() -> None:
    [row] = rows(
        reading(1, FIRST), now=replace(EVIDENCE, labels="x"), excluded="the gates are closed"
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
    assert [item.question_id for item in first.predicate.questions] == ["p", "q"]
    assert first.predicate.supersedes is None
    assert second.predicate.supersedes == "1.0.0"


def test_a_certificate_is_stale_once_a_source_of_its_prompt_is_withdrawn() -> None:
    made_from = replace(FIRST, sources=("r1", "r2/anna"))
    [holds] = rows(reading(1, made_from), sources=("r1", "r2/anna", "r3"))
    [stale] = rows(reading(1, made_from), sources=("r1", "r3"))

    assert holds["stale_because"] is None
    assert stale["stale_because"] == ("sources of its prompt were withdrawn: r2/anna")


@pytest.mark.parametrize(("n_gone", "listed"), [(3, "r1, r2 and r3"), (4, "r1, r2, r3 and 1 more")])
def test_at_most_three_withdrawn_sources_are_listed(n_gone: int, listed: str) -> None:
    made_from = replace(FIRST, sources=tuple(f"r{k}" for k in range(1, n_gone + 1)))
    [row] = rows(reading(1, made_from))

    assert row["stale_because"].endswith(f"were withdrawn: {listed}")


@pytest.fixture
def evidence() -> CurrentEvidence:
    """Return the evidence of two recorded judges on one question."""
    units, quality = simulated(30, seed=1, split=None)
    scores = {"gpt": judged(quality, seed=2), "mistral": judged(quality, seed=3)}
    return CurrentEvidence(
        VersionScores({"q": replace(units, scores=scores)}, {}, [FIRST, OTHER]),
        {"gpt": "f", "mistral": "g"},
        {"gpt": ("m",)},
    )


def test_current_evidence_is_that_of_the_groups_that_were_read(evidence: CurrentEvidence) -> None:
    units = evidence.scores.units["q"]
    test = units.part("test")
    record = replace(reading(1, FIRST, OTHER), groups=tuple(map(str, np.unique(test.groups))))

    for version, models in ((FIRST, ("m",)), (OTHER, ())):
        assert evidence.fingerprints(record, version.judge_id) == fingerprints_of(
            version, test, test.scores[version.judge_id], models_returned=models
        )
    in_part = replace(
        record,
        certificates={"gpt": certificate(holds=["fit_in_part"])},
        parts={"gpt": JudgePart("mistral", 1.0)},
    )
    doubts = np.abs(test.scores["gpt"] - test.scores["mistral"])
    prints = evidence.fingerprints(in_part, "gpt")
    assert prints is not None
    assert prints.doubts == scores_hash(test, doubts)


def test_current_evidence_knows_judges_that_changed_or_are_gone(evidence: CurrentEvidence) -> None:
    record = reading(1, FIRST, OTHER)
    now = replace(evidence, declared={"gpt": "another model"})
    prints = now.fingerprints(record, "gpt")

    assert prints is not None
    assert prints.fingerprint != "f"
    assert now.fingerprints(record, "mistral") is None
