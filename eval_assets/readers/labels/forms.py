"""The forms of label files, recognised by their columns."""

from collections.abc import Mapping

from eval_assets.readers._problems import input_error
from eval_assets.readers.formats.table import FileTable
from eval_assets.readers.labels.parsed_labels import FIELDS, ParsedLabels, labels_in_rows
from eval_assets.readers.labels.wide import wide_labels
from eval_assets.readers.references import RESPONSE_ID, has_references
from eval_assets.scale import Scale

_FORMS = (
    "Give the columns of one of them: long (response_id, rater_id, question_id, rating), "
    "sheet (indicator_id, convo_id, turn_index, seed, model, rater_id, score), "
    "wide (response_id and a column for each rater or question), "
    "workshop (trace_id, user_id, ratings), session export (dimension, labelerId, labels)"
)


def parsed_labels(table: FileTable, *, questions: Mapping[str, Scale | None]) -> ParsedLabels:
    """Return the labels of a file in any form.

    `questions` are those of the rubric, each with its scale; None if that is not known yet.

    Raises:
        InputError: If the columns are those of none of the forms.
    """
    question_ids = list(questions)
    if table.has("labels", "dimension"):
        from eval_assets.readers.labels.nested import session_labels  # it loads pydantic

        return session_labels(table, question_ids)
    has_ratings = table.has("ratings") or (table.has("rating") and not table.has("question_id"))
    if table.header_of(*RESPONSE_ID) and table.has("user_id") and has_ratings:
        from eval_assets.readers.labels.nested import workshop_labels

        return workshop_labels(table, question_ids)
    has_fields = table.header_of(*FIELDS["rater_id"]) and table.header_of(*FIELDS["rating"])
    if not table.columns or (has_references(table) and has_fields):
        return labels_in_rows(table, question_ids)
    wide = wide_labels(table, questions)
    if wide is not None:
        return wide
    message = f"the columns {', '.join(table.columns)} are not those of any form of labels"
    raise input_error(table.file, message, _FORMS, line=1)
