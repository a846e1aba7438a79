"""Plots for the UI: small SVG images inside Markdown."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

import dagster as dg
import pandas as pd

_WIDTH, _HEIGHT, _LEFT, _ROW, _MARGIN = 520, 220, 200, 26, 20
_INK, _DOT, _LINE = "#444", "#1f6feb", "#999"


@dataclass(frozen=True)
class Bar:
    """A figure with its interval.

    Args:
        name: What it is of.
        value: The figure.
        low: Lower end of its interval.
        high: Upper end.
    """

    name: str
    value: float
    low: float
    high: float


def intervals(
    bars: Sequence[Bar], *, marks: Mapping[str, float], sign: str = ""
) -> dg.MarkdownMetadataValue:
    """Return figures with their intervals on one axis, and what they are compared with.

    Args:
        bars: The figures; without any the plot says so.
        marks: Value of each vertical line, by its name.
        sign: "+" if figures are differences, whose sign is shown.
    """
    if not bars:
        return dg.MetadataValue.md("There is nothing to plot.")
    ends = [end for bar in bars for end in (bar.low, bar.high)] + list(marks.values())
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low or 1.0)
    height = _ROW * (len(bars) + 2)

    def x(value: float) -> float:
        share = (value - low + room) / (high - low + 2 * room)
        return _LEFT + share * (_WIDTH - _LEFT - _MARGIN)

    parts = []
    for name, value in marks.items():
        parts += [
            _line(x(value), _ROW / 2, x(value), height - _ROW, dash="4 3"),
            _text(x(value), height - _ROW / 3, f"{name} {value:g}", anchor="middle"),
        ]
    for place, bar in enumerate(bars):
        y = _ROW * (place + 1)
        parts += [
            _text(0, y + 4, bar.name),
            _line(x(bar.low), y, x(bar.high), y, colour=_DOT),
            f'<circle cx="{x(bar.value):.1f}" cy="{y:.1f}" r="5" fill="{_DOT}"/>',
            _text(x(bar.value), y - 8, f"{bar.value:{sign}.3f}", anchor="middle"),
        ]
    return _image(parts, height=height)


def steps(maps: Mapping[str, Sequence[tuple[float, float]]]) -> dg.MarkdownMetadataValue:
    """Return step plots, one for each judge and question: what each value becomes.

    Args:
        maps: Value that the judge gave and the value it becomes, by name, ascending.
    """
    drawn = {name: points for name, points in maps.items() if points}
    if not drawn:
        return dg.MetadataValue.md("There is nothing to map.")
    plots = [_step_plot(name, points) for name, points in drawn.items()]
    return dg.MetadataValue.md("\n\n".join(plot.md_str or "" for plot in plots))


def heatmaps(tables: Mapping[str, pd.DataFrame]) -> dg.MarkdownMetadataValue:
    """Return a table of counts for each name, shaded by the share of its row.

    Args:
        tables: Counts, with a row per group and a column per value, both in order.
    """
    drawn = {name: table for name, table in tables.items() if table.size}
    if not drawn:
        return dg.MetadataValue.md("There is nothing to plot.")
    plots = [_heatmap(name, table) for name, table in drawn.items()]
    return dg.MetadataValue.md("\n\n".join(plot.md_str or "" for plot in plots))


def amounts(values: Mapping[str, float], *, unit: str) -> dg.MarkdownMetadataValue:
    """Return a bar for each amount, from 0 on."""
    if not values:
        return dg.MetadataValue.md("There is nothing to plot.")
    most = max(values.values()) or 1.0
    width = _WIDTH - _LEFT - 5 * _MARGIN
    parts = []
    for place, (name, value) in enumerate(values.items()):
        y = _ROW * (place + 0.5)
        length = value / most * width
        parts += [
            _text(0, y + 14, name),
            f'<rect x="{_LEFT}" y="{y:.1f}" width="{length:.1f}" height="18" fill="{_DOT}"/>',
            _text(_LEFT + length + 6, y + 14, f"{value:.4g} {unit}"),
        ]
    return _image(parts, height=_ROW * (len(values) + 1))


def _heatmap(name: str, table: pd.DataFrame) -> dg.MarkdownMetadataValue:
    width = min(60.0, (_WIDTH - _LEFT) / len(table.columns))
    head = 2 * _ROW
    parts = [_text(0, 16, name)]
    parts += [
        _text(_LEFT + width * (place + 0.5), head - 8, f"{value:g}", anchor="middle")
        for place, value in enumerate(table.columns)
    ]
    for place, (group, counts) in enumerate(table.iterrows()):
        y = head + _ROW * place
        total = float(counts.sum()) or 1.0
        parts.append(_text(0, y + 17, f"{group:g}" if isinstance(group, float) else str(group)))
        for column, count in enumerate(counts):
            x = _LEFT + width * column
            share = 0.75 * count / total
            parts += [
                _shade(x, y, width, share),
                _text(x + width / 2, y + 17, f"{count:,.0f}", anchor="middle"),
            ]
    return _image(parts, height=head + _ROW * len(table) + _MARGIN)


def _step_plot(name: str, points: Sequence[tuple[float, float]]) -> dg.MarkdownMetadataValue:
    values = [value for point in points for value in point]
    low, high = min(values), max(values)
    span = high - low or 1.0

    def x(value: float) -> float:
        return _LEFT + (value - low) / span * (_WIDTH - _LEFT - _MARGIN)

    def y(value: float) -> float:
        return _HEIGHT - 2 * _MARGIN - (value - low) / span * (_HEIGHT - 4 * _MARGIN)

    path = f"M{x(points[0][0]):.1f} {y(points[0][1]):.1f}"
    for (left, before), (right, after) in pairwise(points):
        between = x((left + right) / 2)
        path += f" L{between:.1f} {y(before):.1f} L{between:.1f} {y(after):.1f}"
    path += f" L{x(points[-1][0]):.1f} {y(points[-1][1]):.1f}"
    parts = [
        _text(0, _HEIGHT / 2, name),
        _line(x(low), y(low), x(high), y(high), dash="4 3"),
        f'<path d="{path}" fill="none" stroke="{_DOT}" stroke-width="2"/>',
        *(
            f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="4" fill="{_DOT}"/>'
            for at, value in points
        ),
        *(_text(x(at), _HEIGHT - _MARGIN / 2, f"{at:g}", anchor="middle") for at, _ in points),
        *(
            _text(_LEFT - 10, y(value) + 4, f"{value:g}", anchor="end")
            for value in sorted({value for _, value in points})
        ),
    ]
    return _image(parts, height=_HEIGHT)


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" font-family="sans-serif" fill="{_INK}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def _shade(x: float, y: float, width: float, share: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW}" '
        f'fill="{_DOT}" fill-opacity="{share:.2f}" stroke="white"/>'
    )


def _line(  # noqa: PLR0913, PLR0917 - two points and how it is drawn
    x1: float, y1: float, x2: float, y2: float, colour: str = _LINE, dash: str = "none"
) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="2" stroke-dasharray="{dash}"/>'
    )


def _image(parts: Iterable[str], *, height: float) -> dg.MarkdownMetadataValue:
    """Return an SVG image as Markdown, which the UI shows."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'width="{_WIDTH}" height="{height:.0f}"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(parts)}</svg>"
    )
    data = base64.b64encode(svg.encode()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/svg+xml;base64,{data})")
