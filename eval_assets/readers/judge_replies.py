"""Columns of judges' replies, which become the scores that the replies state."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from eval_assets.readers.columns import CodedColumn, CodedTable, Kind
from eval_assets.readers.formats.table import FileColumn, plain
from eval_assets.readers.names import Role, Who, holds_judges, names_model
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.values import likely_scale, parsed_ratings
from eval_assets.scale import Scale
from eval_assets.wording import counted

ScoreOfReply = Callable[[str, Scale], float]
"""The score that a reply states on a scale; NaN if it states none for certain."""

_REPLY = re.compile(r"(^|_)(raw_output|raw_response|repl(y|ies)|completion|judge?ment|verdict)$")
_RECORDED = ("raw_output", "raw_response")
"""Headers of what was recorded word for word, which is no second rating beside a score."""

_START = re.compile(r"\W*([^\W\d_]+)\s*(?:[-\u2013\u2014:.,;(\n]|$)")
"""The first word of a verdict with a reason behind it."""

_FEWEST_SCORED = 0.5
"""Share of replies with a score from which a column holds replies."""


def with_scores_of_replies(
    tables: Sequence[CodedTable], options: ReadOptions, score_of: ScoreOfReply
) -> list[CodedTable]:
    """Return tables in which scores stand in place of judges' replies.

    They are on the scale of the options, else on the one of people's on which most replies of the
    question have a score.
    """
    of_people = dict.fromkeys(_scales_of_people(tables))
    scales = [options.scale] if options.scale is not None else [*of_people]
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
    names = [of for of in table.columns if holds_judges(of.name) and of.order is None]
    is_of_judge = table.judge is not None or any(
        of in names or (len(of.values) == 1 and names_model(of.values[0])) for of in table.columns
    )
    for column in table.columns:
        name = plain(column.name)
        is_named = column.who is Who.JUDGE or name in named
        is_reply = is_named or (is_of_judge and _REPLY.search(name))
        is_text = column.kind is Kind.TEXT or (
            column.kind is Kind.WORD
            and (not column.can_rate or all(":" in value for value in column.values))
        )
        if not is_reply or name in ignored:
            continue
        is_scored = any(
            of.can_rate and (of.who is Who.JUDGE or (is_of_judge and of.may_be(Role.RATING)))
            for of in table.columns
            if of is not column and of not in names
        )
        is_rating = name in map(plain, options.rating)
        if is_scored and column.can_rate and name in _RECORDED and not is_rating:
            return replace(table, columns=[of for of in table.columns if of is not column])
        if not is_text:
            continue
        question = next((of for of in table.columns if of.may_be(Role.QUESTION)), None)
        cells = None if is_scored else _scores(column, question, scales, score_of)
        if cells is not None:
            header = column.name if is_named or is_rating else "score"
            scored = CodedColumn.of(header, cells, level=column.level)
            n_blank = int((column.has_cell & ~scored.has_cell).sum())
            note = f"scores read from the replies in {column.name}"
            note += f"; {counted(n_blank, 'reply')} without one left out" if n_blank else ""
            columns = [scored if of is column else of for of in table.columns]
            return replace(table, columns=columns, notes=(*table.notes, note))
    return table


def _scores(
    column: CodedColumn,
    question: CodedColumn | None,
    scales: Sequence[Scale],
    score_of: ScoreOfReply,
) -> list[str] | None:
    """Return the score of each row as a cell; None if few replies have one."""
    codes = np.zeros_like(column.codes) if question is None else question.codes
    scores = np.full(len(codes), "", dtype=object)
    for code in np.unique(codes):
        rows = np.flatnonzero((codes == code) & column.has_cell)
        best: dict[int, str] = {}
        for scale in scales:
            numbers = {of: score_of(column.values[of], scale) for of in {*column.codes[rows]}}
            starts = {of: _START.match(column.values[of]) for of in numbers}
            of_words = zip(map(str.casefold, scale.words or ()), scale.values or (), strict=False)
            by_word = dict(of_words)
            if all(of and of[1].casefold() in by_word for of in starts.values()):  # PASS - polite
                numbers = {k: by_word[of[1].casefold()] for k, of in starts.items() if of}
            cells = {of: scale.rating_text(n) for of, n in numbers.items() if not math.isnan(n)}
            best = max(best, cells, key=len)
        scores[rows] = [best.get(of, "") for of in column.codes[rows]]
    n_scored = np.count_nonzero(scores)
    return scores.tolist() if n_scored >= _FEWEST_SCORED * column.has_cell.sum() else None
