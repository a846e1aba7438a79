"""Responses on which raters are farthest apart, with their texts folded."""

import json
from collections import Counter

from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    cells,
    columns,
)
from eval_assets.report.data import Record, ReportData, number, text
from eval_assets.wording import shortened

_MOST_CHARACTERS = 2000
"""Longest text that is shown whole; `responses` has all of it."""

_MOST_NAMED = 6
"""Ratings up to which each stands with its rater; more are counted by value."""


def section(data: ReportData) -> Section | None:
    """Return a table of the worst disagreements, worst first; None if nothing was rated twice."""
    if not any(row.n_pairs for row in data.humans):
        return None
    shown = list(data.rows("label_disagreements"))
    blocks: tuple[Block, ...]
    if not shown:
        blocks = (Text("On no response are raters far apart."),)
    else:
        n_shown = len(shown)
        n_all = data.sizes.get("label_disagreements", n_shown)
        which = f"All {n_all:,}" if n_all <= n_shown else f"The worst {n_shown} of {n_all:,}"
        lead = (
            f"{'This is the only one' if n_all == 1 else f'{which} are listed'}. Discuss "
            f"{'it' if n_all == 1 else 'them'} as a group; ratings already given stay as they are."
        )
        table = Table(
            "Disagreements between raters",
            columns("Response", "Question", "Model", "Ratings", "Apart#", "Why it is listed"),
            tuple(TableRow(_cells(record), anchor=_anchor(record)) for record in shown),
        )
        blocks = (Text(lead), Card("", (table,)))
    return Section("disagreements", "Where raters disagree most", "Disagreements", blocks)


def texts_of(record: Record) -> tuple[tuple[str, str], ...]:
    """Return prompt and response of a row, cut if they are very long."""
    titles = {"prompt_text": "Prompt", "response_text": "Response"}
    return tuple(
        (title, shortened(text(record, column), most=_MOST_CHARACTERS))
        for column, title in titles.items()
    )


def ratings_text(stored: str) -> str:
    """Return each rater's rating of the stored JSON object, or how often each value was given."""
    ratings: dict[str, float] = json.loads(stored)
    if len(ratings) <= _MOST_NAMED:
        return " · ".join(
            f"{rater}:\N{NO-BREAK SPACE}{value:g}" for rater, value in ratings.items()
        )
    counts = Counter(ratings.values())
    return " · ".join(f"{value:g} ({counts[value]} times)" for value in sorted(counts))


def _anchor(record: Record) -> str:
    return anchor("disagreement", text(record, "response_id"), text(record, "question_id"))


def _cells(record: Record) -> tuple[Cell, ...]:
    question_id = text(record, "question_id")
    return cells(
        Cell(text(record, "response_id"), folded=texts_of(record)),
        Cell(question_id, link=anchor("question", question_id)),
        text(record, "model_name"),
        ratings_text(text(record, "ratings")),
        Cell(
            f"{number(record, 'range'):g}",
            note=f"SD {number(record, 'standard_deviation'):.2f}",
        ),
        text(record, "reason"),
    )
