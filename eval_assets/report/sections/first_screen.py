"""The first screen: whether judges can be trusted, and what to do next, each with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass

from eval_assets.evaluation import GateName
from eval_assets.gates import HUMAN_GATES, GateOutcome, GateVerdict
from eval_assets.interpretation import CONTRADICTING_ALPHA, figure_text
from eval_assets.report._document import Cell, Tone, anchor
from eval_assets.report._text import interval_text, listed
from eval_assets.report.data import Record, ReportData, number, text
from eval_assets.report.sections.judge_words import (
    best_verdicts,
    contested_questions,
    is_opposed,
    judge_sentence,
    named_questions,
    standing,
    tells_apart,
    tested_fitness,
    verdict_cell,
    verdicts_of,
)
from eval_assets.scale import TOLERANCE


@dataclass(frozen=True)
class FirstScreen:
    """The answer to "Can the judges be trusted?".

    Args:
        answer: The answer in a few words.
        tone: How good it is.
        gates: A sentence per gate.
        judges: A sentence per judge.
        next_step: What to do.
    """

    answer: str
    tone: Tone
    gates: tuple[Cell, ...]
    judges: tuple[Cell, ...]
    next_step: Cell


def first_screen(data: ReportData) -> FirstScreen:
    """Return what a reader should know first."""
    answer, tone = _answer(data)
    return FirstScreen(
        answer=answer,
        tone=tone,
        gates=tuple(_gate_sentence(outcome) for outcome in data.gates),
        judges=tuple(_judge_cell(data, judge.id) for judge in data.evaluation.judges),
        next_step=next(_next_steps(data)),
    )


_CLAIMS: dict[GateName, tuple[str, str]] = {
    "human_a_hh": ("People rate close to each other", "A^HH"),
    "human_alpha": ("People agree with each other beyond chance", "alpha"),
    "judge_alpha": ("The judges agree with each other beyond chance", "alpha"),
}
_DENIALS: dict[GateName, str] = {
    "human_a_hh": "People do not rate close enough to each other",
    "human_alpha": "People do not agree enough beyond chance",
    "judge_alpha": "The judges do not agree enough beyond chance",
}
_DOUBTS: dict[GateName, str] = {
    "human_a_hh": "It is not certain that people rate close enough to each other",
    "human_alpha": "It is not certain that people agree enough beyond chance",
    "judge_alpha": "It is not certain that the judges agree enough beyond chance",
}
_CHANCE: dict[GateName, str] = {
    "human_alpha": "People agree no better than chance",
    "judge_alpha": "The judges agree no better than chance",
}
_PERHAPS_CHANCE: dict[GateName, str] = {
    "human_alpha": "It is not certain that people agree better than chance",
    "judge_alpha": "It is not certain that the judges agree better than chance",
}
_OPPOSITES: dict[GateName, str] = {
    "human_alpha": "People contradict one another",
    "judge_alpha": "The judges contradict one another",
}


def _gate_sentence(outcome: GateOutcome) -> Cell:
    """Return a gate in words, with a link to its card."""
    overall = outcome.overall
    claim, figure = _CLAIMS[outcome.gate]
    value = figure_text(overall.value, limits=[overall.minimum])
    needed = f"{figure} {value}, and {overall.minimum:g} is needed"
    match overall.verdict:
        case "not_evaluable":
            words = f"{claim}? That cannot be said: {overall.reason_alone}"
        case _ if overall.cannot_tell:
            interval = interval_text(overall.low, overall.high, limits=[overall.minimum])
            words = f"{_DOUBTS[outcome.gate]}: {needed}; the 95 % interval is {interval}"
        case "pass":
            alone = {verdict.verdict == "pass" for verdict in outcome.questions}
            is_pooled = len(outcome.questions) > 1 and alone == {False}
            only = " only over all questions together" if is_pooled else ""
            words = f"{claim}{only}: {needed}"
        case "fail":
            words = f"{_denial(overall).get(outcome.gate, _DENIALS[outcome.gate])}: {needed}"
    if overall.verdict == "pass":
        words += _exceptions(outcome)
    if outcome.severity == "warn" and not outcome.passed:
        words += ". This gate does not block"
    return Cell(f"{words}.", tone=_gate_tone(outcome), link=f"gate-{outcome.gate}")


def _denial(overall: GateVerdict) -> dict[GateName, str]:
    """Return what to call a figure that is certainly below its minimum."""
    if overall.high < CONTRADICTING_ALPHA:
        return _OPPOSITES
    if overall.value <= 0:
        return _CHANCE
    return _PERHAPS_CHANCE if overall.low <= 0 else _DENIALS


def _exceptions(outcome: GateOutcome) -> str:
    """Return the questions that do not reach what all questions together reach."""
    by_verdict = {
        words: [v.question_id for v in outcome.questions if v.question_id and v.verdict == verdict]
        for verdict, words in (("fail", "not reached"), ("not_evaluable", "not to be measured"))
    }
    return "".join(
        f"; {words} on {named_questions(questions)}"
        for words, questions in by_verdict.items()
        if questions
    )


def _gate_tone(outcome: GateOutcome) -> Tone:
    if outcome.is_closed:
        return "poor"
    return "good" if outcome.passed and not outcome.overall.cannot_tell else "fair"


def _judge_cell(data: ReportData, judge_id: str) -> Cell:
    """Return a judge in words, with a link to its card."""
    found = verdicts_of(data, judge_id)
    fit = fit_questions(data, judge_id)
    tones = {verdict_cell(data, record).tone for record in found.values()}
    tone: Tone = "fair"
    if fit and len(fit) == len(found):
        tone = "good"
    elif not fit and tones <= {"weak", "poor"}:
        tone = "poor"
    link = anchor("judge", judge_id) if found else "judges"
    return Cell(f"{judge_id}: {judge_sentence(data, judge_id)}.", tone=tone, link=link)


def fit_questions(data: ReportData, judge_id: str) -> list[str]:
    """Return the questions on which people agree, and the judge with them as they do."""
    contested = contested_questions(data)
    return [
        question_id
        for question_id, verdict in standing(data, judge_id).items()
        if question_id not in contested and verdict == "as people do"
    ]


def _answer(data: ReportData) -> tuple[str, Tone]:
    """Return whether the judges can be trusted, in a few words."""
    if not data.gates:
        return "That cannot be said: nothing is measured yet", "poor"
    if closed := _closed(data):
        return _why_closed(closed[0]), "poor"
    if not data.evaluation.judges:
        return "People agree with each other; no judge is declared yet", "fair"
    return _answer_on_judges(data)


def _closed(data: ReportData) -> list[GateOutcome]:
    """Return the closed gates: people's first, of these what is certain, above all opposites."""
    return sorted(
        (outcome for outcome in data.gates if outcome.is_closed),
        key=lambda closed: (
            closed.gate not in HUMAN_GATES,
            closed.overall.verdict != "fail" or closed.overall.cannot_tell,
            not closed.overall.high < CONTRADICTING_ALPHA,
        ),
    )


def _why_closed(outcome: GateOutcome) -> str:
    """Return the answer while a gate is closed."""
    who = "people" if outcome.gate in HUMAN_GATES else "the judges"
    match outcome.overall.verdict:
        case "not_evaluable":
            return f"That cannot be said: {outcome.overall.reason_alone}"
        case "pass":
            return "Not yet: no question passes every gate"
        case "fail" if outcome.overall.cannot_tell:
            return f"Not yet: the data cannot tell whether {who} agree with each other"
        case "fail":
            return f"Not yet: {who} do not agree with each other well enough"


def _answer_on_judges(data: ReportData) -> tuple[str, Tone]:
    """Return the answer if people agree, and judges with each other."""
    n_questions = len(data.evaluation.rubric)
    fit = {judge.id: fit_questions(data, judge.id) for judge in data.evaluation.judges}
    most = max(len(questions) for questions in fit.values())
    if most:
        best = [judge_id for judge_id, questions in fit.items() if len(questions) == most]
        verb = "agrees" if len(best) == 1 else "agree"
        where = "" if most == n_questions else f" on {most} of {n_questions} questions"
        words = f"{listed(best)} {verb} with people as people do{where}"
        return (f"Yes: {words}", "good") if most == n_questions else (f"In part: {words}", "fair")
    found = best_verdicts(data)
    verdicts = set(found.values())
    if not verdicts - {"not compared"}:
        return "That cannot be said: no response has both a score and a rating", "poor"
    if not verdicts - {"like a constant", "like shuffled scores", "not compared"}:
        words = "no judge is shown to be nearer to people than one that never reads the responses"
        return f"Not yet: {words}", "poor"
    unknown = [question_id for question_id, verdict in found.items() if verdict == "cannot tell"]
    if not unknown:
        return "No: no judge agrees with people as people do", "weak"
    if len(unknown) == len(found):
        return "That cannot be said: more responses have to be rated", "fair"
    others = [question_id for question_id in found if question_id not in unknown]
    words = f"Not on {named_questions(others)}; the data cannot tell on {named_questions(unknown)}"
    return words, "weak"


def _next_steps(data: ReportData) -> Iterator[Cell]:
    """Yield what to do, the most urgent first, each with a link to where it is explained."""
    if not data.gates:
        yield Cell("Measure agreement: eval-assets run.", link="gates")
    for outcome in _closed(data):
        if outcome.gate not in HUMAN_GATES:
            yield from _useless_prompts(data)
        yield _remedy(outcome.remedy, outcome)
    if not data.evaluation.judges:
        words = "Declare two judges of different vendors under judges in evaluation.yaml."
        yield Cell(words, link="cautions")
    fit = {judge.id: fit_questions(data, judge.id) for judge in data.evaluation.judges}
    yield from _uses(data, [name for name, found in fit.items() if {*data.tunable} <= {*found}])
    yield from _useless_prompts(data)
    for outcome in data.gates:
        for verdict in outcome.questions:
            if verdict.remedy and verdict.verdict != "pass":
                remedy = verdict.remedy[0].lower() + verdict.remedy[1:]
                yield _remedy(f"On {verdict.question_id}: {remedy}", outcome)
    yield from _judge_steps(data)


def _judge_steps(data: ReportData) -> Iterator[Cell]:
    """Yield what to do about judges on the questions that pass the gates."""
    best = best_verdicts(data)
    short = [question_id for question_id, verdict in best.items() if verdict.startswith("less")]
    if short:
        words = f"Tune the judges: on {named_questions(short)} they agree with people less than"
        yield Cell(f"{words} people do, and the gates are open.", link="judge-human")
    unknown = [question_id for question_id, verdict in best.items() if verdict == "cannot tell"]
    if unknown:
        words = f"Have more responses rated on {named_questions(unknown)}: the data cannot tell"
        yield Cell(f"{words} whether a judge agrees with people as people do.", link="judge-human")
    yield from _uses(data, [j.id for j in data.evaluation.judges if fit_questions(data, j.id)])
    yield Cell("Have the judges score responses that people rated.", link="judges")


def _uses(data: ReportData, good: list[str]) -> Iterator[Cell]:
    """Yield that these judges can be used, those that a sealed test found fit first."""
    tested = [judge_id for judge_id in good if "fit" in tested_fitness(data, judge_id).values()]
    if tested:
        them = "it" if len(tested) == 1 else "them"
        words = f"Use {listed(tested)} where a sealed test found {them} fit."
        yield Cell(words, link="certificates")
    if good:
        shared = set.intersection(*({*fit_questions(data, judge_id)} for judge_id in good))
        on = [question.id for question in data.evaluation.rubric if question.id in shared]
        where = f" on {named_questions(on)}" if 0 < len(on) < len(data.evaluation.rubric) else ""
        yield Cell(f"Use {listed(good)}{where}; tuning may bring more.", link="judge-human")


def _useless_prompts(data: ReportData) -> Iterator[Cell]:
    """Yield judges whose scores on a question say nothing about the responses."""
    for judge in data.evaluation.judges:
        for question_id, record in verdicts_of(data, judge.id).items():
            if not text(record, "verdict").startswith("like"):
                continue
            if not tells_apart(record):
                words = _useless(judge.id, question_id, record)
            elif question_id in data.tunable:
                words = (
                    f"Tune {judge.id}: on {question_id} it tells responses apart, but its scores "
                    "are no nearer to people's ratings than one score for all."
                )
            else:
                continue
            yield Cell(words, link=anchor("judge", judge.id))


def _useless(judge_id: str, question_id: str, record: Record) -> str:
    """Return what to do about scores that are not shown to say anything."""
    of_reader = "those of a judge that never reads the responses"
    if is_opposed(record):
        return (
            f"Check in the prompt of {judge_id} which end of the scale is the good one: on "
            f"{question_id} its scores go against people's ratings."
        )
    if number(record, "a_ha_above_shuffled") > TOLERANCE:
        return (
            f"Have more responses rated, or revise the prompt of {judge_id}: on {question_id} its "
            f"scores cannot be told apart from {of_reader}."
        )
    return (
        f"Revise the prompt of {judge_id}: its scores on {question_id} say no more than "
        f"{of_reader}."
    )


def _remedy(words: str, outcome: GateOutcome) -> Cell:
    link = "disagreements" if "label_disagreements" in words else f"gate-{outcome.gate}"
    return Cell(f"{words}.", link=link)
