"""Workshop annotations: of one response and one rater, a rating for each question."""

from collections.abc import Iterator, Sequence

from eval_assets.errors import InputProblem
from eval_assets.readers._problems import shown
from eval_assets.readers.formats.table import Table, as_text, without_blanks
from eval_assets.readers.labels.parsed_labels import (
    FIELDS,
    GivenLabel,
    GivenLabels,
    labels_one_by_one,
)
from eval_assets.readers.references import RESPONSE_ID


def workshop_labels(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """Return labels of `{"trace_id", "user_id", "rating", "ratings": {question: value}}`.

    The older single `rating` counts only if there are no `ratings`, and only if the rubric has one
    question, since it does not say which one it rates.
    """
    given, single = table.cells("ratings"), table.text("rating")
    responses = table.stripped(*RESPONSE_ID)
    others = {field: table.cells(*names) for field, names in FIELDS.items() if field != "rating"}
    labels: list[tuple[int, str, GivenLabel]] = []
    bad_rows = list(table.bad_rows)
    for row, line in enumerate(table.lines):
        wrong = _problem(given[row], single[row], question_ids)
        if wrong is not None:
            bad_rows.append(InputProblem(table.file, line, *wrong))
            continue
        common = {field: cells[row] for field, cells in others.items()}
        for question, rating, key in _ratings(given[row], single[row], question_ids):
            unit = {"response_id": responses[row], "question_id": question}
            labels.append((line, key, {**common, **unit, "rating": rating}))
    headers = {
        "response_id": table.header_of(*RESPONSE_ID) or "response_id",
        "question_id": "ratings",
        "rater_id": table.header_of(*FIELDS["rater_id"]) or "user_id",
        "labelled_at": table.header_of(*FIELDS["labelled_at"]) or "labelled_at",
    }
    return labels_one_by_one(table.file, labels, bad_rows, headers=headers)


def _problem(
    given: object, single: str | None, question_ids: Sequence[str]
) -> tuple[str, str, str] | None:
    """Return column, finding and remedy if it is unclear what is rated."""
    if given and not isinstance(given, dict):
        what = f"{shown(as_text(given))} does not give ratings by question"
        return "ratings", what, 'Write an object such as {"question": 4}'
    if not given and without_blanks(single) is not None and len(question_ids) > 1:
        what = f"the rating names none of the {len(question_ids)} questions of the rubric"
        return "rating", what, 'Write "ratings" by question'
    return None


def _ratings(
    given: object, single: str | None, question_ids: Sequence[str]
) -> Iterator[tuple[str, str | None, str]]:
    """Yield question, rating and key of each rating."""
    if given and isinstance(given, dict):
        for question, rating in given.items():
            yield str(question).strip(), as_text(rating), f"ratings.{question}"
    elif without_blanks(single) is not None:
        yield question_ids[0], single, "rating"
