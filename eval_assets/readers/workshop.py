"""Workshop annotations: of one response and one rater, a rating for each question."""

from collections.abc import Iterator, Sequence

from eval_assets.problems import InputProblem
from eval_assets.readers.given_labels import GivenLabel, GivenLabels, Headers, gathered
from eval_assets.readers.keys import RESPONSE_ID
from eval_assets.readers.table import Table, as_text, without_blanks
from eval_assets.readers.wording import shown


def workshop_labels(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """Labels of `{"trace_id", "user_id", "rating", "ratings": {question: value}}`.

    The older single `rating` counts only where there are no `ratings`, and only if the rubric has
    one question, since it does not say which one it rates.
    """
    headers = Headers(
        response=table.first_of(*RESPONSE_ID),
        question="ratings",
        rater="user_id",
        time=table.first_of("labelled_at", "created_at"),
    )
    labels: list[GivenLabel] = []
    bad_rows = list(table.bad_rows)
    ratings = zip(
        table.lines,
        table.columns.get("ratings", [None] * len(table)),
        table.text("rating"),
        strict=True,
    )
    others = zip(
        table.stripped(headers.response),
        table.stripped(headers.rater),
        table.stripped(headers.time),
        table.stripped(table.first_of("notes", "comment")),
        strict=True,
    )
    for (line, given, single), (response, rater, time, notes) in zip(ratings, others, strict=True):
        wrong = _problem(given, single, question_ids)
        if wrong is not None:
            bad_rows.append(InputProblem(table.file, line, *wrong))
            continue
        labels += [
            GivenLabel(line, response, question, rater, rating, header, time, notes=notes)
            for question, rating, header in _ratings(given, single, question_ids)
        ]
    return gathered(table.file, headers, labels, bad_rows)


def _problem(
    given: object, single: str | None, question_ids: Sequence[str]
) -> tuple[str, str, str] | None:
    """Column, finding and remedy where it cannot be told what is rated."""
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
    """Question, rating and where the rating stands."""
    if given and isinstance(given, dict):
        for question, rating in given.items():
            yield str(question).strip(), as_text(rating), f"ratings.{question}"
    elif without_blanks(single) is not None:
        yield question_ids[0], single, "rating"
