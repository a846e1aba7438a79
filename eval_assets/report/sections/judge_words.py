"""The verdict on each judge in words."""

from collections.abc import Sequence

from eval_assets.agreement.gates.declarations import HUMAN_GATES
from eval_assets.agreement.judge_verdicts import why_not_judged
from eval_assets.figures import JudgeHumanFigures
from eval_assets.render.document import Cell
from eval_assets.report.data import ReportData, text
from eval_assets.verdicts import Fitness, JudgeVerdict
from eval_assets.wording import counted, listed

_MOST_NAMED = 3


def figures_of_judge(data: ReportData, judge_id: str) -> dict[str, JudgeHumanFigures]:
    """Return the figures of a judge by question, in the rubric's order."""
    rows = {row.question_id: row for row in data.judge_humans if row.judge_id == judge_id}
    return {q.id: rows[q.id] for q in data.evaluation.rubric if q.id in rows}


def verdict_cell(data: ReportData, row: JudgeHumanFigures) -> Cell:
    """Return the verdict of a judge on one question."""
    if why_not_judged(row, data.gates):
        return Cell("cannot be judged")
    return Cell(row.verdict.sentence, tone=row.verdict.tone)


def judge_sentence(data: ReportData, judge_id: str) -> str:
    """Return the verdicts on a judge over all questions."""
    rows = figures_of_judge(data, judge_id)
    by_words: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows.values(), key=lambda row: row.verdict.rank):
        words, where = _words(row), ""
        if why := why_not_judged(row, data.gates):
            words, where = "cannot be judged", f", where {why}"
        by_words.setdefault((words, where), []).append(row.question_id)
    not_compared = JudgeVerdict.NOT_COMPARED.sentence
    parts = [
        words
        if words == not_compared and len(questions) == len(rows)
        else f"{words} on {_questions(questions, len(rows))}{where}"
        for (words, where), questions in by_words.items()
    ]
    tested = tested_fitness(data, judge_id)
    for fitness in (Fitness.FIT, Fitness.UNFIT):
        questions = [question_id for question_id in rows if tested.get(question_id) is fitness]
        if questions:
            where = _questions(questions, len(rows))
            parts.append(f"a sealed test found it {fitness} for use on {where}")
    return "; ".join(parts) or not_compared


def tested_fitness(data: ReportData, judge_id: str) -> dict[str, Fitness]:
    """Return the verdicts of sealed tests by question, without stale ones."""
    return {
        text(record, "question_id"): Fitness(text(record, "fitness"))
        for record in data.rows("judge_certificates")
        if text(record, "judge_id") == judge_id
        and text(record, "fitness")
        and not text(record, "stale_because")
    }


def standing(data: ReportData, judge_id: str) -> dict[str, JudgeVerdict]:
    """Return the verdict on a judge by question; that of a sealed test takes precedence."""
    tested = tested_fitness(data, judge_id)
    verdicts = {q: row.verdict for q, row in figures_of_judge(data, judge_id).items()}
    for question_id, verdict in verdicts.items():
        match tested.get(question_id):
            case Fitness.FIT:
                verdicts[question_id] = JudgeVerdict.MATCHES_HUMANS
            case Fitness.UNFIT if verdict.rank < JudgeVerdict.BELOW_HUMANS.rank:
                verdicts[question_id] = JudgeVerdict.BELOW_HUMANS
    return verdicts


def best_verdicts(data: ReportData) -> dict[str, JudgeVerdict]:
    """Return the best verdict that any judge has on each question that passes the gates."""
    best: dict[str, JudgeVerdict] = {}
    for judge in data.evaluation.judges:
        for question_id, verdict in standing(data, judge.id).items():
            if question_id in data.tunable:
                best[question_id] = min(
                    best.get(question_id, verdict), verdict, key=lambda verdict: verdict.rank
                )
    return best


def tells_responses_apart(row: JudgeHumanFigures) -> bool:
    """Return whether a judge's scores certainly fit the responses better than if shuffled."""
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


def _words(row: JudgeHumanFigures) -> str:
    """Return the verdict of a row as part of a sentence."""
    words = row.verdict.sentence
    if row.verdict is JudgeVerdict.LIKE_CONSTANT and tells_responses_apart(row):
        return f"{words}, although it tells responses apart"
    return words
