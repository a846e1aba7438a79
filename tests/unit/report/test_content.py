"""The whole report: every section in its place, on whatever was measured."""

from dataclasses import replace

from eval_assets.report.content import report_content
from eval_assets.report.formats import render_html, render_markdown
from tests.unit.report.builder import Case, twelve_questions
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
    assert bare == ["gates", "cautions", "humans", "disagreements", "scores", "glossary"]


def test_a_report_on_empty_tables_says_what_to_materialize() -> None:
    """As on a database in which nothing but the inputs is measured."""
    data = Case().data()
    bare = replace(data, gates=(), tunable=(), humans=(), judges=(), scores=(), tables={}, sizes={})

    assert "Nothing is measured yet. Materialize human_agreement." in render_markdown(bare)
    assert "Nothing is measured yet. Materialize human_agreement." in Page(render_html(bare)).words


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
