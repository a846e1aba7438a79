"""Issued certificates and their validity."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from eval_assets.scale import TOLERANCE
from eval_assets.tuning.certificate import Certificate, QuestionCertificate
from eval_assets.tuning.certificate_contents import USUAL_MARGIN
from eval_assets.tuning.held_out_test import candidates_for, scores_as_evaluated, with_parts
from eval_assets.tuning.history import HeldOutEvaluation, QuestionTest
from eval_assets.tuning.partial_automation import JudgePart, part_sentence
from eval_assets.tuning.power import LEAST_CHANCE
from eval_assets.tuning.rated import Floats
from eval_assets.tuning.steps import JURY, VersionScores
from eval_assets.tuning.verdicts_of_test import PARTIAL, Row
from eval_assets.tuning.versions import (
    Fingerprints,
    JudgeVersion,
    changed_since,
    fingerprints_of,
    is_read_again,
)
from eval_assets.wording import listed

_MOST_SHOWN = 3


@dataclass(frozen=True)
class CurrentEvidence:
    """Current evidence for certificates.

    A certificate stays with its version: a test of another version does not affect it.
    """

    scores: VersionScores
    declared: Mapping[str, str]
    models_returned: Mapping[str, tuple[str, ...]]

    def fingerprints(self, evaluation: HeldOutEvaluation, judge_id: str) -> Fingerprints | None:
        """Return the fingerprints of one certificate; None if its judge is no longer declared."""
        [version] = [v for v in evaluation.candidates if v.judge_id == judge_id]
        singles = self.scores.members(version) if judge_id == JURY else [version]
        if not all(v.judge_id in self.declared for v in singles):
            return None
        changed = [v for v in singles if v.fingerprint != self.declared[v.judge_id]]
        scores = scores_as_evaluated(self.scores, evaluation)
        rated = scores.units[evaluation.question_id]
        was_read = rated.is_in("test")
        certificate = evaluation.certificates.get(judge_id)
        is_in_part = certificate is not None and "fit_in_part" in certificate.holds
        return fingerprints_of(
            replace(version, fingerprint="another") if changed else version,
            rated.part("test"),
            scores.judge(version, {}).raw[evaluation.question_id][was_read],
            models_returned=self.models_returned.get(judge_id, ()),
            doubts=self._doubts(scores, evaluation, judge_id)[was_read] if is_in_part else None,
        )

    def _doubts(
        self, scores: VersionScores, evaluation: HeldOutEvaluation, judge_id: str
    ) -> Floats:
        units = scores.units[evaluation.question_id]
        judges = [
            scores.judge(version, {})
            for version in evaluation.candidates
            if version.judge_id in self.declared
        ]
        candidates = candidates_for(units, QuestionTest.of([]), judges)
        tested = with_parts(units, candidates, evaluation.parts)
        doubts = [c.doubts for c in tested if c.version.judge_id == judge_id]
        return doubts[0] if doubts and doubts[0] is not None else np.full(len(units.groups), np.nan)


@dataclass(frozen=True)
class CertificateRow:
    """A row of `judge_certificates`; without a claim that holds there is no certificate."""

    judge_id: str
    version: str
    question_id: str
    fitness: str
    improvement: str
    reason: str
    n_groups: int | None
    n_readings: int
    certificate: QuestionCertificate | None
    created_at: datetime
    stale_because: str | None
    claim: str | None = None
    share: float | None = None
    doubt_source: str | None = None
    doubt_threshold: float | None = None
    groups_wanted: int | None = None


def certificate_rows(  # noqa: PLR0913 - each may make a certificate stale
    evaluations: Sequence[HeldOutEvaluation],
    fingerprints_now: Callable[[HeldOutEvaluation, str], Fingerprints | None],
    *,
    today: datetime,
    sources: Collection[str],
    drifted: Collection[str] = (),
    excluded: str = "",
    margin: float = USUAL_MARGIN,
) -> list[CertificateRow]:
    """Return rows of `judge_certificates` of one question.

    There is one for every version in the last evaluation, and one for every version that was ever
    certified.

    `fingerprints_now` returns the current evidence of a judge's certificate from an evaluation;
    None if the judge is no longer declared. `sources` are the ids of the current sources of
    prompts. `drifted` are the judges whose scores of their anchors have changed. `excluded` is why
    the question may not be tuned on now. `margin` is the declared one: what passed with a larger
    one does not hold.
    """
    in_order = sorted(
        (evaluation for evaluation in evaluations if evaluation.rows),
        key=lambda r: (r.seal, r.number),
    )
    if not in_order:
        return []
    last = in_order[-1]
    latest: dict[tuple[str, str], tuple[JudgeVersion, HeldOutEvaluation]] = {}
    for evaluation in in_order:
        for version in evaluation.candidates:
            key = version.judge_id, version.version
            is_outdated = key not in latest or bool(latest[key][1].earlier_rule)
            if version.judge_id in evaluation.certificates or (evaluation is last and is_outdated):
                latest[key] = version, evaluation
    rows = []
    for (judge, number), (version, evaluation) in latest.items():
        certificate = evaluation.certificates.get(judge)
        evidence = certificate.evidence if certificate else evaluation.evidence.get(judge)
        now = fingerprints_now(evaluation, judge) if evidence else None
        superseded = _superseded(judge, number, evaluation, in_order)
        reasons = [evaluation.earlier_rule]
        if certificate is not None:
            reasons = [
                superseded,
                evaluation.earlier_rule,
                excluded,
                f"sources of its prompt were withdrawn: {listed(withdrawn, most=_MOST_SHOWN)}"
                if (withdrawn := [source for source in version.sources if source not in sources])
                else "",
                "its scores of the same responses have changed" if judge in drifted else "",
                changed_since(certificate.evidence, now),
                _larger_margin(_verdicts(evaluation, judge, number), certificate, margin),
                f"its validity ended on {certificate.valid_until}"
                if now and today.date().isoformat() > certificate.valid_until
                else "",
            ]
        elif evidence is not None:
            reasons += [excluded, changed_since(evidence, now and replace(now, models_returned=()))]
        is_due = (
            evidence is not None
            and is_read_again(evidence, now, by_other_rule=bool(evaluation.earlier_rule))
            and not (excluded or superseded)
        )
        if is_due:
            chance = f"a chance of {100 * LEAST_CHANCE:.0f} %"
            reasons.append(
                f"eval-assets tune evaluates {judge} again, which counts, if train and dev give a "
                f"claim {chance} or tuning: {{evaluate: always}} is declared"
            )
        stale = "; ".join(filter(None, reasons)) or None
        rows.append(_row(version, evaluation, in_order, stale=stale))
    return rows


@dataclass(frozen=True)
class CertifiedPart:
    """A valid certificate of a judge on a part of the responses.

    Args:
        candidates: Versions that were read with it, one of which the doubt may come from.
    """

    version: JudgeVersion
    question_id: str
    part: JudgePart
    share: float
    candidates: tuple[JudgeVersion, ...]


def certified_parts(
    evaluations: Sequence[HeldOutEvaluation], rows: Sequence[CertificateRow]
) -> list[CertifiedPart]:
    """Return the parts of a question that judges are certified for and that are not stale."""
    return [
        CertifiedPart(
            version,
            row.question_id,
            evaluation.parts[row.judge_id],
            row.share,
            evaluation.candidates,
        )
        for row in rows
        if row.share is not None and row.stale_because is None
        for evaluation in evaluations
        if evaluation.certificates.get(row.judge_id) is row.certificate
        for version in evaluation.candidates
        if version.judge_id == row.judge_id
    ]


def certificate_files(evaluations: Sequence[HeldOutEvaluation]) -> dict[str, Certificate]:
    """Return the certificate of every version that was certified on any question, by file name."""
    parts: dict[str, dict[str, QuestionCertificate]] = {}
    versions = {}
    for evaluation in sorted(evaluations, key=lambda r: r.read_at):
        for version in evaluation.candidates:
            if version.judge_id in evaluation.certificates:
                name = f"{version.judge_id}-{version.version}"
                versions[name] = version
                certificate = evaluation.certificates[version.judge_id]
                parts.setdefault(name, {})[evaluation.question_id] = certificate
    files = {}
    latest: dict[str, str] = {}
    for name, questions in parts.items():
        version = versions[name]
        files[name] = Certificate.of(
            version,
            [questions[question] for question in sorted(questions)],
            supersedes=latest.get(version.judge_id),
        )
        latest[version.judge_id] = version.version
    return files


def _row(
    version: JudgeVersion,
    evaluation: HeldOutEvaluation,
    evaluations: Sequence[HeldOutEvaluation],
    *,
    stale: str | None,
) -> CertificateRow:
    verdicts = _verdicts(evaluation, version.judge_id, version.version)
    reasons = {kind: str(row["reason"]) for kind, row in verdicts.items() if kind != PARTIAL}
    improvement = str(verdicts["improvement"]["verdict"])
    for row in evaluation.rows:
        is_of_judge = row["judge_id"] == version.judge_id and row["version"] != version.version
        if is_of_judge and row["verdict"] == "rejected":
            improvement = "rejected"
            reasons["improvement"] = f"the maps of {row['version']}: {row['reason']}"
    certificate = evaluation.certificates.get(version.judge_id)
    claim = None if certificate is None else certificate.claim
    part, share = None, None
    if claim == "fit_in_part":
        part, share = evaluation.parts[version.judge_id], float(str(verdicts[PARTIAL]["share"]))
        reasons["fitness"] = f"on all responses, {reasons['fitness']}"
        reasons = {PARTIAL: part_sentence(version.judge_id, part, share), **reasons}
    n_groups, groups_wanted = (
        None if count is None else int(str(count))
        for count in map(verdicts["fitness"].get, ("n_groups", "groups_wanted"))
    )
    return CertificateRow(
        judge_id=version.judge_id,
        version=version.version,
        question_id=evaluation.question_id,
        fitness=str(verdicts["fitness"]["verdict"]),
        improvement=improvement,
        reason="; ".join(reasons.values()),
        n_groups=n_groups,
        n_readings=sum(item.seal == evaluation.seal for item in evaluations),
        certificate=certificate,
        created_at=evaluation.read_at,
        stale_because=stale,
        claim=claim,
        share=share,
        groups_wanted=groups_wanted,
        **({} if part is None else vars(part)),
    )


def _verdicts(evaluation: HeldOutEvaluation, judge: str, version: str) -> Mapping[str, Row]:
    return {
        str(row["kind"]): row
        for row in evaluation.rows
        if (row["judge_id"], row["version"]) == (judge, version)
    }


def _larger_margin(
    verdicts: Mapping[str, Row], certificate: QuestionCertificate, margin: float
) -> str:
    """Return the objection to a claim that passed with a larger margin; empty without one."""
    tested = verdicts.get("fitness", {}).get("margin")
    if tested is None or float(str(tested)) <= margin + TOLERANCE or certificate.claim is None:
        return ""
    if not certificate.claim.startswith("fit"):
        return ""
    return f"its test allowed a margin of {float(str(tested)):g}, and {margin:g} is declared"


def _superseded(
    judge: str,
    version: str,
    evaluation: HeldOutEvaluation,
    evaluations: Sequence[HeldOutEvaluation],
) -> str:
    """Return the objection of a later evaluation to a certificate; empty without one."""
    for later in evaluations[evaluations.index(evaluation) + 1 :]:
        for candidate in later.candidates:
            if candidate.judge_id != judge:
                continue
            if judge in later.certificates and candidate.version != version:
                return f"superseded by {candidate.version}"
            verdicts = {row["verdict"] for row in _verdicts(later, judge, version).values()}
            if "unfit" in verdicts:
                return "it fails a later evaluation"
            if "rejected" in verdicts:
                return "a later evaluation finds it worse than before"
    return ""
