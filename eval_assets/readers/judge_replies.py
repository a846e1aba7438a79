"""Columns of judges' replies, which become the scores that the replies state."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Kind
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.names import Role, Who, names_model
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.values import likely_scale, parsed_ratings
from eval_assets.scale import Scale
from eval_assets.wording import counted

ScoreOfReply = Callable[[str, Scale], float]
"""The score that a reply states on a scale; NaN if it states none for certain."""

_REPLY = re.compile(r"(^|_)(raw_output|raw_response|repl(y|ies)|completion|judge?ment|verdict)$")
_FEWEST_SCORED = 0.5
"""Share of replies with a score from which a column holds replies."""


def with_scores_of_replies(
    tables: Sequence[CodedTable],
    options: ReadOptions,
    score_of: ScoreOfReply,
    *,
    declared: Sequence[Scale] = (),
) -> list[CodedTable]:
    """Return tables in which scores stand in place of judges' replies.

    They are on the scale of the options, else on a declared one, else on one of people's.
    """
    scales = [options.scale] if options.scale is not None else list(declared)
    scales = scales or [*dict.fromkeys(_scales_of_people(tables))]
    return [_scored(table, options, scales, score_of) for table in tables]


def _scales_of_people(tables: Sequence[CodedTable]) -> Iterator[Scale]:
    for column in (of for table in tables for of in table.columns):
        is_of_people = column.who is not Who.JUDGE and not column.may_be(Role.ITEM)
        if is_of_people and column.can_rate and not column.counts_rows:
            scale = likely_scale(parsed_ratings(FileColumn.of(column.rating_words)), level=None)
            if scale is not None:
                yield scale


def _scored(
    table: CodedTable, options: ReadOptions, scales: Sequence[Scale], score_of: ScoreOfReply
) -> CodedTable:
    ignored = {*map(plain, options.ignore)}
    named = {*map(plain, options.judge)}
    is_of_judge = table.judge is not None or any(
        len(column.values) == 1 and names_model(column.values[0]) for column in table.columns
    )
    for column in table.columns:
        name = plain(column.name)
        is_named = column.who is Who.JUDGE or name in named
        is_reply = is_named or (is_of_judge and _REPLY.search(name))
        is_text = column.kind is Kind.TEXT or (
            column.kind is Kind.WORD and all(":" in value for value in column.values)
        )
        if not is_reply or not is_text or name in ignored:
            continue
        is_scored = any(
            of.can_rate and (of.who is Who.JUDGE or (is_of_judge and of.may_be(Role.RATING)))
            for of in table.columns
            if of is not column
        )
        values = [] if is_scored else _scores(column, scales, score_of)
        if values:
            return _with_scores(table, column, values, name=column.name if is_named else "score")
    return table


def _scores(column: CodedColumn, scales: Sequence[Scale], score_of: ScoreOfReply) -> list[str]:
    """Return the score of each distinct reply as a cell, on the scale on which most have one."""
    best: list[str] = []
    for scale in scales:
        numbers = [score_of(value, scale) for value in column.values]
        cells = ["" if math.isnan(of) else scale.rating_text(of) for of in numbers]
        if sum(map(bool, cells)) > sum(map(bool, best)):
            best = cells
    return best if sum(map(bool, best)) >= _FEWEST_SCORED * len(column.values) else []


def _with_scores(
    table: CodedTable, column: CodedColumn, cells: Sequence[str], *, name: str
) -> CodedTable:
    texts = np.array([*cells, ""], dtype=object)[column.codes]
    scored = CodedColumn.of(name, texts.tolist())
    n_blank = int((column.has_cell & ~scored.has_cell).sum())
    note = f"scores read from the replies in {column.name}"
    note += f"; {counted(n_blank, 'reply')} without one left out" if n_blank else ""
    columns = [replace(scored, level=column.level) if of is column else of for of in table.columns]
    return replace(table, columns=columns, notes=(*table.notes, note))
