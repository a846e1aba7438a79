"""A screen as HTML: one file without scripts, or a fragment for a notebook."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources

from eval_assets.agreement.judge_comparison import JudgeComparison
from eval_assets.agreement.label_agreement import LabelAgreement, WideDisagreement
from eval_assets.shown.numbers import (
    count_text,
    counted,
    figure_text,
    interval_text,
    limit_text,
    percent_text,
    shortened,
    value_text,
)
from eval_assets.shown.rows import Axis, Mark, Row, agreement_axis
from eval_assets.shown.screen import JUDGES_QUESTION, ReadSummary, Screen, ScreenAnswer
from eval_assets.verdicts import Verdict

_MINUS = "\N{MINUS SIGN}"
_MOST_COMPARED_VALUES = 11
_MOST_RATERS = 24
_MOST_OPEN = 4
"""Heat maps that are shown without being asked for."""
_LONGEST_PROMPT, _LONGEST_TEXT = 240, 600
_HEIGHT, _MIDDLE = 24, 12
_EDGE = 0.25
"""Nearer to an end of the axis than this, a text begins or ends at its place."""

METHODS = {
    "Krippendorff's alpha": (
        "Agreement beyond chance: 0 is chance, 1 is identical. 0.667 is Krippendorff's lowest "
        "limit for tentative conclusions (2004)."
    ),
    "Pairwise agreement (A^HH)": (
        "1 minus the distance of two ratings as a share of the scale. Chance depends on the "
        "question, so it says less than alpha."
    ),
    "Judge and people": (
        "Agreement beyond chance of the judge with people (quadratic-weighted kappa; Cohen's kappa "
        "for classes without order), beside that of people with each other over the same pairs. "
        "It may be 0.10 worse."
    ),
    "PASS, FAIL, NEED MORE DATA": (
        "The whole interval lies above the minimum, below it, or on both sides."
    ),
    "Intervals": ("By group of items that are not independent; 95% unless a note says otherwise."),
}


def screen_page(screen: Screen) -> str:
    """Return a screen as one HTML file."""
    reading = screen.reading
    title = escape(reading.title)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}: can we trust the labels and the judges?</title>"
        f'<style>{_style()}</style></head><body class="eval-assets">'
        f"<header><div><h1>{title}</h1><p>{escape(screen.read[0])}</p></div></header>"
        f"<main>{_cards(screen)}{_next(screen)}{_disagreements(screen)}"
        f'<div class="sections">{"".join(_sections(screen))}</div>'
        f"<footer>{escape(' · '.join((*screen.read[1:], 'Made by Eval Assets.')))}</footer>"
        "</main></body></html>"
    )


def screen_fragment(screen: Screen) -> str:
    """Return the answers and the next step for a notebook."""
    read = "".join(f'<p class="note">{escape(line)}</p>' for line in screen.read)
    return (
        f'<style>{_style()}</style><div class="eval-assets"><main>{read}'
        f"{_cards(screen)}{_next(screen)}</main></div>"
    )


def _style() -> str:
    return resources.files("eval_assets.shown").joinpath("page.css").read_text("utf-8")


def chip(verdict: Verdict, *, is_short: bool = False) -> str:
    """Return a verdict with its sign; a short one is a dash, or on a narrow screen its sign."""
    if is_short and verdict is Verdict.NOT_MEASURED:
        return f'<span class="dash" title="{verdict.word}">{verdict.sign}</span>'
    word, name = (verdict.short_word, "short") if is_short else (verdict.word, "word")
    return (
        f'<span class="chip {verdict.tone.value}"><span aria-hidden="true">{verdict.sign}</span>'
        f'<span class="{name}">{word}</span></span>'
    )


def _cards(screen: Screen) -> str:
    labels = _labels_card(screen)
    if len(screen.assessment.labels) > 1 and screen.judges:
        return f'<div class="cards two">{labels}{_matrix_card(screen)}</div>'
    return f'<div class="cards">{labels}{"".join(map(_card, screen.judges))}</div>'


def _labels_card(screen: Screen) -> str:
    answer, deciding = screen.labels, screen.assessment.deciding_labels
    figure = deciding.deciding
    big = ""
    if not math.isnan(figure.value):
        name = "Krippendorff's alpha" if deciding.decided_by == "alpha" else "A^HH"
        subject = (
            f"95% CI {interval_text(figure.low, figure.high, limits=[deciding.minimum])}"
            if len(screen.assessment.labels) == 1
            else f"lowest: {deciding.question.id}"
        )
        big = (
            f'<p class="big"><b>{_number(figure_text(figure.value, limits=[deciding.minimum]))}</b>'
            f"<span>{escape(name)}<br>needs {limit_text(deciding.minimum)}<br>{escape(subject)}"
            "</span></p>"
        )
    return _card(answer, big=big)


def _card(answer: ScreenAnswer, *, big: str = "") -> str:
    plot = "" if answer.axis is None else axis_plot(answer.axis, answer.rows)
    note = f'<p class="note">{escape(answer.note)}</p>' if answer.note else ""
    return (
        f'<article class="card {answer.verdict.tone.value}"><h2>{escape(answer.question)}</h2>'
        f"{chip(answer.verdict)}{big}<p>{_number(answer.sentence)}</p>{plot}{note}</article>"
    )


def _matrix_card(screen: Screen) -> str:
    """Return the verdict on each judge by question."""
    judges = screen.assessment.judges
    head = "".join(f'<th scope="col">{escape(judge)}</th>' for judge in judges)
    rows = []
    for labels in screen.assessment.labels:
        verdicts = [
            next((of.verdict for of in comparisons if of.question == labels.question), None)
            for comparisons in judges.values()
        ]
        cells = "".join(
            f"<td>{'' if verdict is None else chip(verdict, is_short=True)}</td>"
            for verdict in (labels.verdict, *verdicts)
        )
        rows.append(f'<tr><th scope="row">{escape(labels.question.id)}</th>{cells}</tr>')
    verdict = Verdict.worst(of.verdict for of in screen.judges)
    key = " · ".join(f"{of.sign} {text}" for of, text in screen.table_key.items())
    return (
        f'<article class="card {verdict.tone.value}"><h2>{JUDGES_QUESTION}</h2>'
        f"<p>{_number(screen.judges_sentence)}</p>"
        '<div class="scroll"><table class="matrix"><thead><tr><th></th><th scope="col">labels</th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="key">{escape(key)}</p></article>'
    )


def axis_plot(axis: Axis, rows: Sequence[Row]) -> str:
    """Return rows on an axis: label, strip, value; the minimum is named above."""
    parts = []
    if not math.isnan(axis.minimum):
        head = _texts([(axis.minimum, f"needs {axis.minimum_text}", "minimum")], axis)
        parts.append(f"<span></span>{head}<span></span>")
    parts += [
        f'<span class="label">{escape(row.label)}</span>{_strip(row, axis)}'
        f'<span class="value">{_number(row.text)}</span>'
        for row in rows
    ]
    ticks = _texts([(place, text, "tick") for place, text in axis.ticks], axis)
    parts.append(f"<span></span>{ticks}<span></span>")
    return f'<div class="plot">{"".join(parts)}</div>'


def _texts(texts: Iterable[tuple[float, str, str]], axis: Axis) -> str:
    """Return texts at places of an axis."""
    parts = []
    for value, text, name in texts:
        place = axis.place(value)
        anchor = "start" if place < _EDGE else "end" if place > 1 - _EDGE else "middle"
        parts.append(
            f'<text class="{name}" x="{_percent(place)}" y="12" text-anchor="{anchor}">'
            f"{_number(text)}</text>"
        )
    return f'<svg class="strip" width="100%" height="16">{"".join(parts)}</svg>'


def _strip(row: Row, axis: Axis) -> str:
    """Return one row: axis, minimum, interval and mark; hollow if it is an estimate."""
    parts = [f'<line x1="0" x2="100%" y1="{_MIDDLE}" y2="{_MIDDLE}"/>']
    parts += [
        _tick(value, axis, name=name)
        for name, value in (("chance", axis.chance), ("minimum", axis.minimum))
        if not math.isnan(value)
    ]
    if not math.isnan(row.reference):
        parts.append(_tick(row.reference, axis, name="chance", reach=7))
    state = "" if row.is_tested else " estimate"
    if row.has_interval:
        low, high = (_percent(axis.place(end)) for end in (row.low, row.high))
        parts.append(
            f'<line class="interval{state}" x1="{low}" x2="{high}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
        )
        parts += [_tick(end, axis, name="end", reach=4) for end in (row.low, row.high)]
    if not math.isnan(row.value):
        x = _percent(axis.place(row.value))
        shape = (
            f'<svg x="{x}" y="{_MIDDLE}" overflow="visible">'
            f'<path class="mark{state}" d="M0-5.4 4.6 0 0 5.4-4.6 0z"/></svg>'
            if row.mark is Mark.PEOPLE
            else f'<circle class="mark{state}" cx="{x}" cy="{_MIDDLE}" r="4.4"/>'
        )
        parts.append(shape)
    return (
        f'<svg class="strip {row.mark.value}" width="100%" height="{_HEIGHT}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _tick(value: float, axis: Axis, *, name: str, reach: int = _MIDDLE) -> str:
    x = _percent(axis.place(value))
    return f'<line class="{name}" x1="{x}" x2="{x}" y1="{_MIDDLE - reach}" y2="{_MIDDLE + reach}"/>'


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _number(text: str) -> str:
    """Return a text with true minus signs before its numbers."""
    return escape(_HYPHEN.sub(_MINUS, text))


_HYPHEN = re.compile(r"(?<![\w.-])-(?=[\d.])")


def _next(screen: Screen) -> str:
    step = screen.next
    number = ""
    if step.number is not None:
        number = (
            f'<div class="number"><b>{count_text(step.number)}</b>'
            f"<span>{escape(step.unit)}</span></div>"
        )
    command = f"<code>{escape(step.command)}</code>" if step.command else ""
    examples = f"<p>{escape('; '.join(step.examples))}</p>" if step.examples else ""
    return (
        f'<section class="next">{number}<div class="step"><h2>Do next</h2>'
        f'<p class="do">{escape(step.sentence)}</p><p>{escape(step.reason)}</p>{examples}</div>'
        f"{command}</section>"
    )


def _disagreements(screen: Screen) -> str:
    """Return the widest disagreements of people; never beside a judge's score."""
    widest = screen.assessment.disagreements
    if not widest:
        return ""
    several = len(screen.assessment.labels) > 1
    items = "".join(_disagreement(of, screen.reading, several=several) for of in widest)
    has_texts = any(screen.reading.item(of.unit).has_text for of in widest)
    return (
        '<section class="block"><h2>Widest disagreements</h2>'
        "<p>Discuss them together. Do not edit the ratings already given.</p>"
        f'<ul class="disagreements{"" if has_texts else " compact"}">{items}</ul></section>'
    )


def _disagreement(disagreement: WideDisagreement, reading: ReadSummary, *, several: bool) -> str:
    item, question = reading.item(disagreement.unit), disagreement.question
    words, values = question.scale.words or (), question.scale.values or ()
    raters: dict[float, list[str]] = {}
    for rater, value in sorted(disagreement.ratings, key=lambda of: of[1]):
        raters.setdefault(value, []).append(rater)
    shown = values if 0 < len(values) <= _MOST_COMPARED_VALUES else tuple(raters)
    dots = "".join(
        f'<li><span class="dots">{"<i></i>" * len(raters.get(value, ()))}</span>'
        f"<b>{escape(value_text(value, words, values))}</b></li>"
        for value in shown
    )
    split = "; ".join(
        f"{value_text(value, words, values)}: {', '.join(names)}" for value, names in raters.items()
    )
    place = f" · {question.id}" if several else ""
    prompt = f'<p class="prompt">{escape(shortened(item.prompt, _LONGEST_PROMPT))}</p>'
    text = item.text
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT].rpartition(' ')[0]} ..."
    response = f'<p class="response">{escape(text)}</p>'
    return (
        f'<li><div><p class="id">{escape(item.name)}{escape(place)}</p>'
        f"{prompt if item.prompt else ''}{response if text else ''}</div>"
        f'<div class="votes"><ul class="scale">{dots}</ul><p>{escape(split)}</p></div></li>'
    )


def _sections(screen: Screen) -> Iterator[str]:
    """Yield the sections below the first view."""
    labels = screen.assessment.labels
    if any(of.n_double for of in labels):
        yield _section("Agreement by question", "alpha and pairwise agreement", _agreement(labels))
    compared = [
        of
        for comparisons in screen.assessment.judges.values()
        for of in comparisons
        if of.pairs and len(of.question.scale.values or ()) <= _MOST_COMPARED_VALUES
    ]
    if compared:
        body = f'<div class="heats">{"".join(map(_heat_map, compared))}</div>'
        note = (
            '<p class="note">Rows: what a person said. Columns: what the judge said, rounded to '
            "the scale. Numbers: % of the row; framed cells: the same.</p>"
        )
        is_open = len(compared) <= _MOST_OPEN
        yield _section("Judge against people", "where they differ", body + note, is_open=is_open)
    counts = [of for of in labels if of.counts]
    if counts:
        yield _section(
            "Ratings by rater", counted(len(screen.reading.raters), "rater"), _by_rater(counts)
        )
    if screen.reading.not_read:
        n = counted(len(screen.reading.not_read), "column")
        yield _section("Not read", n, _definitions(screen.reading.not_read))
    yield _section("Methods", "how these figures are made", _definitions(METHODS))


def _definitions(texts: Mapping[str, str]) -> str:
    pairs = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in texts.items())
    return f"<dl>{''.join(pairs)}</dl>"


def _section(title: str, hint: str, body: str, *, is_open: bool = False) -> str:
    state = " open" if is_open else ""
    return (
        f"<details{state}><summary><h2>{escape(title)}</h2><span>{escape(hint)}</span></summary>"
        f'<div class="inside"><div>{body}</div></div></details>'
    )


def _agreement(labels: Sequence[LabelAgreement]) -> str:
    """Return alpha and pairwise agreement of each question, with the shares of equal ratings."""
    minimums = labels[0].minimums
    alpha, a_hh = (
        [
            Row(
                of.question.id,
                figure.value,
                figure_text(figure.value, limits=[minimum]),
                low=figure.low,
                high=figure.high,
            )
            for of, figure, minimum in of_figure
        ]
        for of_figure in (
            [(of, of.alpha, minimums["alpha"]) for of in labels],
            [(of, of.a_hh, minimums["a_hh"]) for of in labels],
        )
    )
    axis = agreement_axis(alpha, minimum=minimums["alpha"], minimum_text=f"{minimums['alpha']:g}")
    of_pairs = Axis(
        0.0,
        1.0,
        minimums["a_hh"],
        limit_text(minimums["a_hh"]),
        ((0.0, "0 opposite"), (1.0, "1 identical")),
    )
    cells = "".join(
        f'<tr><th scope="row">{escape(of.question.id)}</th>'
        f"<td>{percent_text(of.exact_agreement.value)}</td>"
        f"<td>{'' if of.adjacent_agreement is None else percent_text(of.adjacent_agreement.value)}"
        f"</td><td>{count_text(of.n_double)}</td></tr>"
        for of in labels
    )
    return (
        f"<h3>Beyond chance: Krippendorff's alpha</h3>{axis_plot(axis, alpha)}"
        f"<h3>How close two ratings are: pairwise agreement</h3>{axis_plot(of_pairs, a_hh)}"
        '<table class="figures"><thead><tr><th></th><th>same</th><th>within one step</th>'
        f"<th>rated twice</th></tr></thead><tbody>{cells}</tbody></table>"
    )


def _heat_map(comparison: JudgeComparison) -> str:
    """Return how a judge scored what people gave each value."""
    scale = comparison.question.scale
    values = scale.values or ()
    n = {(human, judge): count for human, judge, count in comparison.pairs}
    rows = []
    for human in reversed(values):
        total = sum(n.get((human, judge), 0) for judge in values)
        cells = []
        for judge in values:
            share = n.get((human, judge), 0) / total if total else 0.0
            name = ' class="same"' if human == judge else ""
            cells.append(
                f'<td{name} style="--share:{100 * share:.0f}%" '
                f'title="{n.get((human, judge), 0)} of {total}">{100 * share:.0f}</td>'
            )
        label = escape(value_text(human, scale.words or (), values))
        rows.append(f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>')
    foot = "".join(f"<th>{escape(value_text(of, scale.words or (), values))}</th>" for of in values)
    title = escape(f"{comparison.judge} · {comparison.question.id}")
    return (
        f'<figure class="heat"><figcaption>{title}</figcaption><table><tbody>{"".join(rows)}'
        f"</tbody><tfoot><tr><th></th>{foot}</tr></tfoot></table></figure>"
    )


def _by_rater(labels: Sequence[LabelAgreement]) -> str:
    """Return the distribution of each rater's ratings."""
    figures = []
    for of in labels:
        values = of.question.scale.values or ()
        tallest = max(max(counts) / sum(counts) for counts in of.counts.values())
        for rater, counts in list(of.counts.items())[:_MOST_RATERS]:
            total, width = sum(counts), 100 / len(values)
            bars = "".join(
                f'<rect x="{k * width + width * 0.12:.1f}%" width="{width * 0.76:.1f}%" '
                f'y="{44 - 42 * n / total / tallest:.1f}" height="{42 * n / total / tallest:.1f}">'
                f"<title>{value:g}: {percent_text(n / total)}</title></rect>"
                for k, (value, n) in enumerate(zip(values, counts, strict=True))
            )
            place = f"<br>{escape(of.question.id)}" if len(labels) > 1 else ""
            figures.append(
                f'<figure><svg width="100%" height="46" aria-hidden="true">{bars}'
                f'<line x1="0" x2="100%" y1="44.5" y2="44.5"/></svg><figcaption>'
                f"<b>{escape(rater)}</b>{place}<span>{count_text(total)}</span></figcaption></figure>"
            )
    return (
        f'<div class="many">{"".join(figures)}</div><p class="note">Bars: share of each value, '
        "the lowest on the left. Number: ratings.</p>"
    )
