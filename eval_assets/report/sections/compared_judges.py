"""Judges against humans, beside what a judge that reads nothing would reach."""

import math
from collections.abc import Sequence

from eval_assets.interpretation import A_HH_LIMITS, UNDEFINED, figure_text
from eval_assets.report._document import (
    Block,
    Card,
    Cell,
    Column,
    Fold,
    Section,
    Table,
    TableRow,
    Text,
    cells,
    columns,
)
from eval_assets.report._figures import (
    Line,
    a_hh_tone,
    agreement_plot,
    coefficient,
    share_of_pairs,
)
from eval_assets.report._text import lenience
from eval_assets.report.data import Record, ReportData, count, number, records, text
from eval_assets.rubric import RubricQuestion

_REMARK = (
    "A judge is worth something only as far as it exceeds both controls: the best judge that gives "
    "every response the same score, and its own scores dealt out at random."
)
_KEY = "● A^HA with 95 % interval   ╎ constant control   ┊ shuffled control"
_CONTROLS = {
    "a_ha_constant": "A^HA of the best constant score",
    "a_ha_shuffled": "A^HA of its own scores, shuffled",
}
_SHARES = {"exact_agreement": "Exact agreement", "adjacent_agreement": "Adjacent agreement"}
_COEFFICIENTS = {
    "alpha": "Krippendorff's alpha",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "Cohen's kappa (quadratic weights)",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pearson": "Pearson's r",
    "mae": "Mean absolute error (points)",
    "bias": "Judge minus humans (points)",
}
_MOST_VALUES = 12
"""A confusion table of more values than this cannot be read."""


def section(data: ReportData) -> Section | None:
    """Return every judge against humans, by question; None if there is nothing to compare."""
    by_question = [(q, found) for q in data.evaluation.rubric if (found := _records_of(data, q))]
    if not by_question:
        return None
    blocks: list[Block] = [
        Text(_REMARK, is_small=True),
        Text(_KEY, is_small=True),
        _overview(by_question),
        *(_details(data, question, found) for question, found in by_question),
    ]
    title = "Do the judges agree with humans?"
    return Section("judge-human", title, "Judges and humans", (Card("", tuple(blocks)),))


def _records_of(data: ReportData, question: RubricQuestion) -> list[Record]:
    """Return the rows of one question, in the order in which judges are declared."""
    order = {judge.id: place for place, judge in enumerate(data.evaluation.judges)}
    return sorted(
        (r for r in records(data.judge_human_agreement) if text(r, "question_id") == question.id),
        key=lambda record: order.get(text(record, "judge_id"), len(order)),
    )


def _overview(by_question: Sequence[tuple[RubricQuestion, Sequence[Record]]]) -> Table:
    rows = []
    for question, found in by_question:
        rows.append(TableRow(cells(question.id), kind="heading"))
        rows += [TableRow(_overview_cells(record)) for record in found]
    return Table(
        "Judges against humans",
        (
            Column("Judge"),
            Column("A^HA", axis=(0.0, 1.0)),
            *columns("Constant#", "Shuffled#", "Spearman#", "Judge minus humans", "Units#"),
        ),
        tuple(rows),
    )


def _overview_cells(record: Record) -> tuple[Cell, ...]:
    judge_id = text(record, "judge_id")
    a_ha, constant, shuffled = (
        number(record, c) for c in ("a_ha", "a_ha_constant", "a_ha_shuffled")
    )
    limits = [limit for limit in (*A_HH_LIMITS, constant) if not math.isnan(limit)]
    plot = agreement_plot(
        record,
        "a_ha",
        name=f"A^HA of {judge_id}",
        marks=[("constant", constant), ("shuffled", shuffled)],
        tone=a_hh_tone(a_ha),
    )
    return cells(
        judge_id,
        Cell(figure_text(a_ha, limits=limits), plot=plot),
        figure_text(constant, limits=[a_ha]),
        figure_text(shuffled, limits=[a_ha]),
        figure_text(number(record, "spearman"), limits=[]),
        _leaning(record),
        f"{count(record, 'n_units'):,}",
    )


def _details(data: ReportData, question: RubricQuestion, found: Sequence[Record]) -> Fold:
    """Return every statistic of every judge, and the confusion tables."""
    by_judge = [_statistics(record) for record in found]
    table = Table(
        f"All statistics of judges against humans: {question.id}",
        columns("Statistic", *(text(record, "judge_id") for record in found)),
        tuple(
            TableRow(
                cells(
                    of_judges[0].name,
                    *(Cell(s.value, note=s.interval or s.reading) for s in of_judges),
                )
            )
            for of_judges in zip(*by_judge, strict=True)
        ),
    )
    return Fold(
        f"All statistics and confusion: {question.id}", (table, *_confusions(data, question))
    )


def _statistics(record: Record) -> tuple[Line, ...]:
    """Return every statistic, the controls first after A^HA."""
    undefined = _why_undefined(record)
    named = {"a_ha": "A^HA"} | _CONTROLS
    return (
        *(
            coefficient(record, column, name, reading="", undefined=undefined)
            for column, name in named.items()
        ),
        *(
            share_of_pairs(record, column, name, reading="", undefined=undefined)
            for column, name in _SHARES.items()
        ),
        *(
            coefficient(record, column, name, reading="", undefined=undefined)
            for column, name in _COEFFICIENTS.items()
        ),
        _wilcoxon(record),
    )


def _leaning(record: Record) -> str:
    """Return which way a judge leans, unless the interval holds both ways."""
    bias, low, high = (number(record, column) for column in ("bias", "bias_low", "bias_high"))
    if low <= 0 <= high:
        return f"{bias:+.2f}, no clear difference"
    return lenience(bias)


def _wilcoxon(record: Record) -> Line:
    p = number(record, "wilcoxon_p")
    return Line(
        name="Wilcoxon signed-rank test (p)",
        value=UNDEFINED if math.isnan(p) else "below 0.001" if p < 0.001 else f"{p:.3f}",  # noqa: PLR2004
        interval="",
        reading="fewer than 10 units" if math.isnan(p) else "",
    )


def _why_undefined(record: Record) -> str:
    if not count(record, "n_units"):
        return "no unit has both a score and a human rating"
    return "no variation, or not defined on this scale"


def _confusions(data: ReportData, question: RubricQuestion) -> list[Table]:
    """Return a table per judge of its scores by what humans gave; none on a fine scale."""
    values = question.scale.values
    if values is None or len(values) > _MOST_VALUES:
        return []
    counts: dict[str, dict[tuple[int, int], int]] = {j.id: {} for j in data.evaluation.judges}
    for record in records(data.judge_confusion):
        if text(record, "question_id") == question.id:
            pair = (
                _nearest(number(record, "human_value"), values),
                _nearest(number(record, "judge_value"), values),
            )
            of_judge = counts.setdefault(text(record, "judge_id"), {})
            of_judge[pair] = of_judge.get(pair, 0) + count(record, "n_units")
    return [
        _confusion(judge_id, question, values, of_judge)
        for judge_id, of_judge in counts.items()
        if of_judge
    ]


def _confusion(
    judge_id: str,
    question: RubricQuestion,
    values: Sequence[float],
    counts: dict[tuple[int, int], int],
) -> Table:
    names = [f"{value:g}" for value in values]
    rows = []
    for human, name in enumerate(names):
        found = [counts.get((human, judge), 0) for judge in range(len(names))]
        total = sum(found) or 1
        rows.append(
            TableRow(
                cells(
                    name,
                    *(
                        Cell(f"{n:,}", shade=n / total, is_strong=judge == human)
                        for judge, n in enumerate(found)
                    ),
                )
            )
        )
    return Table(
        f"Confusion of {judge_id} on {question.id}",
        columns("Humans", *(f"{name}#" for name in names)),
        tuple(rows),
        caption=(
            f"Units by what humans gave (rows, median) and {judge_id} gave (columns); equal values "
            f"are underlined, the shade is the share of the row."
        ),
        is_matrix=True,
    )


def _nearest(value: float, values: Sequence[float]) -> int:
    """Return the index of a scale's value, which may be stored with float noise."""
    return min(range(len(values)), key=lambda k: abs(values[k] - value))
