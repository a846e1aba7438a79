"""What a judge gives beside what people give: a table of counts, and of two values its accuracy."""

from collections.abc import Mapping, Sequence

from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import Targets
from eval_assets.render.document import Block, Cell, Table, TableRow, Text, cells, columns
from eval_assets.report.data import ReportData, count, number, text
from eval_assets.wording import UNDEFINED

_MOST_VALUES = 12
"""A confusion table of more values than this cannot be read."""


def confusion(data: ReportData, judge_id: str, question: RubricQuestion) -> tuple[Block, ...]:
    """Return the judge's scores by what humans gave; nothing on a scale of too many values."""
    values = question.scale.values
    if values is None or len(values) > _MOST_VALUES:
        return ()
    counts: dict[tuple[int, int], int] = {}
    for record in data.rows("judge_confusion"):
        if (text(record, "judge_id"), text(record, "question_id")) == (judge_id, question.id):
            pair = (
                _nearest(number(record, "human_value"), values),
                _nearest(number(record, "judge_value"), values),
            )
            counts[pair] = counts.get(pair, 0) + count(record, "n_units")
    names = [f"{value:g}" for value in values]
    places = range(len(names))
    totals = [sum(counts.get((human, judge), 0) for judge in places) or 1 for human in places]
    table = Table(
        f"Confusion of {judge_id} on {question.id}",
        columns("People", *(f"{name}#" for name in names)),
        tuple(
            TableRow(
                cells(
                    names[human],
                    *(
                        Cell(f"{n:,}", shade=n / totals[human], is_strong=judge == human)
                        for judge in places
                        for n in [counts.get((human, judge), 0)]
                    ),
                )
            )
            for human in places
        ),
        caption=(
            f"Units by what people gave (rows, median) and {judge_id} gave (columns); equal values "
            f"are underlined, the shade is the share of the row."
        ),
        is_matrix=True,
    )
    if not counts:
        return ()
    if question.scale.is_binary:
        return Text(_decisions(counts, data.evaluation.tuning.targets), is_small=True), table
    return (table,)


def _decisions(counts: Mapping[tuple[int, int], int], targets: Targets) -> str:
    """Return how well the judge finds the responses that people give a 1."""
    both, by_judge, by_people = counts.get((1, 1), 0), counts.get((0, 1), 0), counts.get((1, 0), 0)
    equal = both + counts.get((0, 0), 0)
    accuracy = _share(equal, sum(counts.values()))
    f1 = _share(2 * both, 2 * both + by_judge + by_people)
    return (
        f"The judge's 1 beside that of people (median): accuracy {accuracy} (target "
        f"{targets.accuracy:g}), precision {_share(both, both + by_judge)}, recall "
        f"{_share(both, both + by_people)}, F1 {f1} (target {targets.f1:g}). If one value is rare, "
        "go by kappa."
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else UNDEFINED


def _nearest(value: float, values: Sequence[float]) -> int:
    """Return the index of a scale's value, which may be stored with float noise."""
    return min(range(len(values)), key=lambda k: abs(values[k] - value))
