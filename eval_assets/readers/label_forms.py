"""The four forms in which labels are given, recognised by their columns."""

from collections.abc import Sequence

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers.given_labels import GivenLabels, Headers, gathered
from eval_assets.readers.keys import RESPONSE_ID, keys
from eval_assets.readers.named_units import NamedUnits, named_questions
from eval_assets.readers.session_export import session_labels
from eval_assets.readers.table import Table
from eval_assets.readers.workshop import workshop_labels

_FORMS = (
    "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
    "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
    "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
)


def given_labels(table: Table, *, question_ids: Sequence[str]) -> GivenLabels:
    """The labels of a file, in whichever of the four forms its columns are.

    Args:
        table: The file.
        question_ids: Questions of the rubric, to which dimensions and indicators are matched.

    Raises:
        InputError: If the columns are those of no form.
    """
    given = table.columns.keys()
    if not given:
        return gathered(table.file, Headers(None, "", "", None), [], table.bad_rows)
    if {"labels", "dimension"} <= given:
        return session_labels(table, question_ids)
    has_id = table.first_of(*RESPONSE_ID) is not None
    if has_id and "user_id" in given and given & {"ratings", "rating"}:
        return workshop_labels(table, question_ids)
    has_key = bool(given & {"indicator_id", "convo_id"})
    if (has_id or has_key) and "rater_id" in given and given & {"rating", "score"}:
        return _long_or_sheet(table, question_ids)
    what = f"the columns {', '.join(given)} are none of the four forms of labels"
    raise InputError(InputProblem(table.file, 1, None, what, _FORMS))


def _long_or_sheet(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """One row a rating, the response named by its id, or else by its key."""
    response = table.first_of(*RESPONSE_ID)
    rating = table.first_of("rating", "score") or ""
    return GivenLabels(
        file=table.file,
        units=NamedUnits(
            responses=list(keys(table)) if response is None else table.stripped(response),
            questions=named_questions(table, question_ids),
            response_header=response,
            question_header="question_id",
        ),
        rater_header="rater_id",
        time_header="labelled_at",
        lines=table.lines,
        raters=table.stripped("rater_id"),
        ratings=table.text(rating),
        rating_headers=[rating] * len(table),
        labelled_at=table.stripped("labelled_at"),
        confidence=table.stripped("confidence"),
        notes=table.stripped("notes"),
        skipped=table.stripped("skipped"),
        skip_reason=table.stripped("skip_reason"),
        bad_rows=table.bad_rows,
    )
