"""Rounds of labelling side by side: did a discussion, or new guidelines, help?"""

import math

from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    bullets,
    cells,
    columns,
)
from eval_assets.report._figures import a_hh_tone, alpha_tone
from eval_assets.report.data import Record, ReportData, count, groups_text, number, text
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, counted, figure_text, interval_text

_LEAD = (
    "Responses were labelled in several rounds. The latest round of each response decides; the "
    "others are shown beside it. A gain is measured on the responses rated in both rounds."
)
_CAUTION = (
    "Raters who discussed these responses, or remember them, agree on them more than they would on "
    "new ones. Whether new guidelines help shows on responses that nobody has discussed."
)


def section(data: ReportData) -> Section | None:
    """Return A^HH and alpha of each round with their gains; None if there is one round only."""
    rounds = list(data.rows("agreement_by_round"))
    if not rounds:
        return None
    result = [_sentence(record) for record in rounds if number(record, "previous_round") > 0]
    blocks: tuple[Block, ...] = (
        Text(_LEAD),
        *bullets(result, "Did it help?"),
        _table(rounds),
        Text(_CAUTION, is_small=True),
    )
    return Section("rounds", "Do people agree more in later rounds?", "Rounds", (Card("", blocks),))


def _sentence(record: Record) -> str:
    """Return what became of agreement on one question since the round before."""
    question, later = text(record, "question_id"), count(record, "round")
    earlier = count(record, "previous_round")
    if not count(record, "n_in_both"):
        return (
            f"{question}: no response has two ratings in both round {earlier} and round {later}, "
            "so their figures differ by responses too"
        )
    n_in_both, n_groups = (count(record, c) for c in ("n_in_both", "n_groups_in_both"))
    groups = f" in {counted(n_groups, 'group')}" if n_groups < n_in_both else ""
    return (
        f"{question}, round {later} after round {earlier}: {_change(record)} on "
        f"{counted(n_in_both, 'response')}{groups} rated in both"
    )


def _change(record: Record) -> str:
    """Return by how much alpha changed, or A^HH if alpha is undefined, and whether clearly."""
    column, name = ("alpha_gain", "alpha")
    if math.isnan(number(record, column)):
        column, name = ("a_hh_gain", "A^HH")
    gain = number(record, column)
    low, high = (number(record, f"{column}_{end}") for end in ("low", "high"))
    if math.isnan(gain):
        return "the change is undefined"
    if math.isnan(low + high):
        return f"{name} changed by {gain:+.3f}, without an interval,"
    interval = f"(95 % interval {low:+.3f} to {high:+.3f})"
    if low <= 0 <= high:
        return f"no clear change of {name}, {gain:+.3f} {interval},"
    return f"{name} {'rose' if gain > 0 else 'fell'} by {abs(gain):.3f} {interval}"


def _table(rounds: list[Record]) -> Table:
    names = ("Question", "Round#", "Responses#", "A^HH#", "Krippendorff's alpha#")
    return Table(
        "Agreement between humans by round",
        columns(*names, "Gain of A^HH#", "Gain of alpha#"),
        tuple(TableRow(_cells(record)) for record in rounds),
    )


def _cells(record: Record) -> tuple[Cell, ...]:
    question = text(record, "question_id")
    a_hh, alpha = number(record, "a_hh"), number(record, "alpha")
    gains = ("a_hh_gain", "alpha_gain") if number(record, "previous_round") > 0 else ()
    return cells(
        Cell(question, link=anchor("question", question)),
        f"{count(record, 'round')}",
        groups_text(record, "n_responses"),
        _figure(record, "a_hh", A_HH_LIMITS, a_hh_tone(a_hh)),
        _figure(record, "alpha", ALPHA_LIMITS, alpha_tone(alpha)),
        *(_gain(record, column) for column in gains),
        *cells(*("",) * (2 - len(gains))),
    )


def _figure(record: Record, column: str, limits: tuple[float, ...], tone: Tone) -> Cell:
    value, low, high = (number(record, f"{column}{end}") for end in ("", "_low", "_high"))
    note = interval_text(low, high, limits=limits)
    return Cell(figure_text(value, limits=limits), note=note, tone=tone)


def _gain(record: Record, column: str) -> Cell:
    gain, low, high = (number(record, f"{column}{end}") for end in ("", "_low", "_high"))
    if math.isnan(gain):
        return Cell(UNDEFINED)
    is_clear = low > 0 or high < 0
    tone: Tone = Tone.NONE if not is_clear else Tone.GOOD if gain > 0 else Tone.POOR
    interval = "no interval" if math.isnan(low + high) else f"{low:+.3f} to {high:+.3f}"
    return Cell(f"{gain:+.3f}", note=interval, tone=tone)
