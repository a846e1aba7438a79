"""The Markdown holds whatever the data say as text, in tables that hold together."""

import re

import pytest

from eval_assets.render.markdown import escape_markdown
from eval_assets.report.markdown import render_markdown
from tests.unit.report.builder import CASES, LONG, Case


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_row_of_a_table_has_the_columns_of_its_head(case: Case) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", render_markdown(case.data()), flags=re.MULTILINE)
    assert tables
    for table in tables:
        head, rule, *rows = table.splitlines()
        assert re.fullmatch(r"\|(?: -+:? \|)+", rule), table
        n_columns = {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, *rows)}
        assert len(n_columns) == 1, table


def test_data_bring_in_no_html_and_no_heading() -> None:
    markdown = render_markdown(CASES["attacked"].data())
    assert set(re.findall(r"<[^>]*>", markdown)) <= {
        *("<details>", "</details>", "<summary>", "</summary>"),
    }
    assert not re.search(r"(?<!\\)`", re.sub(r"<summary>.*</summary>", "", markdown))
    headings = [line for line in markdown.splitlines() if line.startswith("# ")]
    assert len(headings) == 1


def test_a_long_text_is_shortened() -> None:
    assert LONG.strip() not in render_markdown(CASES["long text"].data())


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("respects_autonomy", "respects_autonomy"),  # within a word it marks nothing
        ("_so_", r"\_so\_"),
        ("a__b", r"a\_\_b"),
        ("*so* **so** ~so~", r"\*so\* \*\*so\*\* \~so\~"),
        ("[a](b)", r"\[a\](b)"),
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("<i>&amp;", "&lt;i&gt;&amp;amp;"),
        ("- item", r"\- item"),
        ("-0.056", "-0.056"),
        ("---", r"\---"),
        ("# head", r"\# head"),
        ("1) item", r"1\) item"),
        ("0.703", "0.703"),
        ("a\r\n\tb", "a b"),
        ("https://example.org", r"https:\//example.org"),
        ("$x$ @you", r"\$x\$ \@you"),
    ],
)
def test_markdown_shows_a_text_as_it_is(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped
