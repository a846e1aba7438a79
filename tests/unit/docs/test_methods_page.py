"""Every figure leads to its formula, in docs/methods.md and in the page."""

import re
from pathlib import Path

import pytest

from docs._generate.methods import methods_html
from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    RubricVersionFigures,
    fields_of,
)
from eval_assets.report.sections.glossary import section
from tests.unit.report.builder import Case

TEXT = (Path(__file__).parents[3] / "docs" / "methods.md").read_text("utf-8")
MEASURED = (
    HumanFigures,
    RubricVersionFigures,
    JudgeFigures,
    JudgeHumanFigures,
)
COUNTS = ("n_responses", "n_units", "n_groups", "n_raters", "n_ratings", "n_pairs", "n_comparisons")


@pytest.mark.parametrize(
    "column",
    [
        *COUNTS,
        *sorted({f.name for record in MEASURED for f in fields_of(record) if f.statistic}),
    ],
)
def test_every_column_of_the_agreement_tables_has_its_method(column: str) -> None:
    assert f"`{column}`" in TEXT


def headings() -> set[str]:
    """Return the ids of the headings; there are as many as docs/methods.md has."""
    ids = set(re.findall(r'<h[34] id="(method-[^"]+)"', methods_html(TEXT)))
    assert len(ids) == len(re.findall(r"^###? ", TEXT, re.MULTILINE))
    return ids


def test_every_entry_of_the_glossary_leads_to_its_method() -> None:
    [card] = section(Case().data()).blocks
    methods = {item.method for item in card.blocks[0].items}  # type: ignore[union-attr]

    assert {f"method-{method}" for method in methods} <= headings()


def test_every_link_within_the_methods_leads_to_a_heading() -> None:
    written = methods_html(TEXT)

    assert set(re.findall(r'href="#([^"]+)"', written)) <= headings()
    assert "http" not in written


def test_every_way_of_making_an_interval_is_described() -> None:
    names = "Wilson", "Score", "Exact", "Differences of means", "Differences of coefficients"
    for name in (*names, "Bootstrap"):
        assert f"### {name}\n" in TEXT
