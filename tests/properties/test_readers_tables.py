"""Whatever text a file holds, reading it gives the same text back."""

import csv
import io
import json
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import content_of_json, table_of_json
from eval_assets.readers.formats.delimited import parse_delimited

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.text(
    st.sampled_from('\r\n",a')
)
CELLS = st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=8)
VALUES = st.none() | st.booleans() | st.integers() | TEXT


def is_filled(row: tuple[str, ...]) -> bool:
    """Whether any cell holds more than blanks; other rows are what spreadsheets leave behind."""
    return any(cell.strip() for cell in row)


@given(rows=CELLS, newline=st.sampled_from(["\n", "\r\n"]), delimiter=st.sampled_from(",\t"))
def test_text_written_as_csv_is_read_back(
    rows: list[tuple[str, str, str]], newline: str, delimiter: str
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=newline, quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b", "c"), *rows])

    table = parse_delimited(file.getvalue(), file="x.csv")

    assert list(zip(*table.columns.values(), strict=True)) == list(filter(is_filled, rows))
    assert table.bad_rows == ()


@given(rows=CELLS)
def test_each_row_starts_on_the_line_that_is_reported(rows: list[tuple[str, str, str]]) -> None:
    """The lines before a row are those of the text that was written before it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(("a", "b", "c"))
    starts = []
    for row in rows:
        written = io.StringIO(file.getvalue(), newline="")
        if is_filled(row):
            starts.append(sum(1 for _ in written) + 1)
        writer.writerow(row)

    table = parse_delimited(file.getvalue(), file="x.csv")
    assert list(table.lines) == starts


@given(rows=st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), max_size=8))
def test_values_written_as_json_are_read_back(rows: list[dict[str, object]]) -> None:
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)

    for text in (lines, json.dumps(rows)):
        content = content_of_json(text or "[]", file="x.json", is_certain=True)
        assert content is not None
        table = table_of_json(content)
        cells = zip(table.columns.get("a", []), table.columns.get("b", []), strict=True)
        assert [{"a": a, "b": b} for a, b in cells] == rows


@settings(max_examples=300)
@given(text=st.text(st.sampled_from('a",\n\r ')))
def test_text_of_any_kind_is_read_or_refused_with_a_place(text: str) -> None:
    """No other error than ours: columns are equally long, and lines ascend."""
    table = None
    with suppress(InputError):
        table = parse_delimited(text, file="x.csv")

    if table is not None:
        assert {len(column) for column in table.columns.values()} == {len(table.lines)}
        assert list(table.lines) == sorted(set(table.lines))
