"""First screen of the report: whether judges can be trusted, and the next steps, with evidence."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.agreement.gates.declarations import GATES, HUMAN_GATES
from eval_assets.agreement.judge_verdicts import more_groups
from eval_assets.bands import CONTRADICTING_ALPHA
from eval_assets.figures import JudgeHumanFigures
from eval_assets.render.document import Cell, anchor
from eval_assets.report.data import ReportData
from eval_assets.report.sections.judge_words import (
    best_verdicts,
    contested_questions,
    figures_of_judge,
    judge_bullet,
    named_questions,
    reasons_not_judged,
    sealed_tests,
    shortened,
    standing,
    tells_responses_apart,
    verdict_cell,
    version_in_use,
)
from eval_assets.report.stored_rows import IssuedCertificateRow
from eval_assets.scale import TOLERANCE
from eval_assets.verdicts import Fitness, GateResult, GateState, JudgeVerdict, Tone
from eval_assets.wording import listed

_MOST_WORDS = 25
"""Words of a bullet on the first screen; its link leads to the rest."""

_NOT_COMPARED = "no response has both a score and a human rating"


@dataclass(frozen=True)
class FirstScreen:
    """The answer to "Can the judges be trusted?"."""

    answer: str
    tone: Tone
    gates: tuple[Cell, ...]
    judges: tuple[Cell, ...]
    next_step: Cell


def first_screen(data: ReportData) -> FirstScreen:
    """Return the first screen of a report."""
    answer, tone = _answer_with_cautions(data)
    return FirstScreen(
        answer=answer,
        tone=tone,
        gates=tuple(_gate_cell(outcome) for outcome in data.gates),
        judges=tuple(_judge_cell(data, judge.id) for judge in data.evaluation.judges),
        next_step=next(_next_steps(data)),
    )


def _gate_cell(outcome: GateOutcome) -> Cell:
    overall = outcome.overall
    words, exceptions = overall.sentence, []
    if overall.verdict is GateResult.PASS:
        passing = [v for v in outcome.questions if v.verdict is GateResult.PASS]
        if len(outcome.questions) > 1 and not passing:
            words += ", over all questions only"
        exceptions = _exceptions(outcome)
    consequence = ""
    if outcome.severity == "warn" and not outcome.passed:
        consequence = ". This gate does not block"
    most_words = _MOST_WORDS - len(consequence.split())
    words = shortened([words, *exceptions], most_words=most_words) + consequence
    return Cell(f"{words}.", tone=outcome.tone, link=f"gate-{outcome.gate}")


def _exceptions(outcome: GateOutcome) -> list[str]:
    results = ((GateResult.FAIL, "not reached"), (GateResult.NOT_EVALUABLE, "not evaluable"))
    parts = []
    for result, state in results:
        questions = [v.question_id for v in outcome.questions if v.verdict is result]
        if questions:
            parts.append(f"{state} on {named_questions([q for q in questions if q])}")
    return parts


def _judge_cell(data: ReportData, judge_id: str) -> Cell:
    rows = figures_of_judge(data, judge_id)
    matching = matched_questions(data, judge_id)
    tones = {verdict_cell(data, row).tone for row in rows.values()}
    tone = Tone.FAIR
    if matching and len(matching) == len(rows):
        tone = Tone.GOOD
    elif not matching and tones <= {Tone.WEAK, Tone.POOR} and not _is_fit_in_part(data, judge_id):
        tone = Tone.POOR
    link = anchor("judge", judge_id) if rows else "judges"
    n_words = _MOST_WORDS - len(judge_id.split())
    words = judge_bullet(data, judge_id, most_words=n_words)
    return Cell(f"{judge_id}: {words}.", tone=tone, link=link)


def _is_fit_in_part(data: ReportData, judge_id: str) -> bool:
    return any(not math.isnan(test.share) for test in sealed_tests(data, judge_id))


def matched_questions(data: ReportData, judge_id: str) -> list[str]:
    """Return the questions on which humans agree, and the judge matches human agreement."""
    contested = contested_questions(data)
    return [
        question_id
        for question_id, verdict in standing(data, judge_id).items()
        if question_id not in contested and verdict is JudgeVerdict.MATCHES_HUMANS
    ]


def _answer_with_cautions(data: ReportData) -> tuple[str, Tone]:
    """Return the answer, with open gates that are undecided or whose minimum is lowered."""
    answer, tone = _answer(data)
    undecided = [o.noun for o in data.gates if o.state is GateState.UNDECIDED]
    below = [o.noun for o in _not_reached(data) if o.overall.verdict is GateResult.FAIL]
    lowered = [f"{o.noun} to {o.overall.minimum:g}" for o in data.gates if o.is_lowered]
    parts = [answer]
    if undecided and not _closed(data):
        parts.append(f"{listed(undecided)} {'is' if len(undecided) == 1 else 'are'} undecided")
    if below and data.evaluation.judges and not _closed(data):
        parts.append(f"{listed(below)} {'does' if len(below) == 1 else 'do'} not reach the minimum")
    if lowered:
        parts.append(f"minimum lowered for {listed(lowered)}")
    if len(parts) > 1 and tone is Tone.GOOD:
        tone = Tone.FAIR
    return "; ".join(parts), tone


def _answer(data: ReportData) -> tuple[str, Tone]:
    if not data.gates:
        return "Unknown: nothing is measured yet", Tone.POOR
    if closed := _closed(data):
        prefix = "Unknown" if _is_unknown(closed[0]) else "Not yet"
        return f"{prefix}: {_lack(closed[0])}", Tone.POOR
    if not data.evaluation.judges:
        words = _agreement_of_humans(data)
        return f"{words[0].upper()}{words[1:]}; no judge is declared yet", Tone.FAIR
    if data.stale:
        return "Unknown: the figures of judges are older than the ratings", Tone.POOR
    return _answer_on_judges(data)


def _agreement_of_humans(data: ReportData) -> str:
    """Return whether humans agree, by gates that are not closed."""
    if not_reached := [o for o in _not_reached(data) if o.gate in HUMAN_GATES]:
        return _lack(not_reached[0])
    is_undecided = any(o.gate in HUMAN_GATES and o.state is GateState.UNDECIDED for o in data.gates)
    agreement = "it is inconclusive whether humans" if is_undecided else "humans"
    return f"{agreement} agree with each other"


def _closed(data: ReportData) -> list[GateOutcome]:
    """Return the closed gates in the order of their weight."""
    return _by_weight(outcome for outcome in data.gates if outcome.is_closed)


def _not_reached(data: ReportData) -> list[GateOutcome]:
    """Return the gates below their minimum over all questions in the order of their weight."""
    return _by_weight(o for o in data.gates if o.overall.verdict is not GateResult.PASS)


def _by_weight(outcomes: Iterable[GateOutcome]) -> list[GateOutcome]:
    """Sort gates: those of humans first, of these the certain ones."""
    return sorted(
        outcomes,
        key=lambda outcome: (
            outcome.gate not in HUMAN_GATES,
            outcome.overall.verdict is not GateResult.FAIL or outcome.overall.is_inconclusive,
            not outcome.overall.high < CONTRADICTING_ALPHA,
        ),
    )


def _is_unknown(outcome: GateOutcome) -> bool:
    return outcome.overall.verdict is GateResult.NOT_EVALUABLE


def _lack(outcome: GateOutcome) -> str:
    """Return what a gate lacks, as a clause."""
    raters = "humans" if GATES[outcome.gate].raters == "human" else "the judges"
    if _is_unknown(outcome):
        return outcome.overall.explanation
    if outcome.overall.verdict is GateResult.PASS:
        return "no question passes every gate"
    if outcome.overall.is_inconclusive:
        return f"it is inconclusive whether {raters} agree with each other"
    return f"{raters} do not agree with each other well enough"


def _answer_on_judges(data: ReportData) -> tuple[str, Tone]:
    """Return the answer if humans and judges agree, with fit versions that are not in use."""
    words, tone = _answer_on_judges_in_use(data)
    tested = [
        f"a sealed test found {judge_id} {version} fit, and "
        f"{version_in_use(data, judge_id)} is in use"
        for judge_id, version in _fit_versions(data, is_in_use=False)
    ]
    return "; ".join([words, *tested]), tone


def _fit_versions(data: ReportData, *, is_in_use: bool) -> dict[tuple[str, str], list[str]]:
    """Return the questions on which sealed tests found a version fit, by judge and version."""
    fit: dict[tuple[str, str], list[str]] = {}
    for judge in data.evaluation.judges:
        for test in sealed_tests(data, judge.id):
            if test.fitness is Fitness.FIT and test.is_in_use is is_in_use:
                fit.setdefault((judge.id, test.version), []).append(test.question_id)
    return fit


def _answer_on_judges_in_use(  # noqa: PLR0911 - a return per answer
    data: ReportData,
) -> tuple[str, Tone]:
    n_questions = len(data.evaluation.rubric)
    matching = {judge.id: matched_questions(data, judge.id) for judge in data.evaluation.judges}
    most = max(len(questions) for questions in matching.values())
    if most:
        best = [judge_id for judge_id, questions in matching.items() if len(questions) == most]
        verb = "matches" if len(best) == 1 else "match"
        scope = "" if most == n_questions else f" on {most} of {n_questions} questions"
        words = f"{listed(best)} {verb} human agreement{scope}"
        answer = (f"Yes: {words}", Tone.GOOD)
        return answer if most == n_questions else (f"In part: {words}", Tone.FAIR)
    best_by_question = best_verdicts(data)
    verdicts = set(best_by_question.values()) - {JudgeVerdict.NOT_COMPARED}
    if not verdicts:
        reasons = [*reasons_not_judged(data).values(), _NOT_COMPARED]
        return f"Unknown: {reasons[0]}", Tone.POOR
    if verdicts == {JudgeVerdict.REPEATS_A_RATER}:
        return "Unknown: every judge gives the scores of one rater throughout", Tone.POOR
    if all(verdict.is_control for verdict in verdicts):
        return (
            "Not yet: no judge is shown to be better than a judge that never reads the responses"
        ), Tone.POOR
    inconclusive = _questions_with(best_by_question, JudgeVerdict.INCONCLUSIVE)
    if not inconclusive:
        return "No: no judge matches human agreement", Tone.WEAK
    if len(inconclusive) == len(best_by_question):
        return "Unknown: more response groups must be rated", Tone.FAIR
    negatives = [question_id for question_id in best_by_question if question_id not in inconclusive]
    return (
        f"Not on {named_questions(negatives)}; inconclusive on {named_questions(inconclusive)}",
        Tone.WEAK,
    )


def _questions_with(verdicts: dict[str, JudgeVerdict], verdict: JudgeVerdict) -> list[str]:
    return [
        question_id for question_id, judge_verdict in verdicts.items() if judge_verdict is verdict
    ]


def _next_steps(data: ReportData) -> Iterator[Cell]:
    if not data.gates:
        command = f"eval-assets run --data {quote(str(data.evaluation.folder))}"
        yield Cell(f"Measure agreement: {command}.", link="gates")
    for outcome in _closed(data):
        if outcome.gate not in HUMAN_GATES:
            yield from _useless_prompts(data)
        yield _remedy_cell(outcome.advice, outcome)
    if not data.evaluation.judges:
        words = "Declare two judges of different vendors under judges in evaluation.yaml."
        yield Cell(words, link="gates")
    if data.stale:
        yield Cell(data.stale, link="judge-human")
    judges = [judge.id for judge in data.evaluation.judges]
    tunable = {*data.tunable}
    versions = list(_versions_to_use(data))
    for cell in _uses(data, [j for j in judges if tunable <= {*matched_questions(data, j)}]):
        yield replace(cell, text=" ".join([cell.text, *(version.text for version in versions)]))
    yield from versions
    yield from _useless_prompts(data)
    for outcome in data.gates:
        for verdict in outcome.questions:
            if verdict.remedy and verdict.verdict is not GateResult.PASS:
                text = verdict.remedy.text
                yield _remedy_cell(
                    f"On {verdict.question_id}: {text[0].lower()}{text[1:]}", outcome
                )
    yield from _judge_steps(data)


def _versions_to_use(data: ReportData) -> Iterator[Cell]:
    """Yield the versions that a sealed test found fit, on all responses or a part, for use."""
    for (judge_id, version), questions in _fit_versions(data, is_in_use=False).items():
        words = (
            f"Set version: {version} for {judge_id} in evaluation.yaml: a sealed test found it fit"
        )
        yield Cell(f"{words} on {named_questions(questions)}.", link="certificates")
    for judge in data.evaluation.judges:
        for test in sealed_tests(data, judge.id):
            if not (math.isnan(test.share) or test.is_in_use):
                words = f"Set version: {test.version} for {judge.id} in evaluation.yaml"
                part = f"{100 * test.share:.0f} % of what it scores on {test.question_id}"
                yield Cell(f"{words}: a sealed test found it fit on {part}.", link="certificates")


def _judge_steps(data: ReportData) -> Iterator[Cell]:
    best = best_verdicts(data)
    if below := _questions_with(best, JudgeVerdict.BELOW_HUMANS):
        judges = data.evaluation.judges
        subject = "the judges: they are" if len(judges) > 1 else f"{judges[0].id}: it is"
        words = f"Tune {subject} below human agreement on {named_questions(below)}"
        yield Cell(f"{words}, and no gate blocks that.", link="judge-human")
    if inconclusive := _questions_with(best, JudgeVerdict.INCONCLUSIVE):
        words = f"Have more responses rated on {named_questions(inconclusive)}: it is inconclusive"
        words = (
            f"{words} whether a judge matches human agreement.{_groups_wanted(data, inconclusive)}"
        )
        yield Cell(words, link="judge-human")
    yield from _uses(data, [j.id for j in data.evaluation.judges if matched_questions(data, j.id)])
    if repeated := _questions_with(best, JudgeVerdict.REPEATS_A_RATER):
        words = "Have judges score without the labels: the scores of every judge on"
        yield Cell(
            f"{words} {named_questions(repeated)} are those of one rater.", link="judge-human"
        )
    yield Cell("Have the judges score responses that humans rated.", link="judges")


def _groups_wanted(data: ReportData, question_ids: Sequence[str]) -> str:
    """Return a sentence with the number of further groups that would decide, by question."""
    ranges = {}
    for question_id in question_ids:
        rows = [row for row in data.judge_humans if row.question_id == question_id]
        if numbers := sorted({n for n in map(more_groups, rows) if n is not None}):
            ranges[question_id] = list(dict.fromkeys((numbers[0], numbers[-1])))
    if not ranges:
        return ""
    first, *rest = (
        (" to ".join(f"{n:,}" for n in ends), question_id) for question_id, ends in ranges.items()
    )
    numbers_on = [f"{first[0]} further response groups on {first[1]}", *map(" on ".join, rest)]
    by_judge = ", depending on the judge" if any(len(ends) > 1 for ends in ranges.values()) else ""
    return f" About {listed(numbers_on)} would tell{by_judge}."


def _uses(data: ReportData, judges: list[str]) -> Iterator[Cell]:
    """Yield that these judges can be used, those that a sealed test found fit first."""
    fit = {judge_id for judge_id, _ in _fit_versions(data, is_in_use=True)}
    tested = [judge_id for judge_id in judges if judge_id in fit]
    if tested:
        pronoun = "it" if len(tested) == 1 else "them"
        words = f"Use {listed(tested)} where a sealed test found {pronoun} fit."
        yield Cell(words, link="certificates")
    if judges:
        shared = set.intersection(*({*matched_questions(data, judge_id)} for judge_id in judges))
        on = [question.id for question in data.evaluation.rubric if question.id in shared]
        scope = f" on {named_questions(on)}" if 0 < len(on) < len(data.evaluation.rubric) else ""
        yield Cell(f"Use {listed(judges)}{scope}; {_tuning(data, judges)}.", link="judge-human")


def _tuning(data: ReportData, judges: list[str]) -> str:
    """Return the use of tuning judges whose figures match: another test if theirs are stale."""
    rows = data.rows(IssuedCertificateRow)
    stale = {row.judge_id for row in rows if row.is_read_again}
    if not stale.intersection(judges):
        return "tuning may improve more"
    command = f"eval-assets tune --data {quote(str(data.evaluation.folder))}"
    return f"evaluate {listed([j for j in judges if j in stale])} again: {command}"


def _useless_prompts(data: ReportData) -> Iterator[Cell]:
    """Yield judges whose scores on a question carry no information about the responses."""
    for judge in data.evaluation.judges:
        for row in figures_of_judge(data, judge.id).values():
            if not row.verdict.is_control:
                continue
            if row.verdict is JudgeVerdict.LIKE_PROMPT:
                words = (
                    f"Revise the prompt of {judge.id}: on {row.question_id} it is not shown to "
                    "tell responses of one group apart, which people do."
                )
            elif not tells_responses_apart(row):
                words = _useless(row)
            elif row.question_id in data.tunable:
                words = (
                    f"Tune {judge.id}: on {row.question_id} it tells responses apart, but its "
                    "scores are no closer to human ratings than one score for all responses."
                )
            else:
                continue
            yield Cell(words, link=anchor("judge", judge.id))


def _useless(row: JudgeHumanFigures) -> str:
    """Return the next step for scores that are not shown to carry information."""
    control = "those of a judge that never reads the responses"
    if row.verdict is JudgeVerdict.AGAINST_HUMANS:
        return (
            f"Check which end of the scale is the good one in the prompt of {row.judge_id}: on "
            f"{row.question_id} its scores contradict human ratings."
        )
    if row.a_ha_above_shuffled.value > TOLERANCE:
        return (
            f"Have more responses rated, or revise the prompt of {row.judge_id}: on "
            f"{row.question_id} its scores are not distinguishable from {control}."
        )
    return (
        f"Revise the prompt of {row.judge_id}: its scores on {row.question_id} are no better than "
        f"{control}."
    )


def _remedy_cell(words: str, outcome: GateOutcome) -> Cell:
    remedy = outcome.remedy
    is_discussion = remedy is not None and remedy.concerns_disagreements
    return Cell(f"{words}.", link="disagreements" if is_discussion else f"gate-{outcome.gate}")
