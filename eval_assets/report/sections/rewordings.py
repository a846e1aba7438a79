"""Wordings of a question side by side: did the new one help?"""

from eval_assets.agreement.rounds import rewording_sentences
from eval_assets.figures import RubricVersionFigures
from eval_assets.render.document import (
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
from eval_assets.report.data import ReportData, groups_text
from eval_assets.report.sections.rounds import agreement_cells, gain_cell

_LEAD = (
    "Labels under different wordings of a question are not pooled, unless these are declared "
    "equivalent. The newest wording with labels counts, and the gates go by it."
)
_CAUTION = (
    "A change compares responses that were not rated under an earlier wording with those rated "
    "under the one before. It shows what the wording does if both are alike, as when they are "
    "drawn at random. A gain is measured on the responses rated under both, which raters may "
    "remember."
)


def section(data: ReportData) -> Section | None:
    """Return A^HH and alpha of each wording with alpha's change; None if there is one only."""
    if not data.rubric_versions:
        return None
    card = Card(
        "",
        (
            Text(_LEAD),
            *bullets(
                list(rewording_sentences(data.rubric_versions, data.evaluation)), "Did it help?"
            ),
            _table(data.rubric_versions),
            Text(_CAUTION, is_small=True),
        ),
    )
    return Section("rewordings", "Do people agree more under a new wording?", "Wordings", (card,))


def _table(rows: tuple[RubricVersionFigures, ...]) -> Table:
    names = (
        "Question",
        "Version#",
        "Responses#",
        "A^HH#",
        "Krippendorff's alpha#",
        "New responses#",
    )
    return Table(
        "Agreement between humans by wording",
        columns(*names, "Change of alpha#", "Gain of alpha#"),
        tuple(
            TableRow(
                cells(
                    Cell(row.question_id, link=anchor("question", row.question_id)),
                    f"{row.rubric_version}",
                    groups_text(row.n_responses, row.n_groups),
                    *agreement_cells(row.a_hh, row.alpha),
                    "" if row.n_new is None else f"{row.n_new:,}",
                    *(
                        gain_cell(figure) if row.previous_version else ""
                        for figure in (row.alpha_change, row.alpha_gain)
                    ),
                )
            )
            for row in rows
        ),
    )
