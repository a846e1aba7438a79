"""Records of figures as tables, which the terminal and the UI print alike."""

from collections.abc import Sequence
from typing import Any

from eval_assets.catalogue import Figure, Statistic
from eval_assets.figures import FigureRecord, HumanFigures, fields_of
from eval_assets.shown.blocks import Cell, Column, Table, text_cell
from eval_assets.wording import count_text, counted, figure_text, or_none

ALL_QUESTIONS = "all questions"

HUMANS = ("question_id", "a_hh", "alpha", "exact_agreement", "n_responses", "n_groups")
JUDGES = ("question_id", "alpha", "kappa_micro", "n_units", "n_judges")
JUDGES_AGAINST_HUMANS = ("judge_id", "question_id", "a_ha", "spearman", "bias", "n_units")
WITHOUT_JUDGES = (
    *("judge_id", "question_id", "alpha", "alpha_without", "mean_difference", "n_units"),
)
"""Fields of each record that a page of the UI shows."""

_WIDE = {"exact_agreement", "spearman", "n_judges"}
"""Fields that a terminal leaves out."""

_NAMES = {"n_responses": "rated twice", "n_units": "compared", "n_groups": "groups"}


def figures_table(rows: Sequence[FigureRecord], names: Sequence[str], *, name: str = "") -> Table:
    """Return fields of records of one type as a table."""
    declared = {field.name: field for field in fields_of(type(rows[0]))} if rows else {}
    fields = [declared[of] for of in names if of in declared]
    columns = tuple(
        Column(
            field.name,
            field.statistic.title
            if field.statistic
            else _NAMES.get(field.name, field.name.removesuffix("_id").removeprefix("n_")),
            is_number=field.statistic is not None or field.type is int,
            is_wide=field.name in _WIDE,
        )
        for field in fields
    )
    cells = tuple(
        tuple(value_cell(getattr(row, field.name), field.statistic) for field in fields)
        for row in rows
    )
    return Table(name, columns, cells)


def humans_table(agreement: Sequence[HumanFigures]) -> Table:
    """Return agreement of human raters, overall only where there are several questions."""
    [overall, *questions] = agreement
    if not overall.n_ratings:
        return Table("Human agreement: nothing is rated.", (), ())
    name = f"Human agreement: {counted(overall.n_ratings, 'rating')} by "
    name += counted(overall.n_raters, "rater")
    return figures_table(questions if len(questions) == 1 else agreement, HUMANS, name=name)


def value_cell(value: Any, statistic: Statistic | None) -> Cell:  # noqa: ANN401 - a field
    """Return a field of a record as a cell; a figure with its interval."""
    text = statistic.text if statistic else figure_text
    match value:
        case Figure() if statistic and value.has_interval:
            interval = statistic.interval_text(value.low, value.high)
            return Cell(f"{text(value.value)} ({interval})", or_none(value.value))
        case Figure():
            return Cell(text(value.value), or_none(value.value))
        case float():
            return Cell(text(value), or_none(value))
        case None:
            return text_cell(ALL_QUESTIONS)
        case int():
            return Cell(count_text(value), value)
        case _:
            return text_cell(str(value))
