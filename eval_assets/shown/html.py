"""A screen as HTML: one file without scripts, or a fragment for a notebook."""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from eval_assets.shown.blocks import (
    Axis,
    Block,
    Cell,
    Definitions,
    Distribution,
    Distributions,
    Heats,
    Mark,
    Plot,
    Row,
    Section,
    SplitItem,
    SplitItems,
    Table,
    Texts,
)
from eval_assets.shown.report import Report
from eval_assets.shown.screen import JUDGES_QUESTION, Screen, ScreenAnswer
from eval_assets.shown.sentences import deciding_texts
from eval_assets.verdicts import Tone, Verdict
from eval_assets.wording import count_text

_MINUS = "\N{MINUS SIGN}"
_HEIGHT, _MIDDLE = 24, 12
_EDGE = 0.25
"""Nearer to an end of the axis than this, a text begins or ends at its place."""


def report_page(report: Report) -> str:
    """Return a report as one HTML file without scripts; its own policy forbids requests."""
    screen = report.screen
    title = escape(screen.reading.title)
    date = f" · {report.made_at:%-d %b %Y}" if report.made_at else ""
    links = "".join(
        f'<a href="#{name}">{text}</a>'
        for name, text, is_there in (
            ("next", "Next", True),
            ("disagreements", "Disagreements", bool(screen.disagreements.items)),
            ("details", "Details", True),
        )
        if is_there
    )
    notes = (*screen.read[1:], "Made by Eval Assets.")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}: can we trust the labels and the judges?</title>"
        f'<style>{_style()}</style></head><body class="eval-assets">'
        f"<header><div><h1>{title}</h1><p>{escape(screen.read[0])}{date}</p>"
        f"<nav>{links}</nav></div></header>"
        f"<main>{_cards(screen)}{_next(screen)}{_widest(screen.disagreements)}"
        f'<div class="sections" id="details">{"".join(map(_section, report.sections))}</div>'
        f"<footer>{escape(' · '.join(notes))}</footer></main></body></html>"
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


def chip(verdict: Verdict, *, word: str = "", is_short: bool = False) -> str:
    """Return a verdict with its sign; a short one is a dash, or on a narrow screen its sign."""
    if is_short and verdict is Verdict.NOT_MEASURED:
        return f'<span class="dash" title="{verdict.word}">{verdict.sign}</span>'
    word, name = (verdict.short_word, "short") if is_short else (word or verdict.word, "word")
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
    big = ""
    if not math.isnan(deciding.deciding.value):
        value, minimum, interval = deciding_texts(deciding)
        subject = (
            f"95% CI {interval}"
            if len(screen.assessment.labels) == 1
            else f"lowest: {deciding.question.id}"
        )
        big = (
            f'<p class="big"><b>{_number(value)}</b><span>{escape(deciding.decided_by.title)}'
            f"<br>needs {minimum}<br>{escape(subject)}</span></p>"
        )
    return _card(answer, big=big)


def _card(answer: ScreenAnswer, *, big: str = "") -> str:
    plot = "" if answer.axis is None else axis_plot(answer.axis, answer.rows)
    note = f'<p class="note">{_number(answer.note)}</p>' if answer.note else ""
    return (
        f'<article class="card {answer.verdict.tone.value}"><h2>{escape(answer.question)}</h2>'
        f"{chip(answer.verdict, word=answer.word)}{big}<p>{_number(answer.sentence)}</p>"
        f"{plot}{note}</article>"
    )


def _matrix_card(screen: Screen) -> str:
    matrix = screen.matrix
    head = "".join(f'<th scope="col">{escape(of.title)}</th>' for of in matrix.columns[4:])
    rows = []
    for name, _, _, *verdicts in matrix.rows:
        chips = (chip(of.verdict, is_short=True) if of.verdict else "" for of in verdicts)
        cells = "".join(f"<td>{text}</td>" for text in chips)
        rows.append(f'<tr><th scope="row">{escape(name.text)}</th>{cells}</tr>')
    verdict = Verdict.worst(of.verdict for of in screen.judges)
    key = " · ".join(f"{of.sign} {text}" for of, text in screen.table_key.items())
    return (
        f'<article class="card {verdict.tone.value}"><h2>{JUDGES_QUESTION}</h2>'
        f"<p>{_number(screen.judges_sentence)}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Verdicts by question">'
        '<table class="matrix"><thead><tr><td></td><th scope="col">labels</th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="key">{escape(key)}</p></article>'
    )


def axis_plot(axis: Axis, rows: Sequence[Row]) -> str:
    """Return rows on an axis: label, strip, value; the minimum is named above."""
    parts = []
    if not math.isnan(axis.minimum):
        head = _texts([(axis.minimum, f"needs {axis.minimum_text}", "minimum")], axis)
        parts.append(f"<span></span>{head}<span></span>")
    for row in rows:
        remark = f" <small>{escape(row.remark)}</small>" if row.remark else ""
        parts.append(
            f'<span class="label">{escape(row.label)}{remark}</span>{_strip(row, axis)}'
            f'<span class="value">{_number(row.text)}</span>'
        )
    ticks = _texts([(place, text, "tick") for place, text in axis.ticks], axis)
    parts.append(f"<span></span>{ticks}<span></span>")
    return f'<div class="plot">{"".join(parts)}</div>'


def _texts(texts: Iterable[tuple[float, str, str]], axis: Axis) -> str:
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
    state = "" if row.is_tested else " estimate"
    if row.has_interval:
        low, high = (_percent(axis.place(end)) for end in (row.low, row.high))
        parts.append(
            f'<line class="interval{state}" x1="{low}" x2="{high}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
        )
        parts += [_tick(end, axis, name="end", reach=4) for end in (row.low, row.high)]
    if not math.isnan(row.value):
        x = _percent(axis.place(row.value))
        parts.append(
            f'<svg x="{x}" y="{_MIDDLE}" overflow="visible">'
            f'<path class="mark{state}" d="M0-5.4 4.6 0 0 5.4-4.6 0z"/></svg>'
            if row.mark is Mark.PEOPLE
            else f'<circle class="mark{state}" cx="{x}" cy="{_MIDDLE}" r="4.4"/>'
        )
    return (
        f'<svg class="strip {row.mark.value}{" named" if row.remark else ""}" width="100%" '
        f'height="{_HEIGHT}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _tick(value: float, axis: Axis, *, name: str, reach: int = _MIDDLE) -> str:
    x = _percent(axis.place(value))
    return f'<line class="{name}" x1="{x}" x2="{x}" y1="{_MIDDLE - reach}" y2="{_MIDDLE + reach}"/>'


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _number(text: str) -> str:
    """Return a text with true minus signs before its numbers, which no line parts from their %."""
    return escape(_HYPHEN.sub(_MINUS, text)).replace(" %", "\N{NO-BREAK SPACE}%")


_HYPHEN = re.compile(r"(?<![\w.-])-(?=[\d.])")


def _next(screen: Screen) -> str:
    step = screen.next
    number = ""
    if step.number is not None:
        number = (
            f'<div class="number"><b>{count_text(step.number)}</b>'
            f"<span>{escape(step.unit)}</span></div>"
        )
    words = " ".join(f"<span>{escape(word)}</span>" for word in step.command.split(" "))
    command = f"<code>{words}</code>" if step.command else ""
    examples = f"<p>{escape('; '.join(step.examples))}</p>" if step.examples else ""
    return (
        f'<section class="next" id="next">{number}<div class="step"><h2>Do next</h2>'
        f'<p class="do">{_number(step.sentence)}</p><p>{_number(step.reason)}</p>{examples}</div>'
        f"{command}</section>"
    )


def _widest(widest: SplitItems) -> str:
    """Return the widest disagreements of people; never beside a judge's score."""
    if not widest.items:
        return ""
    return (
        '<section class="block" id="disagreements"><h2>Widest disagreements</h2>'
        "<p>Discuss them together. Do not edit the ratings already given.</p>"
        f"{_disagreements(widest)}</section>"
    )


def _disagreements(block: SplitItems) -> str:
    has_texts = any(of.prompt or of.text for of in block.items)
    items = "".join(map(_disagreement, block.items))
    return f'<ul class="disagreements{"" if has_texts else " compact"}">{items}</ul>'


def _disagreement(of: SplitItem) -> str:
    dots = "".join(
        f'<li><span class="dots">{"<i></i>" * len(names)}</span><b>{escape(value)}</b></li>'
        for value, names in of.votes
    )
    name = " · ".join(filter(None, (of.item, of.question)))
    prompt = f'<p class="prompt">{escape(of.prompt)}</p>' if of.prompt else ""
    response = f'<p class="response">{escape(of.text)}</p>' if of.text else ""
    return (
        f'<li><div><p class="id">{escape(name)}</p>{prompt}{response}</div>'
        f'<div class="votes"><ul class="scale">{dots}</ul><p>{escape(of.split)}</p></div></li>'
    )


def _section(section: Section) -> str:
    state = " open" if section.is_open else ""
    body = "".join(f"<div>{_block(block)}</div>" for block in section.blocks)
    return (
        f'<details id="{section.name}"{state}><summary><h2>{escape(section.title)}</h2>'
        f"<span>{_number(section.finding)}</span></summary>"
        f'<div class="inside">{body}</div></details>'
    )


def _block(block: Block) -> str:  # noqa: PLR0911 - one for each kind
    match block:
        case Table():
            return table_html(block)
        case Plot():
            title = f"<h3>{escape(block.title)}</h3>" if block.title else ""
            return f"{title}{axis_plot(block.axis, block.rows)}"
        case Heats():
            maps = "".join(
                f'<figure class="heat"><figcaption>{escape(of.name)}</figcaption>'
                f"{table_html(of)}</figure>"
                for of in block.tables
            )
            return f'<div class="heats">{maps}</div><p class="note">{escape(block.note)}</p>'
        case Distributions():
            figures = "".join(_histogram(item, values) for item, values in block.items)
            return f'<div class="many">{figures}</div><p class="note">{escape(block.note)}</p>'
        case SplitItems():
            return _disagreements(block)
        case Texts():
            return "".join(f"<p>{_number(sentence)}</p>" for sentence in block.sentences)
        case Definitions():
            pairs = (f"<dt>{escape(k)}</dt><dd>{escape(text)}</dd>" for k, text in block.items)
            return f"<dl>{''.join(pairs)}</dl>"


def table_html(table: Table) -> str:
    """Return a table; a wide one scrolls by itself."""
    head = "".join(
        f'<th scope="col"{" class=number" * column.is_number}>{escape(column.title)}</th>'
        if column.title
        else "<td></td>"
        for column in table.columns
    )
    rows = "".join(
        f"<tr>{''.join(_cell(table, *of) for of in enumerate(row))}</tr>" for row in table.rows
    )
    caption = f'<p class="note">{_number(table.caption)}</p>' if table.caption else ""
    label = escape(table.name)
    return (
        f'{caption}<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="{table.form}" aria-label="{label}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(table: Table, index: int, cell: Cell) -> str:
    if not index:
        return f'<th scope="row">{escape(cell.text)}</th>'
    if cell.verdict is not None:
        return f"<td>{chip(cell.verdict)}</td>"
    names = ["number"] if table.columns[index].is_number else []
    names += ["same"] if cell.is_marked else []
    names += ["shaded"] if cell.shade is not None else []
    names += [cell.tone.value] if cell.tone is not Tone.NONE else []
    name = f' class="{" ".join(names)}"' if names else ""
    shade = "" if cell.shade is None else f' style="--share:{100 * cell.shade:.0f}%"'
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    return f"<td{name}{shade}{hint}>{_number(cell.text)}</td>"


def _histogram(item: Distribution, values: Sequence[str]) -> str:
    total, width = sum(item.counts), 100 / len(values)
    tallest = max(item.counts)
    bars = "".join(
        f'<rect x="{k * width + width * 0.12:.1f}%" width="{width * 0.76:.1f}%" '
        f'y="{44 - 42 * n / tallest:.1f}" height="{42 * n / tallest:.1f}">'
        f"<title>{escape(value)}: {100 * n / total:.0f}&nbsp;%</title></rect>"
        for k, (value, n) in enumerate(zip(values, item.counts, strict=True))
    )
    place = f"<br>{escape(item.place)}" if item.place else ""
    return (
        f'<figure><svg width="100%" height="46" aria-hidden="true">{bars}'
        f'<line x1="0" x2="100%" y1="44.5" y2="44.5"/></svg><figcaption>'
        f"<b>{escape(item.name)}</b>{place}<span>{count_text(total)}</span></figcaption></figure>"
    )
