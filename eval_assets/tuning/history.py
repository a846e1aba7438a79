"""Evaluations of held-out tests, and the current test of a question."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from eval_assets.tuning.certificate import QuestionCertificate
from eval_assets.tuning.claim_results import DECISION_RULE, MOST_EVALUATIONS
from eval_assets.tuning.partial_automation import JudgePart
from eval_assets.tuning.verdicts_of_test import Row
from eval_assets.tuning.versions import (
    Fingerprints,
    JudgeVersion,
    version_from_json,
)

SHOWN = 21
"""Number of the entry that shows a test, which ends it."""

GROWTH = 1.5
"""Growth of the test from which the same candidates are read again automatically."""


@dataclass(frozen=True)
class HeldOutEvaluation:
    """One use of a question's held-out test labels, as stored in the ledger.

    Args:
        number: Number of the evaluation of it, from 1; `SHOWN` if it showed the test.
        responses: Fingerprint of the text of each response of the test, empty if it has none: a
            test of the same question with half of them is the same test.
        evidence: Fingerprints of the evidence of each candidate's verdicts, by judge; without the
            models in the replies. Evaluations of earlier releases have none.
        parts: Parts of the responses that were fixed before, by judge.
        rule: Name of the rule that decided it; empty in those of earlier releases.
    """

    question_id: str
    seal: int
    number: int
    level: float
    candidates: tuple[JudgeVersion, ...]
    groups: tuple[str, ...]
    content: str
    rows: tuple[Row, ...]
    certificates: Mapping[str, QuestionCertificate]
    read_at: datetime
    responses: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, Fingerprints] = field(default_factory=dict)
    parts: Mapping[str, JudgePart] = field(default_factory=dict)
    rule: str = DECISION_RULE

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of all but question, seal, number, level and time.

        The ledger keeps the training of a version beside the version.
        """
        columns = ("question_id", "seal", "number", "level", "read_at")
        fields: dict[str, Any] = _as_json().dump_python(
            self,
            mode="json",
            by_alias=True,
            exclude_unset=True,  # as a certificate was read
            exclude={*columns, "candidates"},
        )
        # The hash of a version depends on the types of its numbers, which validation may change.
        versions = [asdict(version) for version in self.candidates]
        for version in versions:
            del version["trained_on"]
        return fields | {"candidates": versions}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], **columns: Any) -> "HeldOutEvaluation":  # noqa: ANN401
        """Return the evaluation that `as_json` and the columns of the ledger describe."""
        # Earlier releases had no rule, and kept ratings of the responses by their ids.
        responses = fields.get("responses") or dict.fromkeys(fields.get("labels", ()), "")
        versions = tuple(map(version_from_json, fields["candidates"]))
        read = {"responses": responses, "candidates": versions}
        return _as_json().validate_python({"rule": "", **fields, **columns, **read})

    @property
    def earlier_rule(self) -> str:
        """Why the verdicts hold no more, if another rule than today's decided them; else empty."""
        return "" if self.rule == DECISION_RULE else "it was decided by an earlier rule"

    def is_of(self, responses: Mapping[str, str]) -> bool:
        """Return whether it is of the same test: of half of its responses, by id or by text."""
        texts = {text for text in self.responses.values() if text}
        n_shared = sum(
            text in texts or (name in self.responses and not (text and self.responses[name]))
            for name, text in responses.items()
        )
        return n_shared > 0 and n_shared >= min(len(responses), len(self.responses)) / 2


@cache
def _as_json() -> TypeAdapter[HeldOutEvaluation]:
    return TypeAdapter(HeldOutEvaluation)


@dataclass(frozen=True)
class QuestionTest:
    """The current test of a question.

    Args:
        evaluations: Evaluations under it, in order.
        spent_groups: Groups of earlier tests, which no longer count: their labels were shown.
        n_elsewhere: Evaluations of the same test in another evaluation on the ledger.
    """

    number: int
    evaluations: tuple[HeldOutEvaluation, ...]
    spent_groups: frozenset[str]
    n_elsewhere: int = 0

    @classmethod
    def of(
        cls,
        evaluations: Sequence[HeldOutEvaluation],
        foreign_evaluations: Sequence[HeldOutEvaluation] = (),
    ) -> "QuestionTest":
        """Return the current test of a question."""
        all_evaluations = [*evaluations, *foreign_evaluations]
        ended = {
            evaluation.seal
            for evaluation in all_evaluations
            if evaluation.number >= MOST_EVALUATIONS
        }
        if sum(evaluation.seal not in ended for evaluation in all_evaluations) >= MOST_EVALUATIONS:
            ended = {evaluation.seal for evaluation in all_evaluations}
        return cls(
            number=1 + max(ended, default=0),
            evaluations=tuple(
                sorted((r for r in evaluations if r.seal not in ended), key=lambda r: r.number)
            ),
            spent_groups=frozenset(g for r in all_evaluations if r.seal in ended for g in r.groups),
            n_elsewhere=sum(evaluation.seal not in ended for evaluation in foreign_evaluations),
        )

    @property
    def next_number(self) -> int:
        """Number of the next evaluation; a number that is missing in the ledger is not reused."""
        last = max((evaluation.number for evaluation in self.evaluations), default=0)
        return max(len(self.evaluations) + self.n_elsewhere, last) + 1

    def is_due(
        self, candidates: Sequence[JudgeVersion], *, n_groups: int, on_request: bool
    ) -> bool:
        """Return whether the test is read now, which costs an evaluation.

        It is read on request, for the first time, when a judge or a prompt differs from that of
        the last evaluation, when that was interrupted before it showed anything, and when the test
        has grown by half. New labels alone, which arrive every day while people label, do not use
        up the test.
        """
        if on_request or not self.evaluations:
            return True
        last = self.evaluations[-1]
        if not last.rows:
            return True
        if {_identity(v) for v in candidates} != {_identity(v) for v in last.candidates}:
            return True
        return n_groups >= GROWTH * len(last.groups)


def accepted_version(
    evaluations: Sequence[HeldOutEvaluation], judge_id: str
) -> JudgeVersion | None:
    """Return the last accepted version of a judge on a question; None if there is none."""
    for evaluation in reversed(_in_order(evaluations)):
        accepted = {
            row["version"]
            for row in evaluation.rows
            if row["judge_id"] == judge_id and row["verdict"] == "accepted"
        }
        for version in evaluation.candidates:
            if version.judge_id == judge_id and version.version in accepted:
                return version
    return None


def certified_version(
    evaluations: Sequence[HeldOutEvaluation], judge_id: str, *, fingerprint: str
) -> JudgeVersion | None:
    """Return the last certified version of a judge, on any question; None if there is none.

    Versions of a model other than that of the fingerprint do not count.
    """
    for evaluation in reversed(_in_order(evaluations)):
        for version in evaluation.candidates:
            is_same = (version.judge_id, version.fingerprint) == (judge_id, fingerprint)
            if is_same and judge_id in evaluation.certificates:
                return version
    return None


def _in_order(evaluations: Sequence[HeldOutEvaluation]) -> list[HeldOutEvaluation]:
    """Return evaluations in order; the one that shows a test is its last."""
    return sorted(evaluations, key=lambda r: (r.read_at, r.seal, r.number))


def _identity(version: JudgeVersion) -> tuple[str, str, str]:
    """Return the identity of a candidate without its maps and weights."""
    return version.judge_id, version.fingerprint, version.prompt_hash
