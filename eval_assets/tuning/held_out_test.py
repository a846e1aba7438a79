"""The held-out test of one question: evaluate it when due, show it, recompute certificates."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from eval_assets.config.tuning import EvaluationPolicy
from eval_assets.stats import repeated_rater
from eval_assets.tuning.calibration import MIN_TRAIN_GROUPS
from eval_assets.tuning.certificate import QuestionCertificate
from eval_assets.tuning.certificate_contents import Background, question_certificate
from eval_assets.tuning.claim_results import (
    DECISION_RULE,
    MIN_TEST_GROUPS,
    MOST_EVALUATIONS,
    evaluation_significance,
)
from eval_assets.tuning.history import SHOWN, HeldOutEvaluation, QuestionTest
from eval_assets.tuning.partial_automation import (
    OTHER_JUDGES,
    JudgePart,
    chosen_part,
    doubts_by_source,
    tried_parts,
)
from eval_assets.tuning.power import Plan, plan_evaluation, plan_sentence, why_not_evaluated
from eval_assets.tuning.rated import Floats, RatedUnits, Split
from eval_assets.tuning.steps import JURY, TunedJudge, VersionScores
from eval_assets.tuning.verdicts_of_test import (
    Candidate,
    Row,
    evaluation_rows,
    n_evaluable,
    parts_of,
    shared_significance,
    verdicts_on_test,
)
from eval_assets.tuning.versions import (
    JudgeVersion,
    fingerprints_of,
    json_hash,
    labels_hash,
    scores_hash,
)
from eval_assets.wording import counted

logger = logging.getLogger(__name__)


class EvaluationLedger(Protocol):
    """Permanent record of evaluations. A recorded evaluation counts, even if it was interrupted."""

    def evaluations(self, question_id: str) -> list[HeldOutEvaluation]:
        """Return all evaluations of a question's test in this folder."""

    def evaluations_elsewhere(self, question_id: str) -> Iterable[HeldOutEvaluation]:
        """Return those of questions of this name in other folders on the ledger."""

    def record(self, evaluation: HeldOutEvaluation) -> None:
        """Store an evaluation before the test is read; raise StoreError if its number is taken."""

    def release(self, evaluation: HeldOutEvaluation) -> None:
        """Store the rows and certificates of a recorded evaluation."""


def current_test(ledger: EvaluationLedger, units: RatedUnits) -> QuestionTest:
    """Return the current test of a question's test.

    Evaluations of the same test count in every folder on the ledger.
    """
    responses = units.part("test").texts_by_response()
    foreign_evaluations = ledger.evaluations_elsewhere(units.question.id)
    same_test = [evaluation for evaluation in foreign_evaluations if evaluation.is_of(responses)]
    return QuestionTest.of(ledger.evaluations(units.question.id), same_test)


def evaluate_if_due(  # noqa: PLR0913 - what is read, and when
    ledger: EvaluationLedger,
    units: RatedUnits,
    judges: Sequence[TunedJudge],
    background: Background,
    *,
    on_request: bool,
    policy: EvaluationPolicy,
) -> tuple[list[Row], bool]:
    """Return the verdicts of one question's test, and whether the test was read just now.

    An evaluation is recorded before the test is read. An interrupted one is repeated under its
    number. One that the policy holds back is not recorded, and does not count.

    Raises:
        StoreError: If another run made the evaluation meanwhile.
    """
    usage = current_test(ledger, units)
    live, candidates, unread = _candidates(units, usage, judges, background)
    if not candidates:
        return unread, False
    now = datetime.now(tz=UTC)
    evaluation, is_new = due_evaluation(live, candidates, usage, on_request=on_request, now=now)
    if not is_new:
        return [*evaluation.rows, *unread], False
    if evaluation not in usage.evaluations:
        plans = plan_evaluation(
            live,
            candidates,
            usage,
            margin=background.margin,
            people_agree=background.people_agree,
        )
        logger.info("%s", plan_sentence(plans))
        if reason := why_not_evaluated(plans, policy):
            rows = unevaluated_rows(
                units.question.id, candidates, reason=reason, verdict="not_evaluated"
            )
            return [*rows, *unread], False
        ledger.record(evaluation)
    released = completed_evaluation(evaluation, live, candidates, background)
    ledger.release(released)
    return [*released.rows, *unread], True


def shown_test(
    ledger: EvaluationLedger,
    units: RatedUnits,
    judges: Sequence[TunedJudge],
    background: Background,
) -> tuple[list[Row], HeldOutEvaluation | None]:
    """Return all figures of a question's test, and the entry to record once they are printed.

    The entry ends the test: groups that are labelled later form the next one. A test that was shown
    before is shown again without an entry.
    """
    usage = current_test(ledger, units)
    live, candidates, unread = _candidates(units, usage, judges, background)
    if not candidates:
        before = [r for r in ledger.evaluations(units.question.id) if r.number == SHOWN]
        return (list(before[-1].rows) if before else unread), None
    now = datetime.now(tz=UTC)
    evaluation, _ = due_evaluation(live, candidates, usage, on_request=True, now=now)
    released = completed_evaluation(evaluation, live, candidates, background, is_shown=True)
    shown = replace(
        released, number=SHOWN, read_at=now, certificates={}, rows=(*released.rows, *unread)
    )
    return list(shown.rows), shown


def _candidates(
    units: RatedUnits,
    usage: QuestionTest,
    judges: Sequence[TunedJudge],
    background: Background,
) -> tuple[RatedUnits, Sequence[Candidate], list[Row]]:
    """Return the units without spent tests, the candidates, and rows of those not evaluated."""
    live, candidates = unspent_units(units, usage), candidates_for(units, usage, judges)
    reason = background.not_held_out or why_not_evaluable(live, candidates, usage)
    if reason:
        return live, [], unevaluated_rows(units.question.id, candidates, reason=reason)
    candidates, repeating = without_repeated_ratings(live, candidates)
    if not candidates:
        return live, [], repeating
    return live, with_tested_parts(live, candidates, usage, background), repeating


def recomputed_certificates(
    ledger: EvaluationLedger,
    scores: VersionScores,
    evaluation: HeldOutEvaluation,
    background: Background,
) -> Mapping[str, QuestionCertificate]:
    """Return the certificates of an evaluation, recomputed from stored data, by judge."""
    question_id = evaluation.question_id
    live = scores_as_evaluated(scores, evaluation)
    earlier = [r for r in ledger.evaluations(question_id) if r.read_at < evaluation.read_at]
    judges = [live.judge(version, {question_id: earlier}) for version in evaluation.candidates]
    units = live.units[question_id]
    candidates = candidates_for(units, QuestionTest.of([]), judges)
    candidates = with_parts(units, candidates, evaluation.parts)
    released = completed_evaluation(evaluation, units, candidates, background)
    return released.certificates


def scores_as_evaluated(scores: VersionScores, evaluation: HeldOutEvaluation) -> VersionScores:
    """Return the scores that an evaluation saw, if they have not changed since.

    A version that was trained on groups of the test since, under another split, keeps its scores of
    them: the evaluation came first.
    """
    question_id = evaluation.question_id
    live = scores.as_evaluated(question_id, evaluation.groups)
    untrained = replace(live, versions=[_untrained(v) for v in live.versions])
    rated = live.units[question_id]
    is_test = rated.is_in("test")
    test = rated.part("test")
    unchanged = {
        version.definition_hash
        for version in evaluation.candidates
        if (evidence := evaluation.evidence.get(version.judge_id)) is not None
        and evidence.scores
        == scores_hash(test, untrained.judge(version, {}).raw[question_id][is_test])
    }
    versions = [_untrained(v) if v.definition_hash in unchanged else v for v in live.versions]
    return replace(live, versions=versions)


def _untrained(version: JudgeVersion) -> JudgeVersion:
    return replace(version, trained_on=frozenset())


def unspent_units(units: RatedUnits, usage: QuestionTest) -> RatedUnits:
    """Return the units without test groups whose labels an earlier test has shown."""
    is_unspent = _is_unspent(units, usage)
    return units if is_unspent.all() else units.only(is_unspent)


def _is_unspent(units: RatedUnits, usage: QuestionTest) -> NDArray[np.bool_]:
    return ~(units.is_in("test") & units.are_of(usage.spent_groups))


def candidates_for(
    units: RatedUnits, usage: QuestionTest, judges: Sequence[TunedJudge]
) -> list[Candidate]:
    """Return the judges as candidates, with their scores of the units without spent tests.

    A judge that scored none of the test is no candidate, unless there is no test.
    """
    question = units.question.id
    is_unspent = _is_unspent(units, usage)
    is_test = units.is_in("test")[is_unspent]
    candidates = []
    for judge in judges:
        scores = judge.scores[question][is_unspent]
        if not (is_test.any() and np.isnan(scores[is_test]).all()):
            candidates.append(
                Candidate(
                    judge.version,
                    scores=scores,
                    raw=judge.raw[question][is_unspent],
                    baseline=judge.baseline[question][is_unspent],
                )
            )
    return candidates


def without_repeated_ratings(
    units: RatedUnits, candidates: Sequence[Candidate]
) -> tuple[list[Candidate], list[Row]]:
    """Return the candidates that repeat no rater's ratings, and rows for the others."""
    valid: list[Candidate] = []
    rows: list[Row] = []
    unit, rater = np.nonzero(~np.isnan(units.ratings))
    for candidate in candidates:
        if repeated_rater(unit, rater, units.ratings[unit, rater], candidate.raw) is None:
            valid.append(candidate)
        else:
            reason = "its scores equal the ratings of one rater on all responses that both rated"
            rows += unevaluated_rows(units.question.id, [candidate], reason=reason)
    return valid, rows


def why_not_evaluable(
    units: RatedUnits, candidates: Sequence[Candidate], usage: QuestionTest
) -> str:
    """Return why the test cannot be evaluated; empty if it can."""
    if reason := _lacking_groups(units, usage):
        return reason
    if not candidates:
        return "no judge scored the test"
    if not n_evaluable(units, candidates):
        return f"no judge scored {MIN_TEST_GROUPS} rated groups of the test"
    return ""


_MINIMUMS: Mapping[Split, int] = {"train": MIN_TRAIN_GROUPS, "test": MIN_TEST_GROUPS}


def _lacking_groups(units: RatedUnits, usage: QuestionTest) -> str:
    """Return which splits hold too few rated groups, and how many more to rate; empty if none.

    New groups are taken to fall into the splits in the proportions of those that are rated.
    """
    n_by_split = {split: units.part(split).n_groups for split in get_args(Split)}
    lacking = [split for split, minimum in _MINIMUMS.items() if n_by_split[split] < minimum]
    if not lacking:
        return ""
    counts = [
        f"{counted(n_by_split[split], 'rated group')} in {'the test' if split == 'test' else split}"
        for split in lacking
    ]
    needed = " and ".join(str(_MINIMUMS[split]) for split in lacking)
    reason, n_spent = f"{' and '.join(counts)}; {needed} are needed", len(usage.spent_groups)
    if "test" in lacking and n_spent:
        reason += f" beside the {n_spent} whose labels were shown"
    n_rated = n_by_split | {"test": n_by_split["test"] + n_spent}
    if not all(n_rated[split] for split in _MINIMUMS):
        return reason
    per_group = {split: sum(n_rated.values()) / n_rated[split] for split in _MINIMUMS}
    more = max((n - n_by_split[split]) * per_group[split] for split, n in _MINIMUMS.items())
    return f"{reason}, which takes about {counted(math.ceil(more), 'more rated group')}"


def unevaluated_rows(
    question_id: str,
    candidates: Sequence[Candidate],
    *,
    reason: str,
    verdict: Literal["not_evaluable", "not_evaluated"] = "not_evaluable",
) -> list[Row]:
    """Return rows of `tuned_judge_evaluation` for a test that is not read."""
    return [
        {
            "judge_id": candidate.version.judge_id,
            "version": candidate.version.version,
            "question_id": question_id,
            "kind": kind,
            "verdict": verdict,
            "reason": reason,
        }
        for candidate in candidates
        for kind in ("improvement", "fitness")
    ]


def due_evaluation(
    units: RatedUnits,
    candidates: Sequence[Candidate],
    usage: QuestionTest,
    *,
    on_request: bool,
    now: datetime,
) -> tuple[HeldOutEvaluation, bool]:
    """Return the evaluation that holds for these candidates, and whether it is still to be made.

    Returns:
        The evaluation that read exactly this before; else a new one, if one is due, without its
        results; else the last one.
    """
    test, is_test = units.part("test"), units.is_in("test")
    versions = [candidate.version for candidate in candidates]
    content = _content(units, candidates)
    for same in usage.evaluations:
        if same.content == content:
            return same, not same.rows
    groups = tuple(sorted(set(test.groups.tolist())))
    if not usage.is_due(versions, n_groups=len(groups), on_request=on_request):
        return usage.evaluations[-1], False
    number = usage.next_number
    new = HeldOutEvaluation(
        question_id=units.question.id,
        seal=usage.number,
        number=number,
        level=shared_significance(units, candidates, number=number),
        candidates=tuple(versions),
        groups=groups,
        content=content,
        rows=(),
        certificates={},
        read_at=now,
        responses=test.texts_by_response(),
        parts=parts_of(candidates),
        evidence={
            candidate.version.judge_id: fingerprints_of(
                candidate.version, test, candidate.raw[is_test]
            )
            for candidate in candidates
        },
    )
    return new, True


def _content(units: RatedUnits, candidates: Sequence[Candidate]) -> str:
    """Return the fingerprint of everything that an evaluation of these candidates looks at."""
    test, is_test = units.part("test"), units.is_in("test")
    scores = sorted(
        (candidate.version.definition_hash, scores_hash(test, candidate.scores[is_test]))
        for candidate in candidates
    )
    parts = {judge: asdict(part) for judge, part in parts_of(candidates).items()}
    return json_hash([DECISION_RULE, scores, labels_hash(test), parts])


def with_tested_parts(
    units: RatedUnits,
    candidates: Sequence[Candidate],
    usage: QuestionTest,
    background: Background,
) -> list[Candidate]:
    """Return the candidates with the parts of the responses that the next evaluation tests.

    The parts of an evaluation of the same candidates, scores and labels stay. Else they are chosen
    on train and dev.
    """
    for evaluation in reversed(usage.evaluations):
        as_evaluated = with_parts(units, candidates, evaluation.parts)
        if evaluation.content == _content(units, as_evaluated):
            return as_evaluated
    if not (background.stand_in and background.people_agree):
        return list(candidates)
    # The level of an evaluation in which a part of every judge is tested, which none goes below.
    significance = evaluation_significance(
        min(usage.next_number, MOST_EVALUATIONS),
        n_candidates=max(2 * n_evaluable(units, candidates), 1),
    )
    parts = {}
    for candidate in candidates:
        if candidate.version.judge_id == JURY:
            continue
        tried = tried_parts(
            units,
            candidate.scores,
            _doubts(units, candidates, candidate),
            margin=background.margin,
            significance=significance,
        )
        if (chosen := chosen_part(tried)) is not None:
            parts[candidate.version.judge_id] = chosen.part
    return with_parts(units, candidates, parts)


def next_plans(
    ledger: EvaluationLedger,
    units: RatedUnits,
    judges: Sequence[TunedJudge],
    background: Background,
) -> list[Plan]:
    """Return the power of the next evaluation of a question's test, by candidate."""
    usage = current_test(ledger, units)
    live, candidates = unspent_units(units, usage), candidates_for(units, usage, judges)
    candidates, _ = without_repeated_ratings(live, candidates)
    candidates = with_tested_parts(live, candidates, usage, background)
    return plan_evaluation(
        live,
        candidates,
        usage,
        margin=background.margin,
        people_agree=background.people_agree,
    )


def with_parts(
    units: RatedUnits, candidates: Sequence[Candidate], parts: Mapping[str, JudgePart]
) -> list[Candidate]:
    """Return the candidates with these parts, by judge, and the doubts that decide them."""
    return [
        candidate
        if part is None
        else replace(
            candidate,
            part=part,
            doubts=_doubts(units, candidates, candidate).get(
                part.doubt_source, np.full(len(units.groups), np.nan)
            ),
        )
        for candidate in candidates
        for part in [parts.get(candidate.version.judge_id)]
    ]


def _doubts(
    units: RatedUnits, candidates: Sequence[Candidate], candidate: Candidate
) -> dict[str, Floats]:
    judge_id = candidate.version.judge_id
    scores = {c.version.judge_id: c.scores for c in candidates if c.version.judge_id != JURY}
    spread = units.spreads.get(judge_id) if candidate.version.has_declared_prompt else None
    return doubts_by_source(judge_id, scores, spread, is_ordered=units.level != "nominal")


def completed_evaluation(
    evaluation: HeldOutEvaluation,
    units: RatedUnits,
    candidates: Sequence[Candidate],
    background: Background,
    *,
    is_shown: bool = False,
) -> HeldOutEvaluation:
    """Return a recorded evaluation with its rows and certificates.

    Where the test rejects a map, the verdict on fitness is that on the judge as declared: it takes
    the place of the candidate. A judge that a map harms is hardly found fit with it, so that the
    two tests together are wrong as often as one.
    """
    test = partial(
        verdicts_on_test,
        units,
        significance=evaluation.level,
        margin=background.margin,
        people_agree=background.people_agree,
    )
    verdicts = test(candidates)
    # Judges that the doubt of another one's part comes from keep their map: that part was fixed
    # with it.
    parts = parts_of(candidates)
    sources = {part.doubt_source for part in parts.values()}
    rejected = {
        verdict.version.judge_id: verdict
        for verdict in verdicts
        if verdict.improvement.verdict == "rejected"
        and verdict.version.as_declared is not verdict.version
        and verdict.version.judge_id not in {*parts, *sources}
        and OTHER_JUDGES not in sources
    }
    if rejected:
        candidates = [
            replace(of, version=of.version.as_declared, scores=of.raw, baseline=of.raw)
            if of.version.judge_id in rejected
            else of
            for of in candidates
        ]
        verdicts = test(candidates)
    rows = evaluation_rows(
        [*rejected.values(), *verdicts],
        question_id=evaluation.question_id,
        evaluation=evaluation.number,
        is_shown=is_shown,
    )
    certificates = {
        verdict.version.judge_id: question_certificate(
            verdict, units, candidate, evaluation=evaluation, background=background
        )
        for verdict, candidate in zip(verdicts, candidates, strict=True)
        if verdict.is_certified
    }
    return replace(
        evaluation,
        candidates=tuple(candidate.version for candidate in candidates),
        rows=tuple(rows),
        certificates=certificates,
    )
