"""Every figure has its formula in docs/methods.md."""

from pathlib import Path

import pytest

from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    RubricVersionFigures,
    fields_of,
)

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
