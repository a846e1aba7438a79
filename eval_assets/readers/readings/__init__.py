"""Readings of a table: which columns name items, raters and questions, and which hold ratings."""

from collections.abc import Sequence

import numpy as np

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


def best_readings(
    tables: Sequence[CodedTable], options: ReadOptions
) -> tuple[list[Reading], list[Reading]]:
    """Return the likeliest reading of each table with ratings, and of others one with a refusal.

    Tables of one document are alternatives: the same ratings on other levels.
    """
    documents: dict[object, list[CodedTable]] = {}
    for table in tables:
        documents.setdefault(table.document or id(table), []).append(table)
    readings: list[Reading] = []
    refused: list[Reading] = []
    for of_document in documents.values():
        candidates = [of for table in of_document for of in readings_of(table, options)]
        candidates.sort(key=lambda of: -of.likelihood)
        candidates = [of for of in candidates if _has_ratings(of)] or candidates
        if candidates and candidates[0].refusal is None:
            readings += [candidates[0], *_scores_above(candidates)]
        else:
            refused += candidates[:1]
    return readings, sorted(refused, key=lambda of: -of.likelihood)


def _has_ratings(reading: Reading) -> bool:
    rater = reading.rater
    return any(
        bool(
            (
                np.append(of.column.is_rating, False)[of.column.codes]
                & (True if rater is None or of.rater is not None else rater.has_cell)
            ).any()
        )
        for of in reading.rated
    )


def _scores_above(candidates: Sequence[Reading]) -> list[Reading]:
    """Return the judges' scores that are fields of the item, above the list of its ratings."""
    best = candidates[0]
    if best.judges_only or all(of.is_judge for of in best.rated):
        return []
    known = {of.column.name for of in best.rated}
    for other in candidates[1:]:
        is_above = other.table is not best.table and len(other.table) <= len(best.table)
        scores = [of for of in other.rated if of.is_judge and of.column.name not in known]
        shares_items = {c.name for c in other.items} & {c.name for c in best.items}
        if is_above and scores and other.refusal is None and shares_items:
            other.rated = scores
            return [other]
    return []
