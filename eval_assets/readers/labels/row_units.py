"""Items of the rows of a table, and sheets that are raters or questions."""

from collections.abc import Iterator, Sequence
from shlex import quote

from eval_assets.readers._problems import input_error, listed_briefly
from eval_assets.readers.formats.row_files import SHEET
from eval_assets.readers.formats.table import FileColumn, FileTable, plain
from eval_assets.readers.labels.headers import (
    ITEM_TEXT,
    QUESTION,
    QUESTION_OR_PROMPT,
    SHARED_ITEM,
    TEXT_COLUMNS,
    TURN,
    item_header,
    rater_header,
    rater_parts,
)
from eval_assets.readers.labels.validation import FIELDS
from eval_assets.readers.references import References, has_references, id_of, keys
from eval_assets.wording import listed

ONE_QUESTION = "rating"
_MOST_QUESTIONS = 40
_FEWEST_MERGED = 3
"""Blank cells from which on they are merged with those above, if they are a third of all."""


def items_of(table: FileTable, *, one_a_row: bool) -> References:
    """Return the item and question of each row; without a column of items, each row is one."""
    header = item_header(table)
    text = table.header_of(*ITEM_TEXT)
    texts = table.stripped(text) if text else None
    if texts is not None and len(set(texts)) < len(texts):
        if one_a_row and header == text:
            header = None  # two responses may have one text
        elif not one_a_row and header and len(set(table.columns[header])) == len(table):
            header = text  # the ids belong to ratings
    if header is not None:
        items = table.stripped(header)
    elif has_references(table):
        items = keys(table).map(id_of)
    elif one_a_row:
        items = FileColumn.of([f"row {line}" for line in table.lines])
    else:
        raise input_error(
            table.file, "no column says what is rated", _naming_of_items(table), line=1
        )
    question = table.header_of(*QUESTION)
    questions: FileColumn[str | None] = FileColumn.repeat(ONE_QUESTION, len(table))
    if question and question != header:
        named = table.stripped(question)
        n_questions = len(named.present())
        n_pairs = len(set(zip(items, named, strict=True)))
        is_one_to_one = 1 < n_questions == n_pairs == len(set(items))
        if is_one_to_one and plain(question) in QUESTION_OR_PROMPT:
            question = None
        elif any(named.present()) and n_questions <= _MOST_QUESTIONS:
            questions = named
    return References(items, questions, header, question or "question_id")


def _naming_of_items(table: FileTable) -> str:
    """Return how to name the items, with the columns of which each rater has every value once."""
    remedy, rater = "Name the column of the items response_id", rater_header(table)
    if rater is None:
        return remedy
    n_values = {header: len(table.stripped(header).present()) for header in table.columns}
    candidates = [
        header
        for header in sorted(n_values, key=lambda h: (n_values[h] == len(table), -n_values[h]))
        if header not in {rater, table.header_of(*FIELDS["rating"])}
        and are_units(table, header, rater)
    ]
    options = f"--item {quote(candidates[0] if candidates else 'COLUMN')}"
    command = f"eval-assets agreement {quote(table.file)} {options}"
    return f"{remedy}, or run: {command} (candidates: {listed_briefly(candidates) or 'none'})"


def are_units(table: FileTable, item: str, rater: str) -> bool:
    """Return whether no rater has a value of the column of items twice."""
    pairs = set(zip(table.stripped(item), table.stripped(rater), strict=True))
    return len(pairs) == len(table)


def filled_down(table: FileTable) -> FileTable:
    """Return the table with merged cells of items or raters filled down."""
    item, rater = item_header(table), rater_header(table)
    if item is None or rater is None or item == rater:
        return table
    columns, notes = dict(table.columns), []
    names = [item, *_parts_of_items(table), rater]
    for header in names:
        cells = table.stripped(header)
        n_blank = int(cells.is_none().sum())
        if n_blank >= max(_FEWEST_MERGED, len(cells) / 3) and cells[0] is not None:
            columns[header] = FileColumn.of(list(_repeated_in_blanks(cells)))
            notes.append(f"blank cells of {header} read as the cell above")
    if not notes:
        return table
    full = table.with_columns(columns, *notes)
    units = set(zip(*map(full.stripped, names), strict=True))
    return full if len(units) == len(table) else table


def _repeated_in_blanks(cells: Sequence[str | None]) -> Iterator[str | None]:
    last = None
    for cell in cells:
        last = last if cell is None else cell
        yield last


def sheet_roles(
    table: FileTable, headers: Sequence[str], *, raters: Sequence[str]
) -> list[FileTable]:
    """Return the table with its sheets as raters, questions, or parts of one table.

    Two tables if the names of sheets and columns leave open which are raters. `headers` are the
    columns of ratings, `raters` those that the user names.
    """
    if SHEET not in table.columns:
        return [table]
    sheets, rater = table.stripped(SHEET), rater_header(table)
    names = list(map(str, sheets.present()))
    columns = {header: cells for header, cells in table.columns.items() if header != SHEET}
    note = f"each sheet read as a {{}}: {listed_briefly(names)}"
    as_rater = {FIELDS["rater_id"][0]: sheets, **columns}
    by_raters = table.with_columns(as_rater, note.format("rater"))
    by_questions = table.with_columns({QUESTION[0]: sheets, **columns}, note.format("question"))
    if rater == SHEET and len(headers) <= 1:
        return [by_raters]
    item = item_header(table)
    units = list(
        zip(
            table.stripped(item) if item else table.lines,
            table.stripped(rater) if rater and rater != SHEET else names[:1] * len(table),
            strict=True,
        )
    )
    if len(set(units)) == len(set(zip(units, sheets, strict=True))):
        return [table.with_columns(columns, f"{len(names)} sheets read as one table")]
    if rater != SHEET:
        return [by_questions if table.header_of(*QUESTION) is None else table.with_columns(columns)]
    if raters:
        return [by_raters if set(raters) <= set(names) else by_questions]
    layouts = (by_raters, by_questions)
    return [layouts[part] for part in rater_parts(names, headers) or (0, 1)]


def with_joined_items(table: FileTable, further: Sequence[str]) -> FileTable:
    """Return the table with `further` columns joined to that of the items.

    Without any, it is the model if a prompt has several, and the turn if a conversation has.
    """
    header = item_header(table)
    if header is not None and further:
        return _joined_to(header, further, table)
    if header is None or header != table.header_of(*SHARED_ITEM):
        return table
    rater = rater_header(table)
    raters = table.stripped(rater) if rater else FileColumn.repeat(None, len(table))
    for part in _parts_of_items(table):
        items, parts = table.stripped(header), table.stripped(part)
        if (
            len(set(zip(items, raters, strict=True)))
            < len(table)
            == len(set(zip(items, parts, raters, strict=True)))
        ):
            return _joined_to(header, [part], table)
    return table


def _parts_of_items(table: FileTable) -> list[str]:
    """Return the columns that tell responses of one prompt, or of one conversation, apart."""
    names = (TEXT_COLUMNS["model_name"], TURN)
    return [header for of in names if (header := table.header_of(*of)) is not None]


def _joined_to(header: str, further: Sequence[str], table: FileTable) -> FileTable:
    parts = [table.stripped(name) for name in (header, *further)]
    cells = FileColumn.of([" / ".join(filter(None, of)) for of in zip(*parts, strict=True)])
    note = f"{listed([header, *further])} read together as what was rated"
    columns = {h: column for h, column in table.columns.items() if h not in further}
    return table.with_columns({**columns, header: cells}, note)
