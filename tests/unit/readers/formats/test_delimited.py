import pytest

from eval_assets.errors import InputError
from eval_assets.readers.formats.delimited import parse_delimited
from eval_assets.readers.formats.table import FileTable


def parsed(text: str) -> FileTable:
    return parse_delimited(text, file="x.csv")


def refused(text: str) -> str:
    with pytest.raises(InputError) as raised:
        parsed(text)
    return str(raised.value)


def test_cells_stay_the_text_that_they_are() -> None:
    table = parsed("a,b\nN/A,None\nnan,\n 01 ,1.0\n")

    assert table.columns == {"a": ["N/A", "nan", " 01 "], "b": ["None", "", "1.0"]}


def test_each_row_knows_the_line_on_which_it_starts() -> None:
    """Two newlines in quotes, one of them CRLF, and a blank line, which is no row."""
    table = parsed('a,b\n1,"x\ny\r\nz"\n\n2,x\n')

    assert table.columns["b"] == ["x\ny\r\nz", "x"]
    assert list(table.lines) == [2, 6]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(newline: str) -> None:
    assert list(parsed(newline.join(["a", "1", '"2', '3"', "4"])).lines) == [2, 3, 5]


def test_newlines_of_two_cells_are_not_taken_for_one() -> None:
    """One cell ends in CR, the next begins with LF: two ends of lines, though CRLF is one."""
    assert list(parsed('a,b\n"x\r","\ny"\n3,4\n').lines) == [2, 5]


def test_lines_are_right_beyond_the_rows_that_are_read_at_once() -> None:
    """5,000 rows, every third of them of two lines: row k starts after k rows and k // 3 more."""
    rows = [f'{k},"{"x" if k % 3 else chr(10)}"\n' for k in range(5_000)]

    table = parsed("a,b\n" + "".join(rows))

    assert list(table.lines) == [2 + k + (k + 2) // 3 for k in range(5_000)]


def test_a_header_alone_is_a_table_without_rows() -> None:
    assert parsed("a,b\n").columns == {"a": [], "b": []}


def test_ragged_rows_are_set_aside_and_the_others_kept() -> None:
    table = parsed("a,b\n1,2\n3\n4,5,6\n7,8\n")

    assert table.columns == {"a": ["1", "7"], "b": ["2", "8"]}
    assert list(table.lines) == [2, 5]
    assert [str(problem) for problem in table.bad_rows] == [
        (
            "x.csv:3: the row has 1 cell, the header has 2. "
            "Give the row a cell for each column, and put quotes around text with commas."
        ),
        (
            "x.csv:4: the row has 3 cells, the header has 2. "
            "Give the row a cell for each column, and put quotes around text with commas."
        ),
    ]


def test_a_cell_may_be_longer_than_pythons_limit() -> None:
    long = "x" * 200_000

    assert parsed(f"a\n{long}\n").columns["a"] == [long]


def test_a_header_that_names_a_column_twice_is_refused() -> None:
    assert refused("a,b, a \n1,2,3\n") == (
        "x.csv:1:a: two columns have this name. Rename or remove one of them."
    )


def test_a_column_without_a_name_is_numbered() -> None:
    assert list(parsed("\na,,b\n1,2,3\n").columns) == ["a", "Unnamed: 1", "b"]


def test_text_without_a_header_is_refused() -> None:
    assert refused("\n\n") == "x.csv:1: there is no header. Name the columns in line 1."


def test_a_quote_that_is_never_closed_is_reported_where_it_opens() -> None:
    assert refused('a,b\n1,2\n3,"x\n4,y\n5,z\n') == (
        "x.csv:3: a quote is opened in this row and never closed. "
        'Put quotes around the whole cell and write a quote inside it twice, as in "a ""b"" c".'
    )


def test_text_behind_a_closing_quote_is_refused() -> None:
    assert refused('a,b\n1,"x" y\n').startswith("x.csv:2: the quotes in this row are broken")


def test_tabs_separate_the_columns_of_tsv() -> None:
    table = parse_delimited("a\tb\n1,5\t2\n", file="x.tsv")

    assert table.columns == {"a": ["1,5"], "b": ["2"]}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_splits_rows_as_the_header(delimiter: str) -> None:
    """The header of one column and the text of another hold all the other delimiters."""
    rows = [
        ["id", "How good, or bad; is it|then", "text"],
        ["1", "4", "a,b;c|d\te"],
        ["2", "5", ""],
    ]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)

    table = parsed(text)

    assert list(table.columns) == rows[0]
    assert table.columns["text"] == ["a,b;c|d\te", ""]


def test_text_in_unquoted_cells_does_not_decide_the_delimiter() -> None:
    table = parsed("id;text\n1;one, two, three\n2;four, five\n3;six\n")

    assert table.columns == {
        "id": ["1", "2", "3"],
        "text": ["one, two, three", "four, five", "six"],
    }


def test_one_column_is_not_split_by_the_commas_of_its_text() -> None:
    table = parsed("prompt_text\nHello\n")

    assert table.columns == {"prompt_text": ["Hello"]}


def test_excels_line_that_names_the_delimiter_is_not_a_row() -> None:
    table = parsed("sep=;\nid;rating\na1;4\n")

    assert table.columns == {"id": ["a1"], "rating": ["4"]}
    assert list(table.lines) == [3]


def test_rows_and_columns_without_content_are_not_part_of_the_table() -> None:
    """Spreadsheets write commas for every row and column that was ever touched."""
    table = parsed("id,rating,,\na1,4,,\n,,,\na2,5,,,,\n , ,,\n")

    assert table.columns == {"id": ["a1", "a2"], "rating": ["4", "5"]}
    assert (list(table.lines), table.bad_rows) == ([2, 4], ())


def test_the_index_that_pandas_writes_is_not_a_column() -> None:
    assert parsed(",id\n0,a1\n1,a2\n").columns == {"id": ["a1", "a2"]}


def test_a_title_above_the_header_is_not_read() -> None:
    table = parsed("Ratings of 2026,,\n\n,,\nid,anna,ben\na1,4,5\n")

    assert table.columns == {"id": ["a1"], "anna": ["4"], "ben": ["5"]}
    assert list(table.lines) == [5]
    assert table.notes == ("the header is in line 4; what stands above it is not read",)


def test_a_header_in_merged_cells_is_joined_with_the_row_below_it() -> None:
    table = parsed("item,anna,,ben,\n,tone,form,tone,form\na1,1,2,3,4\n")

    assert list(table.columns) == [
        "item",
        *("anna: tone", "anna: form", "ben: tone", "ben: form"),
    ]
    assert (list(table.lines), table.notes) == ([3], ("lines 1 and 2 read as one header",))


def test_a_first_row_of_texts_is_not_taken_for_a_second_header() -> None:
    table = parsed("id,prompt,,answer\na1,tone,form,tone\n")

    assert list(table.columns) == ["id", "prompt", "Unnamed: 2", "answer"]
    assert len(table) == 1


@pytest.mark.parametrize("words", ["skip,unsure", "x,y"])
def test_a_first_row_of_words_above_numbers_is_data(words: str) -> None:
    assert len(parsed(f"id,anna,ben\na1,{words}\na2,3,4\na3,4,4\n")) == 3


def test_rows_that_all_lack_the_last_cells_are_read_without_these_columns() -> None:
    """Batches of Mechanical Turk have no cells below Approve, and semicolons in a quoted cell."""
    rows = [f'"h{k}","Id:{k};Of:x;","w{k % 3}","{k % 2}"' for k in range(4)]
    table = parsed("\n".join(['"HITId","Note","WorkerId","Answer","Approve"', *rows]))

    assert table.columns["Answer"] == ["0", "1", "0", "1"]
    assert "Approve" not in table.columns
    assert table.notes == ("no row has a cell below Approve, the last in the header",)
