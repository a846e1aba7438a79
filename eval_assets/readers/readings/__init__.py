"""Readings of a table: which columns name items, raters and questions, and which hold ratings."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eval_assets.readers.columns import CodedTable
from eval_assets.readers.names import Who
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
            readings += [candidates[0], *_on_other_levels(candidates)]
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


def _on_other_levels(candidates: Sequence[Reading]) -> list[Reading]:
    """Return the ratings of the others on another level of the document than the likeliest.

    These are judges' scores beside people's ratings, and people's beside those of judges: fields of
    the item above a list, or a list below.
    """
    best = candidates[0]
    of_judges = best.judges_only or all(of.is_judge for of in best.rated)
    known = {of.column.name for of in best.rated}
    for other in candidates[1:]:
        rated = [
            of
            for of in other.rated
            if of.column.name not in known
            and (
                of.column.who is Who.HUMAN and not of.is_judge and not other.judges_only
                if of_judges
                else of.is_judge or other.judges_only
            )
        ]
        shares_items = {c.name for c in other.items} & {c.name for c in best.items}
        if other.table is not best.table and rated and not other.refusal and shares_items:
            questions = {of.question for of in best.rated}
            if len(questions) == len({of.question for of in rated}) == 1 and not other.question:
                rated = [replace(of, question=best.rated[0].question) for of in rated]
            other.rated = rated
            return [other]
    return []
