"""The report: its sections, what their titles say, and the same cells in every format."""

import json
import re
from dataclasses import replace
from html import unescape
from itertools import compress

import pytest

from eval_assets.assets.metadata import table_as_metadata
from eval_assets.shown.blocks import (
    JUDGES,
    JUDGES_AGAINST_HUMANS,
    Cell,
    Column,
    Plot,
    Section,
    Table,
    Texts,
    figures_table,
    humans_table,
    tables_of,
    text_cell,
)
from eval_assets.shown.certificates import certificates_table
from eval_assets.shown.gates import gates_table, plan_table
from eval_assets.shown.html import report_page, table_html
from eval_assets.shown.markdown import escape_markdown, report_markdown, table_markdown
from eval_assets.shown.report import Report
from eval_assets.shown.screen_json import report_document, table_rows
from eval_assets.shown.terminal import WIDTH, screen_lines, table_lines
from eval_assets.verdicts import Verdict
from tests.unit.cases import Case
from tests.unit.shown.reports import (
    ATTACK,
    CASES,
    case,
    certificate,
    report,
    screen_with_texts,
    stored,
)
from tests.unit.shown.studies import STUDIES, shown


def section(name: str, of: Report) -> Section:
    [match] = [part for part in of.sections if part.name == name]
    return match


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def text_of(page: str) -> str:
    """Return what a page shows, on one line."""
    body = re.sub(r"<style>.*?</style>|<title>.*?</title>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split()).replace("\N{MINUS SIGN}", "-")


DATA = Case().data()
TABLES = {
    **{
        f"{part.name} {table.name}": table
        for part in report().sections
        for table in tables_of(part.blocks)
    },
    "gates": gates_table(DATA.gates),
    "plan": plan_table(DATA.gates),
    "people": humans_table(DATA.humans),
    "judges": figures_table(DATA.judges, JUDGES),
    "judges against people": figures_table(DATA.judge_humans, JUDGES_AGAINST_HUMANS),
    "certificates": certificates_table(
        [certificate("gpt", claim="fit", fitness="fit"), certificate("old", stale_because="new")]
    ),
    "verdicts by question": report().screen.matrix,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_the_same_cells_in_every_format(name: str) -> None:
    table = TABLES[name]
    expected = [[" ".join(text.split()) for text in row] for row in cells(table)]

    page = unescape(table_html(table)).replace("\N{MINUS SIGN}", "-")
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    body = page.partition("<tbody>")[2]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in body.split("</tr>")[:-1]]
    for sign in (f'aria-hidden="true">{of.sign}</span>' for of in Verdict):
        rows = [[cell.replace(sign, "></span>") for cell in row] for row in rows]
    assert [[re.sub(r"<[^>]+>|^>", "", cell).strip() for cell in row] for row in rows] == expected
    markdown = table_markdown(table)
    metadata = table_as_metadata(table)
    assert metadata
    assert metadata.value == markdown
    lines = markdown.splitlines()[2 : 2 + len(table.rows)]
    unescaped = [re.sub(r"\\(.)", r"\1", line) for line in lines]
    assert [line[2:-2].split(" | ") for line in unescaped] == [
        [of or "" for of in row] for row in expected
    ]
    printed = table_lines(table)
    assert max(map(len, printed)) <= WIDTH
    words = " ".join(printed).split()
    is_printed = [not column.is_wide for column in table.columns]
    texts = [text for row in expected for text in compress(row, is_printed)]
    assert all(word in words for text in texts for word in text.split())
    document = json.loads(json.dumps(table_rows(table), allow_nan=False))
    names = [column.name for column in table.columns]
    assert [[row[name] for name in names] for row in document] == [
        [cell.value for cell in row] for row in table.rows
    ]


def test_equal_columns_move_into_the_caption() -> None:
    columns = (Column("judge", ""), Column("version", "version"), Column("n", "groups"))
    rows = (
        (text_cell("a"), text_cell("1.0"), Cell("3")),
        (text_cell("b"), text_cell("1.0"), Cell("4")),
    )
    table = Table("t", columns, rows).without_equal_columns

    assert [column.title for column in table.columns] == ["", "groups"]
    assert table.caption == "version: 1.0"


@pytest.mark.parametrize("name", [study.name for study in STUDIES])
def test_the_report_says_what_the_terminal_says(name: str) -> None:
    [study] = [of for of in STUDIES if of.name == name]
    screen = shown(*study.questions())
    rendered = report(screen)
    page, markdown = text_of(report_page(rendered)), report_markdown(rendered)
    document = report_document(rendered, path=None)
    printed = " ".join("\n".join(screen_lines(screen, report=None)).split())

    for sentence in (screen.labels.sentence, screen.next.sentence, screen.labels.word):
        assert sentence in printed
        assert sentence in page
        assert escape_markdown(sentence) in markdown
    assert document["labels"]["verdict"] == screen.labels.verdict.value  # type: ignore[index]
    assert "nan" not in page.split()
    assert "undefined" not in page.replace("agreement beyond chance is undefined", "").split()


@pytest.mark.parametrize("name", CASES)
def test_no_column_of_the_report_has_equal_rows(name: str) -> None:
    for part in case(name).sections:
        for block in part.blocks:
            if isinstance(block, Table) and block.form == "figures" and len(block.rows) > 2:
                columns = list(zip(*cells(block), strict=True))[1:]
                equal = [
                    c for c, of in zip(block.columns[1:], columns, strict=True) if len(set(of)) < 2
                ]
                assert not equal, (part.name, equal)


@pytest.mark.parametrize("name", CASES)
def test_every_section_says_something_in_its_title(name: str) -> None:
    for part in case(name).sections:
        assert part.finding, part.name
        assert part.blocks, part.name


def test_judges_scores_stand_beside_no_disagreement() -> None:
    page = report_page(report())
    part = page.partition('id="disagreements"')[2].partition('id="details"')[0]

    assert "Use sorted" in part
    assert "gpt" not in part


def test_nothing_of_the_data_becomes_markup() -> None:
    page, markdown = report_page(case("attacked")), report_markdown(case("attacked"))

    assert ATTACK.partition("\n")[0] not in page
    assert "<script" not in page
    assert "<img" not in page
    lines = [line for line in markdown.splitlines() if not line.startswith("    ")]  # no code
    assert "<script" not in re.sub(r"\\.", "", "\n".join(lines))
    assert "default-src 'none'" in page


def test_a_hh_has_three_decimals_its_label_and_its_three_lines() -> None:
    part = section("agreement", report())
    [table] = [of for of in part.blocks if isinstance(of, Table)]
    [meaning] = [of for of in part.blocks if isinstance(of, Texts)]

    [[question, a_hh, label, *_]] = cells(table)
    assert question == "score"
    assert re.fullmatch(r"0\.\d{3}", a_hh)
    assert label == "Excellent agreement"
    assert table.rows[0][1].tone.value == "good"
    assert [text.split(":")[0] for text in meaning.sentences[:2]] == ["A^HH 1.0", "A^HH 0.0"]


def test_severity_names_the_strict_and_the_lenient() -> None:
    part = section("severity", report())

    assert part.finding == "fern is the most lenient (clarity), ben is the strictest (clarity)"
    [plot] = [of for of in part.blocks if isinstance(of, Plot)]
    assert [(row.label, row.text, row.remark) for row in plot.rows] == [
        ("cleo", "+0.80", ""),  # three responses mark nobody
        ("fern", "+0.48", "lenient"),
        ("ben", "-0.32", "strict"),
    ]


def test_severity_of_few_shared_responses_is_not_called_small() -> None:
    rater = {"question_id": "clarity", "measure": "severity", "advice": "", "n": 3}
    rows = [rater | {"rater_id": "ann", "value": 0.4}, rater | {"rater_id": "bo", "value": -0.4}]
    part = section("severity", report(figures=stored(label_quality=rows)))

    assert part.finding == "too few responses of two raters to tell"


def test_bias_is_named_where_it_is_shown_and_labels_do_not_fail() -> None:
    assert section("bias", report()).finding == "gpt favours fern"
    names = {part.name for part in report(shown(*STUDIES[11].questions())).sections}
    assert STUDIES[11].name == "random labels"
    assert "heat" in names


def test_plots_of_bias_on_one_question_share_an_axis() -> None:
    ends = {"relative_low": -0.1, "relative_high": 0.1, "is_named": False}
    row = {"judge_id": "gpt", "question_id": "clarity", "relative": 0.0, **ends}
    rows = [
        row | {"attribute": "length", "value": "long"},
        row | {"attribute": "system", "value": "fern", "relative": 0.6, "relative_high": 0.8},
    ]

    plots = section("bias", report(figures=stored(judge_bias=rows))).blocks[:2]

    assert [(plot.axis.low, plot.axis.high) for plot in plots if isinstance(plot, Plot)] == [
        (-0.8, 0.8)
    ] * 2


def test_tables_of_systems_name_their_question() -> None:
    tables = [of for of in section("systems", report()).blocks if isinstance(of, Table)]

    assert [table.caption for table in tables] == ["clarity", "safe"]


def test_agreement_of_judges_has_its_label_and_meaning() -> None:
    part = section("judges", report(figures=stored(Case())))

    assert part.finding.startswith("alpha 0.83")
    assert "all questions" in str(part.blocks)


def test_certificates_have_a_verdict_and_what_they_allow() -> None:
    rows = [
        certificate("gpt", claim="fit", fitness="fit"),
        certificate("haiku", claim="fit_in_part", fitness="undecided", share=0.84, n_groups=70),
        certificate("old", claim="fit", fitness="fit", stale_because="the prompt changed"),
        certificate("poor", fitness="unfit"),
    ]
    part = section("certificates", report(figures=stored(judge_certificates=rows)))
    table, notes = part.blocks

    assert part.finding == "gpt 1.0.0 and haiku 1.0.0"
    assert isinstance(table, Table)
    by_judge = {row[0]: row[1:3] for row in cells(table)}
    assert by_judge == {
        "gpt": ["PASS", "all responses"],
        "haiku": ["PASS", "84 % of responses"],
        "old": ["NOT MEASURED", "--"],
        "poor": ["FAIL", "--"],
    }
    assert "old on clarity: no longer valid, because the prompt changed." in str(notes)


def test_results_mark_where_judges_do_not_agree() -> None:
    part = section("results", report())
    grid = part.blocks[0]

    assert part.finding == "judges do not agree on 1 of 2: mean alpha 0.50, lowest 0.20"
    assert isinstance(grid, Table)
    assert [(row[1].text, row[1].is_marked) for row in grid.rows] == [
        ("0.70", True),
        ("0.10", False),
    ]
    assert [row[-1].text for row in grid.rows] == ["1 of 1", "0 of 1"]
    hints = [row[1].hint for row in grid.rows]
    assert hints == ["Alpha of the judges 0.20: unreliable", "Alpha of the judges 0.80: reliable"]
    assert all(f'title="{hint}"' in report_page(report()) for hint in hints)


def test_limits_say_what_is_missing() -> None:
    [texts] = section("limits", report()).blocks
    assert isinstance(texts, Texts)
    sentences = " ".join(texts.sentences)

    assert "haiku is missing or incomplete. The last run stopped it: fern." in sentences
    assert "gpt skipped 42 of 200 scores (21 %)" in sentences
    assert "Labels were rejected, and count nowhere: 3 of fern on clarity." in sentences
    assert "clarity: fern gives 3 throughout." in sentences


def test_a_report_without_stored_tables_says_nothing_of_them() -> None:
    rendered = Report(screen_with_texts(), case("plain").sections[:0])

    assert "NOT MEASURED" not in text_of(report_page(rendered))
    assert "Certificates" not in text_of(report_page(rendered))


def test_the_version_depends_on_the_content_and_not_on_the_time() -> None:
    rendered = report()

    assert replace(rendered, made_at=None).version == rendered.version
    assert replace(rendered, sections=rendered.sections[1:]).version != rendered.version
