"""The executive summary that a judge writes: its prompt, the check of its numbers, its section."""

import re
from collections.abc import Iterator

from eval_assets.catalogue import Figure
from eval_assets.figures import HumanFigures, JudgeHumanFigures
from eval_assets.render.document import Block, Card, Quote, Section, Text
from eval_assets.report.data import ReportData, groups_text
from eval_assets.report.sections.cautions import cautions
from eval_assets.report.sections.first_screen import first_screen
from eval_assets.report.stored_rows import SummaryRow
from eval_assets.wording import figure_text, interval_text

_TASK = """\
Write the executive summary of a report on whether LLM judges can stand in for human raters. Its
reader decides whether to use them. Write at most 150 words of plain English in one or two
paragraphs, without headings or lists: whether people agree, whether the judges agree with people,
what is uncertain, what to do next. Say nothing that the figures below do not say. Write a number
only as it stands there, in digits; do not compute, round or convert numbers.
"""
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
_WORDS = {
    word: float(value + 2)
    for value, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b", re.IGNORECASE)


def section(data: ReportData) -> Section | None:
    """Return the summary; None if none was requested."""
    rows = data.rows(SummaryRow)
    if not rows:
        return None
    row = rows[0]
    writer = f"{row.judge_id} ({row.model})"
    blocks: tuple[Block, ...]
    if row.refused_because:
        blocks = (Text(f"The summary by {writer} is not shown: {row.refused_because}."),)
    else:
        note = (
            f"Written by {writer} from the figures of this report alone. Every number in it is "
            "among them; check its sentences against the sections below."
        )
        blocks = (Quote(row.summary), Text(note, is_small=True))
    return Section("summary", "Executive summary", "Summary", (Card("", blocks),))


def summary_prompt(data: ReportData) -> str:
    """Return the prompt for an executive summary: the task, and the figures in the report's form.

    It contains no text of a response and no single rating. It depends on the figures alone.
    """
    return "\n".join([_TASK, "<figures>", *_figures(data), "</figures>"])


def unknown_numbers(summary: str, data: ReportData) -> tuple[str, ...]:
    """Return the numbers of a summary that are not among the figures in its prompt.

    Digits count, and number words from two to twelve; digits within names of judges, models and
    questions do not.
    """
    known_values = {value for _, value in _numbers("\n".join(_figures(data)), data)}
    result = [written for written, value in _numbers(summary, data) if value not in known_values]
    return tuple(dict.fromkeys(result))


def _numbers(words: str, data: ReportData) -> Iterator[tuple[str, float]]:
    evaluation = data.evaluation
    judges = evaluation.judges
    names = {question.id for question in evaluation.rubric} | {judge.id for judge in judges}
    names |= {evaluation.name, *(judge.model for judge in judges if judge.model)}
    for name in sorted(names, key=len, reverse=True):
        words = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", words)
    for written in _NUMBER.findall(words):
        yield written, float(written.replace(",", ""))
    for written in _NUMBER_WORD.findall(words):
        yield written, _WORDS[written.lower()]


def _figures(data: ReportData) -> Iterator[str]:
    first = first_screen(data)
    yield f"Can the judges be trusted? {first.answer}."
    yield from (cell.text for cell in (*first.gates, *first.judges))
    yield f"Next: {first.next_step.text}"
    yield f"Questions: {len(data.evaluation.rubric)}. Judges: {len(data.evaluation.judges)}."
    yield from map(_of_people, data.humans)
    yield from map(_of_judge, data.judge_humans)
    yield from (f"Caution: {caution.term}. {caution.meaning}" for caution in cautions(data))


def _of_people(row: HumanFigures) -> str:
    return (
        f"People on {row.question_id or 'all questions'}: A^HH {_figure(row.a_hh)}, by chance "
        f"{figure_text(row.a_hh_by_chance, limits=[])}, Krippendorff's alpha "
        f"{_figure(row.alpha)}; responses {groups_text(row.n_responses, row.n_groups)}, raters "
        f"{row.n_raters:,}, ratings {row.n_ratings:,}."
    )


def _of_judge(row: JudgeHumanFigures) -> str:
    constant, shuffled = (
        figure_text(value, limits=[]) for value in (row.a_ha_constant, row.a_ha_shuffled)
    )
    return (
        f"{row.judge_id} with people on {row.question_id}: A^HA "
        f"{_figure(row.a_ha)}, constant score {constant}, own scores in random order "
        f"{shuffled}; verdict: {row.verdict.sentence}; responses "
        f"{groups_text(row.n_units, row.n_groups)}."
    )


def _figure(figure: Figure) -> str:
    value = figure_text(figure.value, limits=[])
    interval = interval_text(figure.low, figure.high, limits=[])
    return f"{value} (95 % interval {interval})" if interval else value
