"""Tables and plots of asset pages."""

import base64
import re
from xml.etree import ElementTree as ET

import dagster as dg
import pandas as pd

from eval_assets.assets.metadata import (
    counts_as_metadata,
    figures_as_metadata,
    intervals_as_metadata,
    rows_as_metadata,
    with_something_shown,
)
from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from tests.unit.cases import Case

SVG = "{http://www.w3.org/2000/svg}"


def picture(value: dg.MarkdownMetadataValue | None) -> ET.Element:
    assert value
    encoded = re.fullmatch(r"!\[plot\]\(data:image/svg\+xml;base64,(.+)\)", value.value or "")
    assert encoded
    return ET.fromstring(base64.b64decode(encoded[1]))  # noqa: S314 - our own image


def test_interval_plot_names_each_figure_and_marks_the_minimum() -> None:
    figures = {"gpt <1>": Figure(0.2, 0.1, 0.3), "undefined": UNDEFINED_FIGURE}
    image = picture(intervals_as_metadata(figures, minimum=0.0))

    texts = [text.text for text in image.iter(f"{SVG}text")]
    assert texts[:2] == ["needs 0.00", "gpt <1>"]
    assert "undefined" not in texts
    [mark] = [line for line in image.iter(f"{SVG}line") if line.get("class") == "minimum"]
    [bar] = [line for line in image.iter(f"{SVG}line") if line.get("class") == "interval"]
    assert float(mark.attrib["x1"]) < float(bar.attrib["x1"])


def test_what_was_not_measured_is_left_out() -> None:
    assert intervals_as_metadata({}, minimum=0.0) is None
    assert counts_as_metadata({}) is None
    assert rows_as_metadata(pd.DataFrame()) is None
    shown = with_something_shown(
        dg.AssetCheckResult(passed=True, metadata={"none": None, "list": [], "zero": 0, "of": {}})
    )
    assert list(shown.metadata) == ["zero"]


def test_table_of_figures_has_titles_intervals_and_percentages() -> None:
    table = figures_as_metadata(Case().humans(), ("question_id", "a_hh", "exact_agreement"))

    assert table
    head, _, overall, clarity, _ = (table.value or "").splitlines()
    assert head == "| question | A^HH | Exact agreement |"
    assert overall.startswith("| all questions |")
    assert clarity == "| clarity | 0.88 (0.84-0.92) | 64 % (60-68 %) |"


def test_counts_are_a_matrix_under_their_name() -> None:
    table = pd.DataFrame([[3, 1], [0, 0]], index=["r1", "judge"], columns=[0.0, 1.0])

    counts = counts_as_metadata({"clear": table})
    assert counts
    assert (counts.value or "").splitlines()[0] == "clear"
