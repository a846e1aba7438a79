"""Responses on which raters lie farthest apart."""

import json

from eval_assets.report._document import (
    Block,
    Card,
    Fold,
    Quote,
    Section,
    Text,
    anchor,
)
from eval_assets.report._text import counted, shortened
from eval_assets.report.data import Record, ReportData, count, number, records, text

_MOST_SHOWN = 20
_MOST_CHARACTERS = 220


def section(data: ReportData) -> Section:
    """Return the worst disagreements, worst first, with the texts folded."""
    shown = [_card(record) for record in records(data.label_disagreements.head(_MOST_SHOWN))]
    if shown:
        which = "All" if data.n_disagreements <= len(shown) else f"The worst {len(shown)} of"
        lead = (
            f"{which} {data.n_disagreements:,} in the table label_disagreements. Discuss them as a "
            f"group; ratings already given stay as they are."
        )
    else:
        lead = "No response has raters far apart."
    return Section(
        "disagreements", "Where raters disagree most", "Disagreements", (Text(lead), *shown)
    )


def _card(record: Record) -> Card:
    response_id, question_id = text(record, "response_id"), text(record, "question_id")
    prompt, response = text(record, "prompt_text"), text(record, "response_text")
    starts = [shortened(whole, most=_MOST_CHARACTERS) for whole in (prompt, response)]
    facts = (question_id, text(record, "model_name"), text(record, "reason"), _spread(record))
    blocks: list[Block] = [
        Text(" · ".join(fact for fact in facts if fact), is_small=True),
        Text(_ratings(text(record, "ratings"))),
    ]
    if prompt:
        blocks.append(Quote(starts[0], is_small=True))
    blocks.append(Quote(starts[1]))
    if starts != [prompt, response]:
        whole = (Quote(prompt, is_small=True), Quote(response))
        blocks.append(Fold("Full text", whole, subject=f"of {response_id}"))
    return Card(response_id, tuple(blocks), anchor=anchor("disagreement", response_id, question_id))


def _spread(record: Record) -> str:
    distance = number(record, "range")
    return (
        f"{counted(count(record, 'n_ratings'), 'rating')}, "
        f"{distance:g} point{'' if distance == 1 else 's'} apart, "
        f"standard deviation {number(record, 'standard_deviation'):.2f}"
    )


def _ratings(stored: str) -> str:
    """Return each rater's rating of the stored JSON object."""
    ratings: dict[str, float] = json.loads(stored)
    return " · ".join(f"{rater}: {value:g}" for rater, value in ratings.items())
