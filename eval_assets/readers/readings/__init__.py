"""Readings of a table: which columns name items, raters and questions, and which hold ratings."""

from eval_assets.readers.columns import CodedTable
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings.item_rows import ItemRows
from eval_assets.readers.readings.person_rows import reading_of_person_rows
from eval_assets.readers.readings.rating_rows import readings_of_rating_rows
from eval_assets.readers.readings.table_reading import (
    Choices,
    Reading,
    usable_columns,
    with_names_of_runs,
)


def readings_of(table: CodedTable, options: ReadOptions) -> list[Reading]:
    """Return the readings that the values of a table allow, the likeliest first.

    Raises:
        ExceptionGroup: Of an InputError for each cell of a rater's column that is no rating.
    """
    choices = Choices.of(table, with_names_of_runs(table, options))
    columns, not_read = usable_columns(table, choices)
    readings = [
        *readings_of_rating_rows(table, columns, not_read, choices),
        ItemRows(table, columns, dict(not_read), choices).reading(),
        None if choices.ratings else reading_of_person_rows(table, not_read, choices),
    ]
    return sorted(filter(None, readings), key=lambda reading: -reading.likelihood)
