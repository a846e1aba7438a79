"""Labels as files give them: the one shape that every form of label file is turned into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.errors import InputProblem
from eval_assets.readers.formats.table import Repeated, Table
from eval_assets.readers.references import References, references_in

FIELDS: Mapping[str, tuple[str, ...]] = {
    "rater_id": ("rater_id", "rater", "annotator_id", "annotator", "labeler_id", "user_id"),
    "rating": ("rating", "score"),
    "labelled_at": ("labelled_at", "labeled_at", "created_at"),
    "confidence": ("confidence",),
    "notes": ("notes", "comment"),
    "skipped": ("skipped",),
    "skip_reason": ("skip_reason",),
    "round": ("round",),
    "guideline_hash": ("guideline_hash",),
    "details": ("details",),
}
"""Fields of a label beside its unit, with the columns under which each is accepted."""

GivenLabel = Mapping[str, object]
"""A label of a form that nests them: `response_id`, `question_id` and some of `FIELDS`."""


@dataclass(frozen=True)
class GivenLabels:
    """Labels of one file as they were given, one row a rating or a skipped unit.

    Args:
        table: The rows, not yet checked against rubric and responses.
        units: Response and question that each row means.
        headers: Column or key of each field as the file spells it; of ratings, one for each row if
            they are in several columns.
    """

    table: Table
    units: References
    headers: Mapping[str, str | Sequence[str]]

    def stripped(self, field: str) -> Repeated[str | None]:
        """Return the cells of one of `FIELDS`, without blanks around them."""
        return self.table.stripped(*FIELDS[field])

    def text(self, field: str) -> Sequence[str | None]:
        """Return the cells of one of `FIELDS`, as they are."""
        return self.table.text(*FIELDS[field])


def labels_in_rows(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """Return the labels of a table with one row a rating."""
    headers = {field: table.header_of(*names) or field for field, names in FIELDS.items()}
    return GivenLabels(table, references_in(table, question_ids), headers)


def labels_one_by_one(
    file: str,
    labels: Sequence[tuple[int, str, GivenLabel]],
    bad_rows: Sequence[InputProblem],
    *,
    headers: Mapping[str, str],
    notes: Sequence[str] = (),
) -> GivenLabels:
    """Return labels that were nested in something else.

    Args:
        file: File, as messages name it.
        labels: Place of each label in the file, key of its rating, and what it says.
        bad_rows: What is wrong with rows that are not labels.
        headers: Keys of the file for the fields, and for `response_id` and `question_id`.
        notes: How the file was read, if that had to be guessed.
    """
    lines = [line for line, _, _ in labels]
    columns: dict[str, list[object]] = {
        field: [label.get(field) for _, _, label in labels]
        for field in ("response_id", "question_id", *FIELDS)
    }
    table = Table(file, columns, lines, tuple(bad_rows), tuple(notes))
    units = References(
        responses=table.stripped("response_id"),
        questions=table.stripped("question_id"),
        response_header=headers["response_id"],
        question_header=headers["question_id"],
    )
    ratings = [key for _, key, _ in labels]
    return GivenLabels(
        table, units, {**{field: field for field in FIELDS}, **headers, "rating": ratings}
    )
