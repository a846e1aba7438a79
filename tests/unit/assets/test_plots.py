"""Plots are images that a browser can show, with every figure in its place."""

import base64
import re
from xml.etree import ElementTree as ET

import dagster as dg
import pandas as pd

from eval_assets.assets.plots import Bar, amounts, heatmaps, intervals, steps

SVG = "{http://www.w3.org/2000/svg}"


def images(value: dg.MarkdownMetadataValue) -> list[ET.Element]:
    found = re.findall(
        r"!\[plot\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", value.value or ""
    )
    return [ET.fromstring(base64.b64decode(each)) for each in found]  # noqa: S314 - our own image


def test_a_figure_lies_between_the_ends_of_its_interval_and_right_of_zero() -> None:
    [image] = images(intervals([Bar("gpt <1>", 0.2, 0.1, 0.3)], marks={"no gain": 0.0}, sign="+"))
    [dot] = image.iter(f"{SVG}circle")
    mark, bar = image.iter(f"{SVG}line")

    assert float(mark.attrib["x1"]) < float(bar.attrib["x1"]) < float(dot.attrib["cx"])
    assert float(dot.attrib["cx"]) < float(bar.attrib["x2"])
    words = [text.text for text in image.iter(f"{SVG}text")]
    assert "gpt <1>" in words
    assert "+0.200" in words


def test_a_map_is_drawn_as_steps_for_each_judge() -> None:
    found = images(steps({"a, q": [(1.0, 1.0), (2.0, 3.0), (3.0, 5.0)], "b, q": [(1.0, 1.0)]}))

    assert len(found) == 2
    [path] = found[0].iter(f"{SVG}path")
    assert path.attrib["d"].count("L") == 5
    corners = re.findall(r"([\d.]+) ([\d.]+)", path.attrib["d"])
    dots = [(dot.attrib["cx"], dot.attrib["cy"]) for dot in found[0].iter(f"{SVG}circle")]
    assert [corners[0], corners[-1]] == [dots[0], dots[2]]
    assert corners[2][1] == dots[1][1]  # the second value is in the middle of its step
    assert float(corners[2][0]) < float(dots[1][0]) < float(corners[3][0])


def test_without_figures_there_are_words() -> None:
    assert intervals([], marks={"no gain": 0.0}).value == "There is nothing to plot."
    assert heatmaps({}).value == amounts({}, unit="USD").value == "There is nothing to plot."
    assert steps({"a, q": []}).value == "There is nothing to map."


def test_a_heatmap_shades_each_count_by_its_share_of_the_row() -> None:
    table = pd.DataFrame([[3, 1], [0, 0]], index=["r1", "judge"], columns=[0.0, 1.0])
    [image] = images(heatmaps({"clear": table}))
    words = [text.text for text in image.iter(f"{SVG}text")]
    shades = [
        cell.attrib["fill-opacity"] for cell in image.iter(f"{SVG}rect") if "x" in cell.attrib
    ]

    assert words == ["clear", "0", "1", "r1", "3", "1", "judge", "0", "0"]
    assert shades == ["0.56", "0.19", "0.00", "0.00"]


def test_amounts_are_bars_in_proportion() -> None:
    [image] = images(amounts({"gpt": 2.0, "haiku": 0.5}, unit="USD"))
    widths = [float(bar.attrib["width"]) for bar in image.iter(f"{SVG}rect") if "x" in bar.attrib]

    assert widths[0] == 4 * widths[1]
    assert "0.5 USD" in [text.text for text in image.iter(f"{SVG}text")]
