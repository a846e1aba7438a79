import pytest

from eval_assets.errors import InputError
from eval_assets.readers.formats.contents import content_of_json, table_of_json
from eval_assets.readers.formats.table import FileTable


def parse_json(text: str, *, file: str) -> FileTable:
    content = content_of_json(text, file=file, is_certain=True)
    assert content is not None
    return table_of_json(content)


def refused(text: str) -> str:
    with pytest.raises(InputError) as raised:
        parse_json(text, file="x.json")
    return str(raised.value)


def test_values_keep_their_kind_and_missing_keys_are_none() -> None:
    table = parse_json('[{"a": 1, "b": "N/A"}, {"a": true}, {"a": "1"}]', file="x.json")

    assert table.columns == {"a": [1, True, "1"], "b": ["N/A", None, None]}
    assert list(table.lines) == [1, 2, 3]


def test_one_object_is_one_row() -> None:
    assert parse_json('{"a": {"q": 1}}', file="x.json").columns == {"a": [{"q": 1}]}


def test_lines_that_are_not_objects_are_set_aside() -> None:
    table = parse_json('{"a": 1}\r\n{"a": \n[1]\n"x"\n3\nnull\n{"a": 2, "a": 3}\n', file="x.jsonl")

    assert table.columns == {"a": [1]}
    assert table.lines == [1]
    assert [str(problem) for problem in table.bad_rows] == [
        (
            "x.jsonl:2: the line is not JSON (Expecting value: line 1 column 7 (char 6)). "
            "Write one JSON object a line."
        ),
        "x.jsonl:3: the line is not JSON (a list, not an object). Write one JSON object a line.",
        "x.jsonl:4: the line is not JSON (text, not an object). Write one JSON object a line.",
        "x.jsonl:5: the line is not JSON (a number, not an object). Write one JSON object a line.",
        (
            "x.jsonl:6: the line is not JSON (true, false or null, not an object). "
            "Write one JSON object a line."
        ),
        'x.jsonl:7: the line is not JSON (key "a" is repeated). Write one JSON object a line.',
    ]


def test_unicode_line_separators_do_not_end_a_line() -> None:
    table = parse_json('{"a": "x\u2028y"}\n{"a": "z"}', file="x.jsonl")

    assert table.columns["a"] == ["x\u2028y", "z"]
    assert table.lines == [1, 2]


def test_text_that_is_not_json_is_reported_with_its_line() -> None:
    assert refused('[\n{"a": 1},\n{"a" 2}\n]') == (
        "x.json:3: the file is not usable JSON (Expecting ':' delimiter). "
        "Fix it, or export it again."
    )


def test_anything_but_objects_is_refused() -> None:
    remedy = "Write a list of objects, one a row."
    assert refused('[{"a": 1}, 2]') == f"x.json:2: this is a number, not an object. {remedy}"
    assert refused('"text"') == f"x.json: this is text, not an object. {remedy}"
    assert refused('{"a": 1, "a": 2}') == (
        'x.json: the file is not usable JSON (key "a" is repeated). Fix it, or export it again.'
    )
    assert refused("[" * 100_000) == (
        "x.json: the file is not usable JSON (nested too deeply). Fix it, or export it again."
    )


@pytest.mark.parametrize("text", [r'"x \ud800"', r'"x \uDC00"'])
def test_half_a_character_is_replaced(text: str) -> None:
    """DuckDB could not store it."""
    table = parse_json(f'{{"a": {text}}}\n{{"a": "\\ud83d\\ude00"}}\n', file="x.jsonl")

    assert table.columns == {"a": ["x \ufffd", "\U0001f600"]}
    assert not table.bad_rows
