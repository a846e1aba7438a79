"""The page and the Markdown hold whatever the data say, and nothing but it."""

import re

import pytest

from eval_assets.evaluation import RubricQuestion
from eval_assets.report import render_html, render_markdown
from eval_assets.report.markdown import escape_markdown
from eval_assets.scale import LIKERT5
from tests.unit.report.builder import Case, Measured, twelve_questions
from tests.unit.report.page import Page

ATTACK = (
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>\n\n# Big|cell `code` {{ 7*7 }} 'x"
)
LONG = "A sentence that goes on. " * 400


def attacked() -> Case:
    """A case in which every text that comes from data tries to become markup."""
    question = RubricQuestion(ATTACK, ATTACK, LIKERT5, "ordinal")
    findings = (("pattern", ATTACK), ("suggestion", ATTACK))
    return Case(
        measured=(Measured(question, findings=findings),),
        name=ATTACK,
        prompt_text=ATTACK,
        response_text=ATTACK,
        rater=ATTACK,
        model=ATTACK,
        statuses=((ATTACK, ATTACK, 5), ("gpt", "ok", 3)),
    )


CASES = {
    "plain": Case(),
    "attacked": attacked(),
    "twelve questions": Case(measured=twelve_questions()),
    "no judges": Case(judges=(), statuses=()),
    "long text": Case(response_text=LONG),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_page_is_well_formed_and_needs_nothing_from_outside(case: Case) -> None:
    page = Page(render_html(case.data()))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "link", "iframe", "object", "base", "form"}
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "src" not in attributes
        if href := attributes.get("href"):
            assert href.startswith("#")
    assert not re.search(r"url\(|@import", render_html(case.data()).split("</style>")[0])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_page_can_be_read_without_seeing_it(case: Case) -> None:
    page = Page(render_html(case.data()))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        if target := attributes.get("aria-labelledby"):
            assert target in ids
        if (href := attributes.get("href")) is not None:
            assert href.removeprefix("#") in ids
    assert all(heading.get("scope") for heading in page.all("th"))
    for picture in page.all("svg"):
        if picture.get("role") == "img":
            assert picture["aria-label"]
    assert {attributes.get("lang") for attributes in page.all("html")} == {"en"}


def test_texts_from_data_are_shown_as_they_are() -> None:
    page = Page(render_html(attacked().data()))
    assert ATTACK in page.text  # the whole response, line ends included
    assert "{{ 7*7 }}" in page.text
    labels = [attributes.get("aria-label") or "" for attributes in page.all("div")]
    assert any("<script>" in label for label in labels)  # as text, in an attribute


def test_a_long_text_is_shortened_and_kept_whole_in_a_fold() -> None:
    html = render_html(Case(response_text=LONG).data())
    assert html.count("A sentence that goes on.") < 2 * 400
    assert LONG.strip() in Page(html).words
    assert LONG.strip() not in render_markdown(Case(response_text=LONG).data())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_row_of_a_markdown_table_has_the_columns_of_its_head(case: Case) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", render_markdown(case.data()), flags=re.MULTILINE)
    assert tables
    for table in tables:
        head, rule, *rows = table.splitlines()
        assert re.fullmatch(r"\|(?: -+:? \|)+", rule), table
        n_columns = {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, *rows)}
        assert len(n_columns) == 1, table


def test_markdown_holds_no_html_and_no_heading_from_data() -> None:
    markdown = render_markdown(attacked().data())
    assert not re.search(r"<\w|</", markdown)
    assert not re.search(r"(?<!\\)`", markdown)
    headings = [line for line in markdown.splitlines() if line.startswith("# ")]
    assert len(headings) == 1


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
