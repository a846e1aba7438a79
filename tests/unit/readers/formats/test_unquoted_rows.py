import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.unquoted_rows import unquoted_columns

HEADER = "a,b\n"
CELL = st.text(st.sampled_from('abä√😀 \x0b\u2028x1"\r\t'), max_size=20) | st.text(
    st.characters(codec="utf-8", exclude_characters='\0"\r\n,'), min_size=60, max_size=80
)


@given(rows=st.lists(st.tuples(CELL, CELL)), end=st.sampled_from(["", "\n"]))
def test_columns_equal_those_of_a_reader_of_rows(rows: list[tuple[str, str]], end: str) -> None:
    text = HEADER + "\n".join(map(",".join, rows)) + end

    columns = unquoted_columns(text.encode(), start=len(HEADER), delimiter=",", n_columns=2)

    if columns is not None:
        table = parse_delimited(text, file="x.csv", delimiter=",")
        by_row = table.columns.values()
        assert [list(column) for column in columns] == [list(column) for column in by_row]
        assert [column.values for column in columns] == [column.values for column in by_row]
        assert list(table.lines) == list(range(2, 2 + len(columns[0])))


@pytest.mark.parametrize(
    "body",
    [
        'r1,"4"',
        "r1,4\r\nr2,5",
        "r1,4\r",
        "r1",
        "r1,4,5",
        "r1,4\n\nr2,5",
        " ,\nr2,5",
        "r1,4\0",
        "r1\nr,1,4",
    ],
)
def test_rows_that_need_a_reader_are_left_to_it(body: str) -> None:
    data = (HEADER + body).encode()

    assert unquoted_columns(data, start=len(HEADER), delimiter=",", n_columns=2) is None


@pytest.mark.parametrize(("delimiter", "n_columns"), [("§", 2), (",", 1)])
def test_other_tables_are_left_to_a_reader(delimiter: str, n_columns: int) -> None:
    data = f"a{delimiter}b\n1{delimiter}2\n".encode()

    assert unquoted_columns(data, start=0, delimiter=delimiter, n_columns=n_columns) is None


def test_a_large_file_is_read_like_one_with_quotes() -> None:
    """Several blocks of bytes, with cells that come back in a later one."""
    rows = [f"response {n // 3},{'a' * (n % 70)},{n % 5 or ''}\n" for n in range(90_000)]
    text = f"ratings of July,,\nid,note,rating\n{''.join(rows)}"

    plain, with_quotes = (
        parse_delimited(text + last, file="x.csv", delimiter=",")
        for last in ("r,x,2\n", 'r,"x",2\n')
    )

    assert len(text) > 4_000_000
    assert plain.columns == with_quotes.columns
    assert list(plain.lines) == list(with_quotes.lines)
    assert plain.notes == with_quotes.notes
    assert {name: column.values for name, column in plain.columns.items()} == {
        name: column.values for name, column in with_quotes.columns.items()
    }


def test_a_large_file_with_lines_of_old_macs_is_read() -> None:
    text = "id,rating\r" + "".join(f"response {n},{n % 5}\r" for n in range(90_000))

    table = parse_delimited(text, file="x.csv", delimiter=",")

    assert len(table.lines) == 90_000
    assert list(table.columns["rating"].values) == ["0", "1", "2", "3", "4"]
