"""The verdict on each judge in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval_assets.agreement.gates.declarations import HUMAN_GATES
from eval_assets.agreement.judge_verdicts import (
    gap_beyond_chance,
    open_gap_sentence,
    why_not_judged,
)
from eval_assets.figures import JudgeHumanFigures, Scope
from eval_assets.render.document import Cell
from eval_assets.report.data import ReportData
from eval_assets.report.stored_rows import IssuedCertificateRow, JudgeStateRow
from eval_assets.scale import TOLERANCE
from eval_assets.verdicts import Fitness, JudgeVerdict
from eval_assets.wording import counted, listed

_MOST_NAMED = 3
_NOT_BEYOND_CHANCE = "is not shown to match human agreement beyond chance"


def figures_of_judge(data: ReportData, judge_id: str) -> dict[str, JudgeHumanFigures]:
    """Return the figures of a judge by question, in the rubric's order."""
    rows = {row.question_id: row for row in data.judge_humans if row.judge_id == judge_id}
    return {q.id: rows[q.id] for q in data.evaluation.rubric if q.id in rows}


def verdict_cell(data: ReportData, row: JudgeHumanFigures) -> Cell:
    """Return the verdict of a judge on one question."""
    if why_not_judged(row, data.gates):
        return Cell("cannot be judged")
    if _matches_by_chance_alone(data, row):
        return Cell(_NOT_BEYOND_CHANCE, tone=JudgeVerdict.INCONCLUSIVE.tone)
    return Cell(open_gap_sentence(row) or row.verdict.sentence, tone=row.verdict.tone)


def judge_sentence(data: ReportData, judge_id: str) -> str:
    """Return the verdicts on a judge over all questions."""
    parts = [*_verdict_parts(data, judge_id), *_test_parts(data, judge_id)]
    return "; ".join(parts) or JudgeVerdict.NOT_COMPARED.sentence


def judge_bullet(data: ReportData, judge_id: str, *, most_words: int) -> str:
    """Return the verdicts on a judge in a limited number of words, those of tests first."""
    tests = [*_stale_tests(data, judge_id), *_test_parts(data, judge_id)]
    verdicts = _verdict_parts(data, judge_id)
    parts = [*tests, *verdicts] or [JudgeVerdict.NOT_COMPARED.sentence]
    return shortened(parts, most_words=most_words)


def shortened(parts: Sequence[str], *, most_words: int) -> str:
    """Return the first parts of a sentence within a number of words, at least one.

    Examples:
        >>> shortened(["a b", "c d", "e f g"], most_words=6)
        'a b; c d; more below'
    """
    for n in range(len(parts), 0, -1):
        words = "; ".join([*parts[:n], *(["more below"] if n < len(parts) else [])])
        if len(words.split()) <= most_words:
            return words
    return parts[0]


def _verdict_parts(data: ReportData, judge_id: str) -> list[str]:
    """Return the verdicts on a judge by its figures, the best first, with their questions."""
    rows = figures_of_judge(data, judge_id)
    by_words: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows.values(), key=lambda row: row.verdict.rank):
        words, exception = _words(data, row), ""
        if reason := why_not_judged(row, data.gates):
            words, exception = "cannot be judged", f", where {reason}"
        by_words.setdefault((words, exception), []).append(row.question_id)
    not_compared, order = JudgeVerdict.NOT_COMPARED.sentence, list(rows)
    return [
        words
        if words == not_compared and len(questions) == len(rows)
        else f"{_on(words, _questions(sorted(questions, key=order.index), len(rows)))}{exception}"
        for (words, exception), questions in by_words.items()
    ]


def _on(words: str, questions: str) -> str:
    """Return a verdict on questions, which are named before its reason.

    Examples:
        >>> _on("is inconclusive: more groups are needed", "clarity")
        'is inconclusive on clarity: more groups are needed'
    """
    verdict, colon, reason = words.partition(":")
    return f"{verdict} on {questions}{colon}{reason}"


def _test_parts(data: ReportData, judge_id: str) -> list[str]:
    parts = []
    n_all = len(figures_of_judge(data, judge_id))
    by_test: dict[tuple[Fitness, str, bool], list[str]] = {}
    for test in sealed_tests(data, judge_id):
        if test.fitness in (Fitness.FIT, Fitness.UNFIT):
            key = (test.fitness, test.version, test.is_in_use)
            by_test.setdefault(key, []).append(test.question_id)
    for (fitness, version, is_in_use), questions in sorted(by_test.items()):
        scope = _questions(questions, n_all)
        tested = version if is_in_use else f"{version}, which is not in use,"
        parts.append(f"a sealed test found {tested} {fitness} for use on {scope}")
    return [*parts, *_part_tests(data, judge_id)]


def _stale_tests(data: ReportData, judge_id: str) -> list[str]:
    """Return the sealed tests that no longer hold, and why."""
    pinned_version = _pinned_version(data, judge_id)
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in data.rows(IssuedCertificateRow):
        if (
            row.judge_id == judge_id
            and row.stale_because
            and _is_in_use(row.version, pinned_version)
        ):
            by_reason.setdefault((row.version, row.stale_because), []).append(row.question_id)
    return [
        f"the sealed test of {version} on {named_questions(questions)} no longer holds: {reason}"
        for (version, reason), questions in by_reason.items()
    ]


def _part_tests(data: ReportData, judge_id: str) -> list[str]:
    """Return the sealed tests that found a version fit on a part of the responses."""
    return [
        f"a sealed test found {test.version}{'' if test.is_in_use else ', which is not in use,'} "
        f"fit for use on {100 * test.share:.0f} % of what it scores on {test.question_id}"
        for test in sealed_tests(data, judge_id)
        if not math.isnan(test.share)
    ]


@dataclass(frozen=True)
class SealedTest:
    """The verdict of a sealed test on one version of a judge.

    Args:
        share: Share of the responses on which it is fit with people on the rest; NaN if no such
            part was certified.
    """

    question_id: str
    version: str
    fitness: Fitness
    share: float
    is_in_use: bool


def sealed_tests(data: ReportData, judge_id: str) -> list[SealedTest]:
    """Return the verdicts of sealed tests in the rubric's order, without stale ones."""
    pinned_version = _pinned_version(data, judge_id)
    order = [question.id for question in data.evaluation.rubric]
    tests = [
        SealedTest(
            question_id=row.question_id,
            version=row.version,
            fitness=Fitness(row.fitness),
            share=row.share if row.claim == "fit_in_part" else math.nan,
            is_in_use=_is_in_use(row.version, pinned_version),
        )
        for row in data.rows(IssuedCertificateRow)
        if row.judge_id == judge_id
        and row.fitness
        and not row.stale_because
        and row.question_id in order
    ]
    return sorted(tests, key=lambda test: order.index(test.question_id))


def version_in_use(data: ReportData, judge_id: str) -> str:
    """Return the version of a judge that is in use."""
    return _pinned_version(data, judge_id) or "the judge as declared"


def standing(data: ReportData, judge_id: str) -> dict[str, JudgeVerdict]:
    """Return the verdict on the judge in use by question.

    A match needs agreement beyond chance near that of humans. A sealed test of the version in use
    decides if the other figures are inconclusive. An unfit version outweighs a match.
    """
    verdicts = {
        question_id: JudgeVerdict.INCONCLUSIVE
        if _matches_by_chance_alone(data, row)
        else row.verdict
        for question_id, row in figures_of_judge(data, judge_id).items()
    }
    tests = [test for test in sealed_tests(data, judge_id) if test.question_id in verdicts]
    for test in tests:
        is_open = verdicts[test.question_id] is JudgeVerdict.INCONCLUSIVE
        if test.fitness is Fitness.FIT and test.is_in_use and is_open:
            verdicts[test.question_id] = JudgeVerdict.MATCHES_HUMANS
    for test in tests:
        verdict = verdicts[test.question_id]
        if test.fitness is Fitness.UNFIT and verdict.rank < JudgeVerdict.BELOW_HUMANS.rank:
            verdicts[test.question_id] = JudgeVerdict.BELOW_HUMANS
    return verdicts


def best_verdicts(data: ReportData) -> dict[str, JudgeVerdict]:
    """Return the best verdict that any judge has on each question on which all can be judged.

    A question that fails a blocking gate is left out.
    """
    best: dict[str, JudgeVerdict] = {}
    judged = {*data.tunable}.difference(reasons_not_judged(data))
    for judge in data.evaluation.judges:
        for question_id, verdict in standing(data, judge.id).items():
            if question_id in judged:
                best[question_id] = min(
                    best.get(question_id, verdict), verdict, key=lambda verdict: verdict.rank
                )
    return best


def reasons_not_judged(data: ReportData) -> dict[str, str]:
    """Return by question why a judge cannot be judged on it."""
    return {
        row.question_id: reason
        for row in data.judge_humans
        if (reason := why_not_judged(row, data.gates))
    }


def tells_responses_apart(row: JudgeHumanFigures) -> bool:
    """Return whether a judge's scores are clearly better than shuffled ones."""
    return row.a_ha_above_shuffled.low > 0


def named_questions(questions: Sequence[str]) -> str:
    """Return questions by name; many as a number."""
    return listed(questions) if len(questions) <= _MOST_NAMED else f"{len(questions)} questions"


def contested_questions(data: ReportData) -> set[str]:
    """Return the questions on which humans do not agree well enough."""
    return {
        question_id
        for outcome in data.gates
        if outcome.gate in HUMAN_GATES
        for question_id in outcome.failing_questions
    }


def _questions(questions: list[str], n_all: int) -> str:
    """Return the questions by name; all or many of them as a number."""
    if len(questions) == n_all > 1:
        return "both questions" if n_all == 2 else f"all {n_all} questions"  # noqa: PLR2004 - both
    if len(questions) <= _MOST_NAMED:
        return listed(questions)
    return f"{len(questions)} of {counted(n_all, 'question')}"


def _words(data: ReportData, row: JudgeHumanFigures) -> str:
    words = row.verdict.sentence
    if row.verdict is JudgeVerdict.LIKE_CONSTANT and tells_responses_apart(row):
        return f"{words}, although it tells responses apart"
    return _NOT_BEYOND_CHANCE if _matches_by_chance_alone(data, row) else words


def _matches_by_chance_alone(data: ReportData, row: JudgeHumanFigures) -> bool:
    """Return whether a judge matches human A^HA but not human agreement beyond chance."""
    if row.verdict is not JudgeVerdict.MATCHES_HUMANS or row.unit != "response":
        return False
    for humans in data.humans:
        if humans.scope is Scope.QUESTION and humans.question_id == row.question_id:
            gap = gap_beyond_chance(row, humans)
            return gap < -data.evaluation.tuning.margin - TOLERANCE
    return False


def _pinned_version(data: ReportData, judge_id: str) -> str:
    rows = data.rows(JudgeStateRow)
    return next((row.version for row in rows if row.judge_id == judge_id), "")


def _is_in_use(version: str, pinned_version: str) -> bool:
    """Return whether a version is in use; the last two parts of a declared version are 0."""
    return version == pinned_version if pinned_version else version.endswith(".0.0")
