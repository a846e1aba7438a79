"""Labels of one file before they are checked: the result of every form of label file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.errors import InputProblem
from eval_assets.readers._cells import RatingCells, ratings_in
from eval_assets.readers.formats.table import FileColumn, FileTable
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
"""Fields of a label except its unit, with the columns under which they are accepted."""


@dataclass(frozen=True)
class ParsedLabels:
    """Labels of one file, one row a rating or a skipped unit.

    Args:
        table: The rows, not yet checked against rubric and responses.
        units: Response and question of each row.
        headers: Column or key of each field as the file spells it.
        rating_headers: Column or key of each row's rating.
    """

    table: FileTable
    units: References
    headers: Mapping[str, str]
    rating_headers: FileColumn[str]

    def stripped(self, field: str) -> FileColumn[str | None]:
        """Return the cells of one of `FIELDS`, without blanks around them."""
        return self.table.stripped(*FIELDS[field])

    def ratings(self) -> RatingCells:
        """Return the parsed ratings."""
        return ratings_in(self.table, *FIELDS["rating"])


def labels_in_rows(table: FileTable, units: References | Sequence[str]) -> ParsedLabels:
    """Return the labels of a table with one row a rating.

    `units` are those of the rows, or the ids of the questions that the rows may name.
    """
    headers = {field: table.header_of(*names) or field for field, names in FIELDS.items()}
    units = units if isinstance(units, References) else references_in(table, units)
    return ParsedLabels(table, units, headers, FileColumn.repeat(headers["rating"], len(table)))


def labels_of_records(
    file: str,
    records: Sequence[tuple[int, str, Mapping[str, object]]],
    bad_rows: Sequence[InputProblem],
    *,
    headers: Mapping[str, str],
    notes: Sequence[str] = (),
) -> ParsedLabels:
    """Return labels that a form nests in something else.

    Args:
        file: File, as messages name it.
        records: Place of each label in the file, key of its rating, and its `response_id`,
            `question_id` and `FIELDS`.
        bad_rows: Problems of rows that are not labels.
        headers: Keys of the file for the fields, and for `response_id` and `question_id`.
        notes: How the file was read, if that had to be guessed.
    """
    columns = {
        field: FileColumn.of([label.get(field) for _, _, label in records])
        for field in ("response_id", "question_id", *FIELDS)
    }
    lines = [line for line, _, _ in records]
    table = FileTable(file, columns, lines, tuple(bad_rows), tuple(notes))
    units = References(
        table.stripped("response_id"),
        table.stripped("question_id"),
        headers["response_id"],
        headers["question_id"],
    )
    rating_headers = FileColumn.of([key for _, key, _ in records])
    return ParsedLabels(
        table, units, {**dict(zip(FIELDS, FIELDS, strict=True)), **headers}, rating_headers
    )
