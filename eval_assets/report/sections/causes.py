"""Tested causes of disagreement, where a gate of the raters is closed."""

from itertools import groupby

from eval_assets.agreement.causes import NO_CAUSE, Cause, names_of_others
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
from eval_assets.report.data import ReportData
from eval_assets.wording import UNDEFINED, figure_text, listed

_LEAD = (
    "Each cause was tested by permutation, corrected for the number of tests: at most one question "
    "in twenty without a cause has one reported. Causes with the largest gain in alpha come first."
)


_NEXT = (
    "eval-assets rubric draft QUESTION writes new guidelines with examples, and eval-assets plan "
    "--question QUESTION --gain 0.1 --draw assigns new responses that show whether they help."
)


def section(data: ReportData) -> Section | None:
    """Return a card for each question with what was tested; None if no gate is closed."""
    if not data.causes:
        return None
    by_question = groupby(data.causes, key=lambda cause: cause.question_id)
    cards = [_card(name, list(causes)) for name, causes in by_question]
    lead = (Text(_LEAD), Text(_NEXT))
    return Section("causes", "Why do raters disagree?", "Causes", (*lead, *cards))


def _card(question: str, causes: list[Cause]) -> Card:
    reported = [cause for cause in causes if cause.is_reported]
    others = names_of_others(causes)
    rest = f"Tested, and not more than chance: {listed(others)}." if others else ""
    if not reported:
        nothing = f"{NO_CAUSE.capitalize()}."
        return Card(
            question, (Text(nothing), Text(rest, is_small=True)), anchor("causes", question)
        )
    return Card(
        question,
        (
            _table(reported),
            *bullets([cause.kind.remedy.removesuffix(".") for cause in reported], "Remedies"),
            Text(rest, is_small=True),
        ),
        anchor("causes", question),
    )


def _table(causes: list[Cause]) -> Table:
    """Return a row for each cause with the responses that show it best."""
    return Table(
        "Causes of disagreement",
        columns("Cause", "Alpha#", "Alpha without it#", "p#", "Responses"),
        tuple(
            TableRow(
                cells(
                    str(cause),
                    figure_text(cause.alpha, limits=[]),
                    figure_text(cause.alpha_fixed, limits=[]),
                    f"{cause.adjusted_p:.3f}",
                    Cell(", ".join(cause.examples) or UNDEFINED),
                )
            )
            for cause in causes
        ),
    )
