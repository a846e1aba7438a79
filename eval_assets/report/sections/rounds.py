"""Rounds of labelling side by side: did a discussion, or new guidelines, help?"""

from collections.abc import Iterable

from eval_assets.agreement.rounds import change_text
from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.catalogue import Figure
from eval_assets.figures import RoundFigures
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
from eval_assets.report.data import ReportData, groups_text
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
    if not data.rounds:
        return None
    result = [_sentence(row) for row in data.rounds if row.previous_round]
    blocks: tuple[Block, ...] = (
        Text(_LEAD),
        *bullets(result, "Did it help?"),
        _table(data.rounds),
        Text(_CAUTION, is_small=True),
    )
    return Section("rounds", "Do people agree more in later rounds?", "Rounds", (Card("", blocks),))


def _sentence(row: RoundFigures) -> str:
    """Return what became of agreement on one question since the round before."""
    question, later, earlier = row.question_id, row.round, row.previous_round
    if row.n_in_both is None:
        return (
            f"{question}, round {later}: mainly responses on which raters disagreed were labelled "
            "again. The first round decides, and no gain is reported"
        )
    n_in_both, n_groups = row.n_in_both or 0, row.n_groups_in_both or 0
    if not n_in_both:
        return (
            f"{question}: no response has two ratings in both round {earlier} and round {later}, "
            "so their figures differ by responses too"
        )
    groups = f" in {counted(n_groups, 'group')}" if n_groups < n_in_both else ""
    return (
        f"{question}, round {later} after round {earlier}: "
        f"{change_text(row.alpha_gain, row.a_hh_gain)} on "
        f"{counted(n_in_both, 'response')}{groups} rated in both"
    )


def _table(rounds: Iterable[RoundFigures]) -> Table:
    names = ("Question", "Round#", "Responses#", "A^HH#", "Krippendorff's alpha#")
    return Table(
        "Agreement between humans by round",
        columns(*names, "Gain of A^HH#", "Gain of alpha#"),
        tuple(TableRow(_cells(row)) for row in rounds),
    )


def _cells(row: RoundFigures) -> tuple[Cell, ...]:
    gains = (row.a_hh_gain, row.alpha_gain)
    return cells(
        Cell(row.question_id, link=anchor("question", row.question_id)),
        f"{row.round}",
        groups_text(row.n_responses, row.n_groups),
        *agreement_cells(row.a_hh, row.alpha),
        *(gain_cell(gain) if row.previous_round else "" for gain in gains),
    )


def agreement_cells(a_hh: Figure, alpha: Figure) -> tuple[Cell, Cell]:
    """Return A^HH and alpha with their intervals, coloured by their bands."""
    return (
        _figure(a_hh, A_HH_LIMITS, a_hh_tone(a_hh.value)),
        _figure(alpha, ALPHA_LIMITS, alpha_tone(alpha.value)),
    )


def _figure(figure: Figure, limits: tuple[float, ...], tone: Tone) -> Cell:
    note = interval_text(figure.low, figure.high, limits=limits)
    return Cell(figure_text(figure.value, limits=limits), note=note, tone=tone)


def gain_cell(gain: Figure) -> Cell:
    """Return a gain with its interval, coloured if it is clear."""
    if not gain.is_defined:
        return Cell(UNDEFINED)
    is_clear = gain.low > 0 or gain.high < 0
    tone: Tone = Tone.NONE if not is_clear else Tone.GOOD if gain.value > 0 else Tone.POOR
    interval = f"{gain.low:+.3f} to {gain.high:+.3f}" if gain.has_interval else "no interval"
    return Cell(f"{gain.value:+.3f}", note=interval, tone=tone)
