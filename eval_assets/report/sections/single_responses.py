"""Lists of single responses: disagreements and their adjudications."""

import json
from collections import Counter
from collections.abc import Iterator

from eval_assets.bands import A_HH_LIMITS
from eval_assets.figures import JudgeHumanFigures
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
from eval_assets.report.data import ReportData
from eval_assets.report.layout import (
    Layout,
    laid_out,
    question_cell,
    response_cell,
    written,
)
from eval_assets.report.stored_rows import (
    AdjudicationRow,
    DisagreementRow,
    ResponseRow,
)
from eval_assets.wording import counted, figure_text, percent_text

_MOST_NAMED = 6
"""Number of ratings that are listed with their raters; more are counted by value."""

_ADJUDICATED = (
    "Judges are compared with the settled values; agreement between people is measured on the "
    "ratings as they were given."
)
_WITH_EXCLUDED = (
    "Responses on which people cannot agree are hard for judges too: leaving them out makes judges "
    "look better. With them, the raters' own ratings count."
)


def disagreements(data: ReportData) -> Section | None:
    """Return a table of the worst disagreements, worst first; None if nothing was rated twice."""
    if not any(row.n_pairs for row in data.humans):
        return None
    listed = data.rows(DisagreementRow)
    blocks: tuple[Block, ...] = (Text("On no response are raters far apart."),)
    if listed:
        n_all = data.sizes.get("label_disagreements", len(listed))
        n_far = next((row.n_disagreements for row in data.humans if not row.question_id), n_all)
        extent = (
            f"All {n_all:,}" if n_all <= len(listed) else f"The worst {len(listed)} of {n_all:,}"
        )
        spread = (
            f" Ratings are far apart on {f'{n_far:,}' if n_far else 'none'} of them; "
            f"{'the others' if n_far else 'they'} have the largest spread of a question without "
            "such a response."
        )
        lead = (
            f"{'This is the only one' if n_all == 1 else f'{extent} are listed'}."
            f"{spread if n_far < n_all > 1 else ''} Discuss {'it' if n_all == 1 else 'them'} as a "
            "group; ratings already given stay as they are."
        )
        layout: Layout[DisagreementRow] = {
            **_RESPONSE_AND_QUESTION,
            "Model": lambda row: row.model_name,
            "Ratings": lambda row: _ratings(row.ratings),
            "Apart#": lambda row: Cell(f"{row.range:g}", note=f"SD {row.standard_deviation:.2f}"),
            "Why it is listed": lambda row: row.reason,
        }
        table = laid_out(
            "Disagreements between raters",
            layout,
            listed,
            row_anchor=lambda row: anchor("disagreement", row.response_id, row.question_id),
        )
        blocks = (Text(lead), Card("", (table,)))
    return Section("disagreements", "Where raters disagree most", "Disagreements", blocks)


def adjudications(data: ReportData) -> Section | None:
    """Return the adjudications and both sets of figures; None without adjudications."""
    latest = data.rows(AdjudicationRow)
    if not latest:
        return None
    n_all = data.sizes.get("adjudicated_labels", len(latest))
    extent = "" if n_all <= len(latest) else f" The latest {len(latest)} are listed."
    layout: Layout[AdjudicationRow] = {
        **_RESPONSE_AND_QUESTION,
        "Settled as": lambda row: Cell(
            "left out as ambiguous" if row.excluded else f"{row.value:g}",
            note="overrides judges" if row.is_override else "",
        ),
        "Ratings before": lambda row: _ratings(row.ratings),
        "By": lambda row: row.decided_by,
        "Why": lambda row: row.reason,
    }
    table = laid_out("Settled disagreements", layout, latest)
    lead = Text(f"{counted(n_all, 'disagreement')} settled.{extent} {_ADJUDICATED}")
    blocks = (Card("", (lead, table)), *_with_excluded(data))
    return Section("settled", "Which disagreements were settled?", "Settled", blocks)


def _with_excluded(data: ReportData) -> Iterator[Card]:
    """Yield the judges' agreement with and without excluded responses, if they differ."""
    with_excluded = {(r.judge_id, r.question_id): r for r in data.judge_humans_with_excluded}
    if not with_excluded:
        return
    pairs = [
        (row, with_excluded.get((row.judge_id, row.question_id), row)) for row in data.judge_humans
    ]
    table = Table(
        "Judges without and with the responses left out",
        columns(
            *("Judge", "Question", "Responses#", "A^HA#", "Exact#", "MAE#"),
            *("With them#", "A^HA with them#", "Exact with them#", "MAE with them#"),
        ),
        tuple(
            TableRow(cells(row.judge_id, row.question_id, *_figures(row), *_figures(with_excluded)))
            for row, with_excluded in pairs
            if row.n_units != with_excluded.n_units
        ),
    )
    yield Card("Without and with the responses left out", (Text(_WITH_EXCLUDED), table))


def _figures(row: JudgeHumanFigures) -> tuple[str, ...]:
    return (
        f"{row.n_units:,}",
        figure_text(row.a_ha.value, limits=A_HH_LIMITS),
        percent_text(row.exact_agreement.value),
        written(row.mae.value, ".2f"),
    )


def _ratings(text: str) -> str:
    """Return each rater's rating of the stored JSON object, or the count of each value."""
    ratings: dict[str, float] = json.loads(text)
    if len(ratings) <= _MOST_NAMED:
        return " · ".join(
            f"{rater}:\N{NO-BREAK SPACE}{value:g}" for rater, value in ratings.items()
        )
    counts = Counter(ratings.values())
    return " · ".join(f"{value:g} ({counts[value]} times)" for value in sorted(counts))


_RESPONSE_AND_QUESTION: Layout[ResponseRow] = {
    "Response": response_cell,
    "Question": lambda row: question_cell(row.question_id),
}
