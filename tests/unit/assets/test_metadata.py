"""Tables of asset pages."""

import pandas as pd

from eval_assets.assets.metadata import (
    figures_as_metadata,
    rows_as_metadata,
    without_blanks,
)
from tests.unit.cases import Case


def test_what_was_not_measured_is_left_out() -> None:
    assert rows_as_metadata(pd.DataFrame()) is None
    assert without_blanks({"none": None, "list": [], "zero": 0, "of": {}}) == {"zero": 0}


def test_table_of_figures_has_titles_intervals_and_percentages() -> None:
    table = figures_as_metadata(Case().humans(), ("question_id", "a_hh", "exact_agreement"))

    assert table
    head, _, overall, clarity, _ = (table.value or "").splitlines()
    assert head == "| question | A^HH | Exact agreement |"
    assert overall.startswith("| all questions |")
    assert clarity == "| clarity | 0.88 (0.84-0.92) | 64 % (60-68 %) |"


def test_table_of_rows_says_states_as_every_screen_does() -> None:
    table = rows_as_metadata(pd.DataFrame({"judge": ["a", "b"], "state": ["need_more_data", None]}))

    assert table
    assert "| a | NEED MORE DATA |" in (table.value or "")
