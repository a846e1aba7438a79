"""The verdict on each judge in words."""

from collections.abc import Mapping, Sequence

from eval_assets.agreement import why_not_judged
from eval_assets.gates import HUMAN_GATES
from eval_assets.report._document import Cell, Tone
from eval_assets.report._text import counted, listed
from eval_assets.report.data import Record, ReportData, number, text

_WORDS = {
    "as people do": "agrees with people as people do",
    "less than people do": "agrees with people less than people do",
    "cannot tell": "the data cannot tell whether it agrees with people as people do",
}
_NOT_COMPARED = "scored no response that people rated"
_CONTROLS = {
    "like a constant": ("a_ha_above_constant", "a constant score"),
    "like shuffled scores": ("a_ha_above_shuffled", "its own scores in random order"),
}
_TONES: Mapping[str, Tone] = {
    "as people do": "good",
    "cannot tell": "fair",
    "less than people do": "weak",
    "like a constant": "poor",
    "like shuffled scores": "poor",
    "not compared": "none",
}
_ORDER = {verdict: place for place, verdict in enumerate(_TONES)}
_MOST_NAMED = 3


def verdicts_of(data: ReportData, judge_id: str) -> dict[str, Record]:
    """Return the rows of a judge by question, in the rubric's order."""
    found = {
        text(record, "question_id"): record
        for record in data.rows("judge_human_agreement")
        if text(record, "judge_id") == judge_id
    }
    return {q.id: found[q.id] for q in data.evaluation.rubric if q.id in found}


def verdict_cell(data: ReportData, record: Record) -> Cell:
    """Return the verdict of a judge on one question in a few words."""
    verdict = text(record, "verdict")
    if _why_not_judged(data, record):
        return Cell("cannot be judged")
    if is_opposed(record):
        return Cell("against people's ratings", tone="poor")
    return Cell(verdict or "not compared", tone=_TONES.get(verdict, "none"))


def judge_sentence(data: ReportData, judge_id: str) -> str:
    """Return how a judge agrees with people, over all questions."""
    found = verdicts_of(data, judge_id)
    by_words: dict[tuple[str, str], list[str]] = {}
    for question_id, record in sorted(
        found.items(), key=lambda item: _rank(text(item[1], "verdict"))
    ):
        words, where = _words(record), ""
        if why := _why_not_judged(data, record):
            words, where = "cannot be judged", f", where {why}"
        by_words.setdefault((words, where), []).append(question_id)
    parts = [
        words
        if words == _NOT_COMPARED and len(questions) == len(found)
        else f"{words} on {_questions(questions, len(found))}{where}"
        for (words, where), questions in by_words.items()
    ]
    tested = tested_fitness(data, judge_id)
    for fitness in ("fit", "unfit"):
        questions = [question_id for question_id in found if tested.get(question_id) == fitness]
        if questions:
            where = _questions(questions, len(found))
            parts.append(f"a sealed test found it {fitness} for use on {where}")
    return "; ".join(parts) or _NOT_COMPARED


def tested_fitness(data: ReportData, judge_id: str) -> dict[str, str]:
    """Return whether sealed tests found a judge fit, by question; not of tests that are stale."""
    return {
        text(record, "question_id"): text(record, "fitness")
        for record in data.rows("judge_certificates")
        if text(record, "judge_id") == judge_id and not text(record, "stale_because")
    }


def standing(data: ReportData, judge_id: str) -> dict[str, str]:
    """Return the verdict on a judge by question; that of a sealed test takes precedence."""
    tested = tested_fitness(data, judge_id)
    found = {q: text(record, "verdict") for q, record in verdicts_of(data, judge_id).items()}
    for question_id, verdict in found.items():
        match tested.get(question_id):
            case "fit":
                found[question_id] = "as people do"
            case "unfit" if verdict in {"as people do", "cannot tell"}:
                found[question_id] = "less than people do"
    return found


def best_verdicts(data: ReportData) -> dict[str, str]:
    """Return the best verdict that any judge has on each question that passes the gates."""
    best: dict[str, str] = {}
    for judge in data.evaluation.judges:
        for question_id, verdict in standing(data, judge.id).items():
            known = best.get(question_id, verdict)
            if question_id in data.tunable:
                best[question_id] = min(known, verdict, key=_rank)
    return best


def tells_apart(record: Record) -> bool:
    """Return whether a judge's scores certainly fit the responses better than if shuffled."""
    return number(record, "a_ha_above_shuffled_low") > 0


def is_opposed(record: Record) -> bool:
    """Return whether a judge's scores certainly fit the responses less than if shuffled."""
    return number(record, "a_ha_above_shuffled_high") < 0


def named_questions(questions: Sequence[str]) -> str:
    """Return questions by name; many as a number."""
    return listed(questions) if len(questions) <= _MOST_NAMED else f"{len(questions)} questions"


def contested_questions(data: ReportData) -> set[str]:
    """Return the questions on which people do not agree well enough."""
    return {
        question_id
        for outcome in data.gates
        if outcome.gate in HUMAN_GATES
        for question_id in outcome.failing_questions
    }


def _why_not_judged(data: ReportData, record: Record) -> str:
    return why_not_judged(
        text(record, "question_id"),
        text(record, "verdict"),
        constant=number(record, "a_ha_constant"),
        outcomes=data.gates,
    )


def _rank(verdict: str) -> int:
    """Return the place of a verdict in a sentence: the best first."""
    return _ORDER.get(verdict, len(_ORDER))


def _questions(questions: list[str], n_all: int) -> str:
    """Return the questions by name; all or many of them as a number."""
    if len(questions) == n_all > 1:
        return "both questions" if n_all == 2 else f"all {n_all} questions"  # noqa: PLR2004 - both
    if len(questions) <= _MOST_NAMED:
        return listed(questions)
    return f"{len(questions)} of {counted(n_all, 'question')}"


def _words(record: Record) -> str:
    """Return the verdict of a row as part of a sentence."""
    verdict = text(record, "verdict")
    if is_opposed(record):
        return "goes against people's ratings"
    if verdict in _CONTROLS:
        column, control = _CONTROLS[verdict]
        exceeds = number(record, column) > 0
        words = f"{'cannot be told apart from' if exceeds else 'no better than'} {control}"
        return f"{words}, although it tells responses apart" if tells_apart(record) else words
    return _WORDS.get(verdict, _NOT_COMPARED)
