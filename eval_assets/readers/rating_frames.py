"""Ratings of readings as frames: one row a rating, on the scale of its question, each once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.errors import InputProblem, SheetLine
from eval_assets.readers.columns import CodedColumn, CodedTable, Origin, combined
from eval_assets.readers.header_parts import models_by_company, names_evaluator
from eval_assets.readers.names import ONE_SPELLING, Who, look_alikes, who
from eval_assets.readers.problems import RowProblems, listed_briefly, quoted
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings.table_reading import RatedColumn, Reading, names_file, option_text
from eval_assets.readers.values import ABSENT, in_utc
from eval_assets.wording import counted

UNNAMED = "(not named)"

_UNIT = ["item", "question", "rater", "run"]
_MOST_UNDECIDED = 0.2
"""Share of cells such as "Unsure" up to which they are no rating, and not the middle of a scale."""


@dataclass
class CollectedRatings:
    """Ratings of people and judges, as cells that are not yet compared with a scale.

    Args:
        table: A table that messages name.
        rows: A row for each rating: item, question, rater, run, cell, round, order in its file, at
            (time), file, line, column, is_judge.
        problems: Cells that cannot be used.
        notes: How cells were read.
        n_cells: Cells of the columns of ratings.
        unrated: Words in them that are read as no rating, with their numbers.
    """

    table: CodedTable
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    problems: list[InputProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_cells: int = 0
    unrated: Counter[str] = field(default_factory=Counter)

    def add_problems(
        self, is_bad: npt.NDArray[np.bool_], describe: Callable[[pd.Series], tuple[str, str]]
    ) -> None:
        """Add a problem for each of some ratings."""
        for _, row in self.rows[is_bad].iterrows():
            place = row["file"], row["line"], row["column"]
            self.problems.append(InputProblem(*place, *describe(row)))


def collected_ratings(readings: Sequence[Reading], options: ReadOptions) -> CollectedRatings:
    """Return the ratings of readings; cells without a rater or an item are problems."""
    main = readings[0].table
    ratings = CollectedRatings(main)
    frames = []
    for reading in readings:
        table, stem = reading.table, Path(reading.table.file).stem
        judge = stem if names_file(options.judge, table.file) else None
        # A file of people may be called like a judge, too.
        is_named = judge is not None or names_file(options.rater, table.file)
        if not (is_named or reading.names_raters or reading.people_only):
            is_called = who(stem) is Who.JUDGE or names_evaluator(stem)
            judge = table.judge or (stem if is_called and table.file != main.file else None)
        frames += [_rows_of(reading, rated, options, judge, ratings) for rated in reading.rated]
    frames = [frame for frame in frames if len(frame)] or frames[:1]
    if len(frames) == 1:
        ratings.rows = frames[0]
        return ratings
    columns: dict[str, object] = {}
    for name in frames[0]:
        parts = [frame[name].array for frame in frames]
        if coded := [part for part in parts if isinstance(part, pd.Categorical)]:
            columns[str(name)] = pd.api.types.union_categoricals(coded)
        else:
            columns[str(name)] = np.concatenate([np.asarray(part) for part in parts])
    ratings.rows = pd.DataFrame(columns, copy=False)
    return ratings


def _rows_of(
    reading: Reading,
    rated: RatedColumn,
    options: ReadOptions,
    judge: str | None,
    ratings: CollectedRatings,
) -> pd.DataFrame:
    """Return the ratings in a column; all are those of the `judge`, if there is one."""
    table, column = reading.table, rated.column
    items, item_names = items_of_rows(reading, rated)
    is_rating = np.append(column.is_rating, False)[column.codes]
    is_named = items >= 0
    problems = RowProblems(table.files, table.lines)
    if rated.rater is None and reading.rater is not None:
        is_named = is_named & reading.rater.has_cell
        no_rater = is_rating & ~reading.rater.has_cell
        message, remedy = "a rating without a rater", "Fill in who gave it, or remove the rating"
        problems.add(no_rater, reading.rater.name, message, remedy)
    header = reading.items[0].name if reading.items else "item"
    message, remedy = "a rating without an item", "Fill in what was rated, or remove the rating"
    problems.add(is_rating & (items < 0), header, message, remedy)
    if reading.question is not None:
        no_question = is_rating & ~reading.question.has_cell
        is_named = is_named & reading.question.has_cell
        message, remedy = "a rating without a question", "Fill in what was asked, or remove it"
        problems.add(no_question, reading.question.name, message, remedy)
    ratings.problems += problems.in_order()
    _note_blanks(ratings, table, column)
    rows = np.flatnonzero(is_rating & is_named)
    n_rows = len(rows)

    def cells(of: CodedColumn | None, default: str | None) -> "pd.Categorical[str]":
        if of is None:
            return coded(np.zeros(n_rows, dtype=np.int8), [default or ""])
        return coded(of.codes[rows], of.values)

    rater, run = reading.rater if rated.rater is None else None, reading.run
    if judge is not None and rater is not None and rater.origin is Origin.POSITION:
        rater, run = None, rater  # a list in a judge's file
    raters = cells(rater, rated.rater or judge or UNNAMED)
    flags = [
        _is_judge(str(name), reading, rated, options) or judge is not None
        for name in raters.categories
    ]
    if not options.rater:
        models = models_by_company([*map(str, raters.categories)])
        flags = [of or name in models for of, name in zip(flags, raters.categories, strict=True)]
    files, rounds = table.files, np.ones(n_rows)
    if reading.round is not None:
        # Who has no round in a name, such as Anna - round 2, rated in each of them.
        first = np.nan if reading.round.origin else 1.0
        numbers = np.append(np.nan_to_num(reading.round.numbers, nan=first), first)
        rounds = numbers[reading.round.codes[rows]]
    # Lines of several sheets name theirs.
    of_sheets = any(isinstance(line, SheetLine) for line in table.lines[:1])
    lines: npt.NDArray[Any] = np.array(table.lines, dtype=object if of_sheets else np.int64)[rows]
    return pd.DataFrame(
        {
            "item": coded(items[rows], item_names),
            "question": cells(reading.question, rated.question),
            "rater": raters,
            "run": cells(run, rated.run),
            "cell": cells(column, None),
            "at": cells(reading.time, None),
            "round": rounds,
            "order": rows,
            "file": coded(files.codes[rows], files.values),
            "line": lines,
            "column": cells(None, column.name),
            "is_judge": np.array([*flags, False])[raters.codes],
        },
        copy=False,
    )


def coded(codes: npt.NDArray[Any], names: Sequence[str] | pd.Index) -> "pd.Categorical[str]":
    """Return a column of the names that codes stand for."""
    index = names if isinstance(names, pd.Index) else pd.Index(np.array([*names]), dtype=object)
    column: pd.Categorical[Any] = pd.Categorical.from_codes(codes, index, validate=False)
    return column


def items_of_rows(reading: Reading, rated: RatedColumn) -> tuple[npt.NDArray[np.integer], pd.Index]:
    """Return the code of each row's item, below 0 without one, and the names of items."""
    table, columns = reading.table, reading.items
    if rated.item is not None:
        return np.zeros(len(table), dtype=np.int8), pd.Index([rated.item], dtype=object)
    if not columns:
        names = [f"row {line}" for line in table.lines]
        if len(set(names)) < len(names):  # parts of records that share their line
            names = [f"part {number}" for number in range(1, len(names) + 1)]
        return np.arange(len(table), dtype=np.int32), pd.Index(names, dtype=object)
    if len(columns) == 1:
        return columns[0].codes, pd.Index(columns[0].values, dtype=object)
    codes, distinct = pd.factorize(combined(columns))
    first = np.zeros(len(distinct), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    texts = [column.take(first).texts() for column in columns]
    names = [" / ".join(filter(None, parts)) for parts in zip(*texts, strict=True)]
    is_blank = np.array([not name for name in names])
    # Parts that are blank in some rows may make two items of one name.
    unique = list(dict.fromkeys(names))
    place = {name: k for k, name in enumerate(unique)}
    of_code = np.where(is_blank, -1, np.array([place[name] for name in names]))
    return of_code[codes], pd.Index(unique, dtype=object)


def _is_judge(name: str, reading: Reading, rated: RatedColumn, options: ReadOptions) -> bool:
    """Return whether a rater is a judge: named by an option or its column, or like a model."""
    folded = name.casefold()
    if folded in {judge.casefold() for judge in options.judge}:
        return True
    if folded in {rater.casefold() for rater in options.rater}:
        return False
    if rated.rater is not None:
        return rated.is_judge
    return reading.judges_only or name in reading.judges or who(name) is Who.JUDGE


def _note_blanks(ratings: CollectedRatings, table: CodedTable, column: CodedColumn) -> None:
    """Note words that are read as no rating; many may be the middle of a scale."""
    words = np.flatnonzero(~column.is_rating)
    ratings.n_cells += column.n_cells
    n_cells = int(column.counts[words].sum())
    names = listed_briefly([quoted(column.values[code]) for code in words.tolist()])
    is_named = all(column.values[k].casefold() in column.missing_values for k in words.tolist())
    undecided = [k for k in words.tolist() if column.values[k].casefold() not in ABSENT]
    if not is_named and column.counts[undecided].sum() > _MOST_UNDECIDED * column.n_cells:
        n_all = column.n_cells
        message = f"{names} fill {n_cells} of {n_all} cells, and may be a value of the scale"
        option = option_text(table, "missing-values", column.values[undecided[0]])
        remedy = f"Pass {option} if it means no rating, or --scale SCALE"
        remedy += " with the values that raters saw"
        ratings.problems.append(InputProblem(table.file, None, column.name, message, remedy))
        return
    ratings.unrated.update({column.values[k]: int(column.counts[k]) for k in words.tolist()})


# Each rating once.


def without_copies(ratings: CollectedRatings, remedy: str) -> None:
    """Keep one rating of each unit and rater: the latest by round, then by time.

    Without either, equal ones are one, and different ones a problem. The notes count the others.
    """
    rows = ratings.rows
    unit = [rows[name].cat.codes for name in _UNIT]
    # What nobody rated twice are no rounds, but days or sessions.
    if rows["round"].min() < rows["round"].max() and pd.concat(unit, axis=1).duplicated().any():
        unit = unit[:2]
        is_earlier = rows["round"] < rows["round"].groupby(unit).transform("max")
        n_earlier = int(is_earlier.sum())
        rows = rows[~is_earlier]
        note = f"{counted(n_earlier, 'rating')} of earlier rounds: the latest counts"
        ratings.notes += [note] * bool(n_earlier)
    codes = np.zeros(len(rows), dtype=np.int64)
    for name in _UNIT:
        codes = codes * (len(rows[name].cat.categories) + 1) + rows[name].cat.codes.to_numpy()
    is_copied = pd.Series(codes).duplicated(keep=False).to_numpy()
    if is_copied.any():
        last = _latest(ratings, rows[is_copied], codes[is_copied], remedy)
        is_kept = ~is_copied
        is_kept[np.flatnonzero(is_copied)[last]] = True
        rows = rows[is_kept]
    ratings.rows = rows.reset_index(drop=True)


def _latest(
    ratings: CollectedRatings, copies: pd.DataFrame, unit: npt.NDArray[np.int64], remedy: str
) -> npt.NDArray[np.int64]:
    """Return the positions of the ratings that count among second ones."""
    times = _times(copies["at"])
    order = np.lexsort((copies["order"].to_numpy(), times, unit))
    last = order[np.append(unit[order][1:] != unit[order][:-1], True)]
    group = pd.factorize(unit)[0]
    frame = pd.DataFrame({"group": group, "time": times, "value": copies["value"].to_numpy()})
    per_unit = frame.groupby("group")
    is_equal = per_unit["value"].nunique(dropna=False).to_numpy() == 1
    has_times = (per_unit["time"].nunique() == per_unit["time"].size()).to_numpy()
    n_equal = int(per_unit["value"].size().to_numpy()[is_equal & ~has_times].sum())
    n_equal -= int((is_equal & ~has_times).sum())
    n_later = len(copies) - len(last) - n_equal
    if n_equal:
        ratings.notes.append(f"{counted(n_equal, 'rating')} given twice: counted once")
    is_conflict = ~is_equal & ~has_times
    if is_conflict.any():
        first: dict[int, pd.Series] = {}
        conflicts = copies[is_conflict[group]].iterrows()
        for code, (_, row) in zip(unit[is_conflict[group]].tolist(), conflicts, strict=True):
            if (earlier := first.setdefault(code, row)) is row:
                continue
            question = f" on {quoted(row['question'])}" if row["question"] else ""
            message = (
                f"a second rating of {quoted(row['item'])}{question} by {quoted(row['rater'])}, "
                f"the first is {earlier['file']}:{earlier['line']}"
            )
            place = row["file"], row["line"], row["column"]
            ratings.problems.append(InputProblem(*place, message, remedy))
    elif n_later:
        ratings.notes.append(f"{counted(n_later, 'second submission')}: the later one counts")
    return np.sort(last)


def _times(cells: pd.Series) -> npt.NDArray[np.float64]:
    """Return times as numbers, NaN without one; 13/02 tells that the day is first."""
    texts = cells.astype(object).where(cells != "", None)
    first = pd.to_numeric(texts.str.extract(r"^(\d{1,2})[/.]\d{1,2}[/.]\d{4}")[0])
    times = pd.to_datetime(
        texts,
        errors="coerce",
        format="mixed",
        utc=True,
        dayfirst=bool((first > 12).any()),  # noqa: PLR2004
    )
    if times.isna().all():
        return pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    return np.where(times.isna(), np.nan, times.astype("int64").to_numpy(dtype=float))


# Names of raters.


def with_one_spelling(ratings: CollectedRatings, rater: Mapping[str, str]) -> None:
    """Write addresses in lower case; other names that look alike are a problem.

    `rater` is the column of the raters in each file.
    """
    rows = ratings.rows
    names = [str(name) for name in rows["rater"].cat.categories]
    folded = [name.casefold() if "@" in name else name for name in names]
    if folded != names:
        places = pd.Index(dict.fromkeys(folded))
        codes = places.get_indexer(pd.Index(folded))[rows["rater"].cat.codes.to_numpy()]
        rows["rater"] = pd.Categorical.from_codes(codes, places)
    present = rows["rater"].cat.remove_unused_categories().cat.categories
    for alike, message in look_alikes(map(str, present)):
        row = rows[rows["rater"] == alike[-1]].iloc[0]
        place = row["file"], row["line"], rater.get(str(row["file"]))
        ratings.problems.append(InputProblem(*place, message, ONE_SPELLING))


# The tables.


def frame_of_ratings(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return ratings of people in `RATING_COLUMNS`, or scores of judges in `SCORE_COLUMNS`."""
    times = [in_utc(str(time)) if time else None for time in rows["at"].cat.categories]
    in_order = pd.Index([*times, None], dtype=object)
    lines = rows["line"]
    sheets = [getattr(line, "sheet", "") for line in lines] if lines.dtype == object else []
    rater = rows["rater"].cat.remove_unused_categories()
    coded = ("item", "question", "file", "column")
    cells = {name: rows[name].cat.remove_unused_categories() for name in coded} | {
        "rater": rater,
        "judge": rater,
        "run": rows["run"],
        "value": rows["value"],
        "labelled_at": in_order.take(rows["at"].cat.codes.to_numpy()),
        "sheet": pd.Categorical(sheets or np.repeat("", len(rows))),
        "line": lines,
    }
    return pd.DataFrame({name: cells[name] for name in columns}).reset_index(drop=True)
