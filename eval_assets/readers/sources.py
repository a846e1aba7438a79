"""Files of any kind, and data frames, as tables of columns.

The content of a file decides how it is read, and never its name.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress, product
from os.path import commonprefix
from pathlib import Path

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import FILE
from eval_assets.readers.columns import CodedColumn, CodedTable, Kind, Origin
from eval_assets.readers.formats import header_rows
from eval_assets.readers.formats.contents import FileContent
from eval_assets.readers.formats.files import files_below, is_working_file
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain
from eval_assets.readers.header_parts import name_and_number, parts_of_raters
from eval_assets.readers.json_documents import tables_of_document, tables_of_records
from eval_assets.readers.lists_in_cells import with_lists_unfolded
from eval_assets.readers.names import (
    Role,
    Who,
    is_first_name,
    may_be,
    names_id,
    share_of_people,
    who,
)
from eval_assets.readers.problems import listed_briefly
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings.table_reading import FRAME, MOST_QUESTIONS, form_of
from eval_assets.readers.summary_rows import without_references, without_summary_rows
from eval_assets.readers.ticked_columns import with_choices

_NO_TABLE = re.compile(
    r"(^|/)(\.|readme|evaluation\.ya?ml|licen[cs]es?)"
    r"|\.(ya?ml|md|py|sqlite|duckdb|html|png|jpe?g|pdf|log|docx?|zip|ipynb)$",
    re.IGNORECASE,
)


def files_in(paths: Sequence[Path]) -> list[Path]:
    """Return files, and those in folders that may hold ratings."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        runs = {path / "out"} if (path / FILE).is_file() else set()  # what a run made again
        files += [
            file
            for file in files_below(path, is_deep=True)
            if file.is_file()
            and runs.isdisjoint(file.parents)
            and not _NO_TABLE.search(file.relative_to(path).as_posix())
            and not is_working_file(file)
        ]
    return files


def tables_of(content: FileContent) -> list[CodedTable]:
    """Return the content of a file as tables of columns."""
    if content.document is None:
        several = len(content.tables) > 1
        tables = [
            replace(of, sheet=sheet if several or not of.document else of.sheet)
            for sheet, table in content.tables
            for of in _tables_of_rows(table)
        ]
        tables = [table for table in tables if len(table) or not several]
    elif content.lines is None:
        tables = tables_of_document(content.document, file=content.file)
    else:
        tables = tables_of_records(content.document, content.lines, file=content.file)
    return [
        replace(
            table,
            bad_rows=(*content.bad_rows, *table.bad_rows),
            notes=(*content.notes, *table.notes),
        )
        for table in tables
    ]


def with_words(table: CodedTable, options: ReadOptions) -> CodedTable:
    """Return the table whose columns know the words that mean no rating, and those of the scale."""
    table = _without_texts_of_questions(without_references(table, options.rater))
    missing = frozenset(word.casefold() for word in options.missing_values)
    if not missing and options.scale is None:
        return table
    scale = options.scale
    of_scale = frozenset(map(str.casefold, scale.words if scale and scale.words else ()))
    columns = [
        replace(
            column,
            missing_values=missing,
            values_of_scale=of_scale,
            is_on_scale=scale is not None
            and column.kind is Kind.NUMBER
            and column.who is not Who.UNKNOWN
            and bool(scale.spans(column.numbers[column.is_rating]).all()),
        )
        for column in table.columns
    ]
    return replace(table, columns=columns)


def _without_texts_of_questions(table: CodedTable) -> CodedTable:
    """Return the table without answers in free text to some questions, beside ratings of others."""
    few = [of for of in table.columns if len(of.values) <= MOST_QUESTIONS]
    questions = [of for of in few if of.origin is Origin.KEY or of.may_be(Role.QUESTION)]
    texts = [of for of in table.columns if of.kind is Kind.TEXT] if questions else []
    for column, question in product(texts, questions):
        cells, codes = column.texts(), range(len(question.values))
        parts = [CodedColumn.of("", [*cells[question.codes == code]]) for code in codes]
        in_words = [of.kind is Kind.TEXT for of in parts]
        if any(in_words) and any(of.can_rate for of in parts):
            cells[np.append(in_words, False)[question.codes]] = ""
            rated = CodedColumn.of(column.name, [*cells], level=column.level)
            columns = [rated if of is column else of for of in table.columns]
            note = f"not read: {listed_briefly([*compress(question.values, in_words)])}, free text"
            return replace(table, columns=columns, notes=(*table.notes, note))
    return table


def _tables_of_rows(table: FileTable) -> list[CodedTable]:
    """Return the tables of rows whose cells may be lists and objects."""
    is_nested = any(
        isinstance(value, list | dict | tuple)
        for cells in table.columns.values()
        for value in cells.values[:50]
    )
    if not is_nested:
        whole = _filled_down(without_summary_rows(CodedTable.of(table)))
        return with_lists_unfolded(with_choices(whole))
    rows = zip(*table.columns.values(), strict=True)
    records = [dict(zip(table.columns, row, strict=True)) for row in rows]
    return tables_of_records(records, table.lines, file=table.file)


def content_of_frame(frame: pd.DataFrame) -> FileContent:
    """Return the content of a data frame; an index that is more than a count is a column."""
    is_count = pd.api.types.is_integer_dtype(frame.index.dtype)  # also of some rows of a frame
    if frame.index.name is not None or not is_count:
        frame = frame.reset_index(names=[name or "item" for name in frame.index.names])
    # Labels of several levels are joined as a survey joins them.
    labels = [of if isinstance(of, tuple) else (of,) for of in frame.columns]
    headers = [": ".join(str(part) for part in of if str(part)) for of in labels]
    names, notes = header_rows.numbered_names(headers)
    cells = [FileColumn.of([*map(_cell, frame.iloc[:, k].tolist())]) for k in range(len(names))]
    header = header_rows.Header(names, None, 0, tuple(notes))
    columns = header_rows.named_columns(header, cells, file=FRAME)
    lines = range(1, len(frame) + 1)
    return FileContent(FRAME, tables=(("", FileTable(FRAME, columns, lines, notes=tuple(notes))),))


def _cell(cell: object) -> object:
    """Return a cell as CSV has it; lists and objects stay, which only JSON has."""
    if isinstance(cell, str | list | dict | tuple):
        return cell
    is_missing = cell is None or cell is pd.NA or cell is pd.NaT or cell != cell  # noqa: PLR0124 - NaN
    return "" if is_missing else as_text(cell)


def _filled_down(table: CodedTable) -> CodedTable:
    """Return the table with merged cells of items or raters filled down."""
    columns, notes = [], []
    for column in table.columns:
        n_blank = len(table) - column.n_cells
        peers = [of for of in table.columns if of is not column]
        is_merged = (
            len(table) > 0
            and column.has_cell[0]
            and n_blank >= max(3, 0.33 * len(table))
            and may_be(column.name, Role.ITEM, Role.RATER, Role.SYSTEM)
            and not may_be(column.name, Role.TEXT)
            and (column.kind is not Kind.NUMBER or _is_above_blanks(column))
            and (not may_be(column.name, Role.RATER) or n_blank >= column.n_cells)
            and not any(_names_the_rest(of, column) for of in peers)
        )
        if not is_merged:
            columns.append(column)
            continue
        rows = np.maximum.accumulate(np.where(column.has_cell, np.arange(len(table)), 0))
        columns.append(column.take(rows))
        notes.append(f"blank cells of {column.name} read as the cell above")
    return replace(table, columns=columns, notes=(*table.notes, *notes)) if notes else table


def _names_the_rest(column: CodedColumn, blank: CodedColumn) -> bool:
    """Return whether a column has a rater in all rows without one, or an id in each row."""
    if may_be(blank.name, Role.RATER):
        return column.kind is Kind.WORD and bool((column.has_cell != blank.has_cell).all())
    is_id = names_id(column.name) and may_be(column.name, Role.ITEM)
    are_many = len(column.values) == len(column) > 12  # of fewer rows an id says little
    return is_id and are_many and column.kind is not Kind.NUMBER


def _is_above_blanks(column: CodedColumn) -> bool:
    """Return whether distinct ids of items stand above equally many blank cells each."""
    starts = np.flatnonzero(column.has_cell)
    n_rows = np.diff([*starts, len(column)])
    is_id = may_be(column.name, Role.ITEM) and len(column.values) == len(starts)
    return is_id and bool((n_rows == n_rows[0]).all())


# Several tables of one form are one.

_OF_PIVOTS = ("Row Labels", "(blank) Total")


def joined_tables(tables: Sequence[CodedTable]) -> list[CodedTable]:
    """Return tables with the same columns as one, with a column for what tells them apart.

    Pivot tables of Excel hold counts.
    """
    groups: list[list[CodedTable]] = []
    for table in tables:
        group = next((of for of in groups if _is_same_form(of[0], table)), None)
        if group is None:
            groups.append([table])
        else:
            group.append(table)
    n_tables = Counter(table.file for table in tables)
    firsts = [group[0] for group in groups]
    places = [of.sheet if n_tables[of.file] > 1 else Path(of.file).stem for of in firsts]
    people = _people_of_places(places) or _people_of_headers(dict(zip(places, firsts, strict=True)))
    joined = [_joined(of, people.get(name, "")) for of, name in zip(groups, places, strict=True)]
    return [
        _with_rounds_apart(table)
        for table in joined
        if (len(table) > 1 or not table.document) and not any(map(table.find, _OF_PIVOTS))
    ]


def _people_of_places(names: Sequence[str]) -> dict[str, str]:
    """Return the people whose names tell files or sheets apart, as ratings_kim and ratings_lou."""
    people = parts_of_raters(names) or {name: name for name in names if is_first_name(name)}
    are_people = len(people) > 1 and share_of_people({*people.values()}) == 1
    return people if are_people and any(map(is_first_name, people.values())) else {}


def _people_of_headers(tables: Mapping[str, CodedTable]) -> dict[str, str]:
    """Return the people by file whom the only column of ratings in each names, as anna_score."""
    headers: dict[str, str] = {}
    for place, table in tables.items():
        rated = [c.name for c in table.columns if c.can_rate and not c.may_be(Role.ITEM)]
        headers |= {place: rated[0]} if len(rated) == 1 else {}
    people = _people_of_places([*headers.values()])
    return {place: people[header] for place, header in headers.items() if header in people}


def _with_rounds_apart(table: CodedTable) -> CodedTable:
    """Return the table with rounds and runs apart from names of raters, as in Anna - round 2."""
    columns: list[CodedColumn] = []
    for column in table.columns:
        is_of_raters = column.origin in (Origin.FILE, Origin.SHEET) or column.may_be(Role.RATER)
        if not is_of_raters or len(column.values) > 1000:
            columns.append(column)
            continue
        names = [name_and_number(value) for value in column.values]
        stems = [of[0] if of else value for of, value in zip(names, column.values, strict=True)]
        is_numbered = len(set(stems)) < len(stems)
        kinds = {of[1].name.lower() for of in names if of}
        if not is_numbered or len(kinds) != 1 or any(table.find(kind) for kind in kinds):
            columns.append(column)
            continue
        numbers = np.array([of[2] if of else "" for of in names] + [""])[column.codes]
        if any(stems):
            cells = np.array([*stems, ""])[column.codes]
            columns.append(column.with_cells(cells.tolist()))
        part = CodedColumn.of(next(iter(kinds)), numbers.tolist(), level=column.level)
        columns.append(replace(part, origin=Origin.KEY))
    return replace(table, columns=columns)


def _is_same_form(table: CodedTable, other: CodedTable) -> bool:
    names, other_names = ({plain(c.name) for c in of.columns} for of in (table, other))
    # A file with raters and one without are of people and a judge.
    if any(may_be(name, Role.RATER) for name in names ^ other_names):
        return False
    is_alike = len(names & other_names) / max(1, len(names | other_names)) >= 0.8
    # Raters may each have a sheet of the numbers that they rated: Use 1 and 2, or Use 2 and 5.
    forms, further = ({form_of(plain(c.name)) for c in of.columns} for of in (table, other))
    are_people = who(table.sheet) is who(other.sheet) is Who.HUMAN and table.file == other.file
    is_alike |= are_people and len(forms & further) >= 0.8 * min(len(forms), len(further))
    is_same_place = table.sheet == other.sheet or not table.document
    # A table of parts repeats what stands above them.
    depths = {max((c.level for c in of.columns), default=0) for of in (table, other)}
    if max(depths) and (table.judge is None) != (other.judge is None):  # lists of each
        return False
    return is_alike and len(depths) == 1 and (is_same_place or table.file != other.file)


def _joined(tables: Sequence[CodedTable], person: str) -> CodedTable:
    """Return tables of one form as one; a single one is the person's whose name it has."""
    if len(tables) == 1:
        columns = tables[0].columns
        if not person or any(of.may_be(Role.RATER) for of in columns):
            return tables[0]
        prefix = re.compile(
            r"(?<![^\W_]){0}[ _.:-]+|[ _.:-]+{0}$|[ _.:-]*[(\[]{0}[)\]]".format(re.escape(person)),
            re.IGNORECASE,
        )
        columns = [replace(of, name=prefix.sub("", of.name)) for of in columns]  # kim_score
        part = CodedColumn.of(Origin.FILE.value, [person] * len(tables[0]))
        return replace(tables[0], columns=[*columns, replace(part, origin=Origin.FILE)])
    of_one_file = len({table.file for table in tables}) == 1
    parts = [table.sheet for table in tables] if of_one_file else _differing(tables)
    origin = Origin.SHEET if of_one_file else Origin.FILE
    columns = []
    for name in dict.fromkeys(column.name for table in tables for column in table.columns):
        same = [next((c for c in table.columns if c.name == name), None) for table in tables]
        cells = [
            np.full(len(table), "", dtype=object) if column is None else column.texts()
            for column, table in zip(same, tables, strict=True)
        ]
        first = next(filter(None, same))
        columns.append(first.with_cells(np.concatenate(cells).tolist()))
    sizes = [len(table) for table in tables]
    notes = [note for table in tables for note in table.notes]
    rated = [of for of in columns if of.kind is not Kind.EMPTY and not of.may_be(Role.TEXT)]
    are_ids = (of.may_be(Role.ITEM) and not of.may_be(Role.RATING) for of in rated)
    if not any(are_ids) and all(of.can_rate and of.n_distinct < max(sizes) for of in rated):
        # Sheets of raters without a column of items have the same ones in each row.
        are_raters = [who(of) in (Who.HUMAN, Who.JUDGE) or is_first_name(of) for of in parts]
        are_matched = len({*sizes}) == 1 and 2 * sum(are_raters) >= len(parts)
        rows = [f"row {n}" for size in sizes for n in range(1, size + 1)]
        columns[:0] = [CodedColumn.of("item", rows)] * are_matched
        text = "are matched by their number" if are_matched else "are items of their own"
        notes.append(f"no column names items: rows of {listed_briefly(parts)} {text}")
    part = CodedColumn.of(origin.value, np.repeat(np.array(parts, dtype=object), sizes).tolist())
    columns.append(replace(part, origin=origin))
    folders = [Path(table.file).parent.name for table in tables]
    if {*map(who, folders)} == {Who.HUMAN, Who.JUDGE}:  # humans/ beside judges/
        of_rows = np.repeat(np.array(folders, dtype=object), [*map(len, tables)])
        columns.append(replace(CodedColumn.of("folder", of_rows.tolist()), origin=Origin.KEY))
    files = FileColumn.of(np.repeat([table.file for table in tables], sizes).tolist())
    return CodedTable(
        columns,
        files,
        [line for table in tables for line in table.lines],
        document=tables[0].document,
        bad_rows=tuple(problem for table in tables for problem in table.bad_rows),
        notes=tuple(dict.fromkeys(notes)),
    )


def _differing(tables: Sequence[CodedTable]) -> list[str]:
    """Return the part of each path that tells it from the others, without what all share."""
    files = [table.file for table in tables]
    kinds = re.compile(r"(\.[A-Za-z]\w{0,6})+$")  # the .csv of gpt-4.1.csv
    parts = [[*Path(file).parts[:-1], kinds.sub("", Path(file).name)] for file in files]
    n_files = len(set(files))
    for k in range(1, max(map(len, parts)) + 1):
        names = [part[-k] if len(part) >= k else "" for part in parts]
        if len(set(names)) < n_files and _tell_raters(names, tables):
            return names
        if len(set(names)) == n_files:
            end = commonprefix([name[::-1] for name in names])[::-1]  # noqa: RUF071 - of letters
            if re.match(r"[_\-. ]", end):
                names = [name[: -len(end)] for name in names]
            start = commonprefix(names)  # noqa: RUF071 - of letters
            rest = [name[len(start) :] for name in names]
            is_shared = re.search(r"[_\-. ]$", start) and who(start) is not Who.JUDGE
            if is_shared and not any(map(str.isdigit, rest)):
                names = rest
            return names
    return list(files)


def _tell_raters(names: Sequence[str], tables: Sequence[CodedTable]) -> bool:
    """Return whether tables of one name are batches of the items that those of others have, too."""
    for column in tables[0].columns:
        values = Counter[tuple[str, str]]()
        for name, table in zip(names, tables, strict=True):
            of = table.find(column.name)
            is_id = of is not None and len(of.values) == len(table)
            values.update((name, value) for value in (of.values if of and is_id else ("", "")))
        n_items = len({value for _, value in values})
        if max(values.values()) == 1 and 2 * len(values) > 3 * n_items:
            return True
    return False
