"""Which scores a judge gives where humans give which: confusion tables."""

from dataclasses import dataclass

from eval_assets.evaluation import RubricQuestion
from eval_assets.report.data import ReportData
from eval_assets.report.rows import count, number, rows_of, text

MOST_VALUES = 12
"""A table of more values than this cannot be read."""


@dataclass(frozen=True)
class Cell:
    """Units that humans and a judge gave a certain pair of values.

    Args:
        n: How many.
        share: Of the units that humans gave that value, in [0, 1].
        is_agreement: Whether both values are the same.
    """

    n: int
    share: float
    is_agreement: bool


@dataclass(frozen=True)
class Confusion:
    """One judge's scores by what humans gave, on one question.

    Args:
        judge_id: The judge.
        values: Values of the scale, lowest first, as written.
        rows: For each value that humans gave, the cells of what the judge gave.
    """

    judge_id: str
    values: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def confusions(data: ReportData, question: RubricQuestion) -> tuple[Confusion, ...]:
    """Every judge's confusion table; none where the scale has no or too many values."""
    values = question.scale.values
    if values is None or len(values) > MOST_VALUES:
        return ()
    counts: dict[str, dict[tuple[int, int], int]] = {j.id: {} for j in data.evaluation.judges}
    for row in rows_of(data.judge_confusion):
        if text(row, "question_id") == question.id:
            pair = (
                _nearest(number(row, "human_value"), values),
                _nearest(number(row, "judge_value"), values),
            )
            of_judge = counts.setdefault(text(row, "judge_id"), {})
            of_judge[pair] = of_judge.get(pair, 0) + count(row, "n_units")
    names = tuple(f"{value:g}" for value in values)
    return tuple(
        Confusion(
            judge_id, names, tuple(_row(of_judge, k, len(values)) for k in range(len(values)))
        )
        for judge_id, of_judge in counts.items()
        if of_judge
    )


def _row(counts: dict[tuple[int, int], int], human: int, n_values: int) -> tuple[Cell, ...]:
    found = [counts.get((human, judge), 0) for judge in range(n_values)]
    total = sum(found)
    return tuple(
        Cell(n=n, share=n / total if total else 0.0, is_agreement=judge == human)
        for judge, n in enumerate(found)
    )


def _nearest(value: float, values: tuple[float, ...]) -> int:
    """Index of the scale's value that a stored one is, float noise aside."""
    return min(range(len(values)), key=lambda k: abs(values[k] - value))
