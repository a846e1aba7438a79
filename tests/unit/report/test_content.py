"""The whole report: every section in its place, on whatever was measured."""

import hashlib
import json
import math
import re
from base64 import b64encode
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from eval_assets.render.markdown import escape_markdown
from eval_assets.report.content import render_html, render_json, render_markdown, report_content
from eval_assets.report.sections.cautions import cautions
from tests.unit.report.builder import (
    ATTACK,
    CASES,
    LONG,
    QUESTIONS,
    Case,
    Measured,
    many_disagreements,
    twelve_questions,
    with_tables,
)
from tests.unit.report.page import Page


def test_the_answer_comes_first() -> None:
    data = Case().data()
    answer = report_content(data).first.answer

    assert render_markdown(data).splitlines()[2] == f"**Can the judges be trusted? {answer}.**"
    assert answer in Page(render_html(data)).words[:250]


def test_sections_without_content_are_left_out() -> None:
    full = [section.anchor for section in report_content(Case().data()).sections]
    bare = [
        section.anchor for section in report_content(Case(judges=(), statuses=()).data()).sections
    ]

    assert full == [
        *("gates", "humans", "judges", "judge-human", "disagreements", "scores", "glossary"),
    ]
    assert bare == ["gates", "humans", "disagreements", "scores", "glossary"]


def test_a_report_on_empty_tables_says_what_to_run() -> None:
    """As on a database in which nothing but the inputs is measured."""
    data = Case().data()
    bare = replace(data, gates=(), tunable=(), humans=(), judges=(), scores=(), tables={}, sizes={})

    sentence = "Nothing is measured yet. Run eval-assets run --data conala."
    assert sentence in render_markdown(bare)
    assert sentence in Page(render_html(bare)).words


def test_both_formats_show_every_question_and_figure() -> None:
    data = Case(measured=twelve_questions()).data()
    page, markdown = Page(render_html(data)).words, render_markdown(data)

    for question in data.evaluation.rubric:
        assert question.id in page
        assert f"### {question.id}" in markdown
    for row in data.humans:
        assert f"{row.alpha.value:.3f}" in page
        assert f"{row.alpha.value:.3f}" in markdown


def test_the_same_data_make_the_same_report() -> None:
    assert render_html(Case().data()) == render_html(Case().data())
    assert render_markdown(Case().data()) == render_markdown(Case().data())
    assert "Made 2026-11-21 04:30 UTC" in render_markdown(Case().data())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_page_is_well_formed_and_needs_nothing_from_outside(case: Case) -> None:
    page = Page(render_html(case.data()))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "link", "iframe", "object", "base", "form"}
    assert len(page.all("script")) == 1
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


def test_the_policy_allows_the_one_script_by_its_hash() -> None:
    html = render_html(Case().data())
    [script] = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    expected = b64encode(hashlib.sha256(script.encode()).digest()).decode()

    [policy] = [
        meta["content"] or ""
        for meta in Page(html).all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{expected}'",
    ]


def test_texts_from_data_are_shown_as_they_are() -> None:
    page = Page(render_html(CASES["attacked"].data()))
    assert ATTACK in page.text  # the whole response, line breaks included
    assert "{{ 7*7 }}" in page.text
    labels = [attributes.get("aria-label") or "" for attributes in page.all("div")]
    assert any("<script>" in label for label in labels)  # as text, in an attribute


def test_a_name_may_break_after_a_word_and_not_after_a_letter() -> None:
    named = replace(QUESTIONS[0], id="trigger_accuracy")
    page = render_html(Case(measured=(Measured(named),)).data())
    assert ">trigger_<wbr>accuracy<" in page


def test_an_undefined_figure_is_never_shown_as_nan_or_none() -> None:
    words = Page(render_html(CASES["undefined"].data())).words
    assert "undefined not evaluable" in words
    assert not {"nan", "NaN", "None"} & set(words.split())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_headings_skip_no_level(case: Case) -> None:
    runs = [("2026-11-18", 0.95), ("2026-11-19", 0.88)]
    history = pd.DataFrame(
        {
            "measured_at": [time for time, _ in runs],
            "a_hh": [a_hh for _, a_hh in runs],
            "data_version": [time for time, _ in runs],
        }
    )
    html = render_html(with_tables(case.data(), agreement_history=history))
    levels = [int(level) for level in re.findall(r"<h(\d)", html)]

    assert "Agreement over time" in html
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_longest_lists_of_the_longest_texts_stay_under_three_megabytes() -> None:
    """Lists are cut to their first 200 rows, however many responses there are."""
    data = many_disagreements(200)
    row = {
        "judge_id": "gpt",
        "question_id": "clarity",
        "model_name": "fern-small",
        "direction": "judge lower",
        "human_mean": 4.5,
        "score": 1.0,
        "difference": -3.5,
    }
    far = pd.DataFrame([row | {"response_id": f"resp-{k}"} for k in range(200)])
    texts = {"prompt_text": "Why? " * 10_000, "response_text": "Because. " * 10_000}
    disagreements = data.tables["label_disagreements"].assign(**texts)
    data = with_tables(
        data,
        label_disagreements=disagreements,
        judge_human_disagreements=far.assign(**texts),
    )

    assert len(render_html(data).encode()) < 3_000_000


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


def test_sentences_are_those_of_the_page() -> None:
    data = Case().data()
    content, first = json.loads(render_json(data)), report_content(data).first

    assert (content["answer"], content["next"]) == (first.answer, first.next_step.text)
    assert [gate["sentence"] for gate in content["gates"]] == [cell.text for cell in first.gates]
    assert [judge["judge_id"] for judge in content["judges"]] == ["gpt", "haiku"]
    assert content["judge_set_fingerprint"]
    assert [judge["judge_id"] for judge in content["judge_counts"]] == ["gpt", "haiku"]
    assert isinstance(content["results_by_model"], list)


def test_figures_are_unrounded_and_undefined_ones_are_null() -> None:
    case = Case(measured=(Measured(QUESTIONS[0], a_hh=2 / 3, alpha=math.nan),))
    question = json.loads(render_json(case.data()))["human_agreement"][1]

    assert question["a_hh"] == 2 / 3
    assert question["alpha"] is None
    assert question["n_responses"] == 80


def test_tables_of_all_sections_are_in_the_json() -> None:
    certificate = {"judge_id": "gpt", "fitness": "fit", "created_at": pd.Timestamp("2026-11-21")}
    data = with_tables(Case().data(), judge_certificates=pd.DataFrame([certificate]))
    content = json.loads(render_json(data))

    assert content["tables"]["judge_certificates"] == [
        certificate | {"created_at": "2026-11-21T00:00:00"}
    ]
    assert content["tables"].keys() == data.tables.keys()
    titles = [caution["heading"] for caution in content["cautions"]]
    assert titles == [caution.term for caution in cautions(data)]


def test_every_case_is_valid_json() -> None:
    for case in CASES.values():
        json.loads(render_json(case.data()))
