"""Plots as SVG files, for viewers without our style sheet."""

import math
from html import escape

from eval_assets.shown.blocks import Plot
from eval_assets.shown.rows import Mark, Row

_WIDTH, _LABELS, _VALUES, _ROW = 640, 200, 60, 28
_LEFT, _RIGHT = _LABELS + 10, _WIDTH - _VALUES - 10
_STYLE = (
    "text{font:12px sans-serif;fill:#16202c}.tick{fill:#566373}line{stroke:#c3cad4}"
    ".minimum{stroke:#16202c;stroke-width:2}.interval{stroke:#334155;stroke-width:3}"
    ".people{fill:#334155}.judge{fill:#1d5fbf}"
)


def plot_image(plot: Plot) -> str:
    """Return a plot as one SVG file on white ground, with its minimum labelled above."""
    axis = plot.axis
    height = _ROW * (len(plot.rows) + 2)

    def place(value: float) -> float:
        return _LEFT + axis.place(value) * (_RIGHT - _LEFT)

    parts = []
    if not math.isnan(axis.minimum):
        x = f"{place(axis.minimum):.1f}"
        label = f"needs {escape(axis.minimum_text)}"
        parts.append(f'<text x="{x}" y="16" text-anchor="middle">{label}</text>')
        end = height - _ROW
        parts.append(f'<line class="minimum" x1="{x}" x2="{x}" y1="22" y2="{end}"/>')
    for number, row in enumerate(plot.rows, start=1):
        ends = (row.low, row.high) if row.has_interval else (row.value, row.value)
        places = [*map(place, (row.value, *ends))]
        parts += _row(row, y=number * _ROW + _ROW / 2, places=places)
    for value, text in axis.ticks:
        anchor = "start" if value <= axis.low else "end" if value >= axis.high else "middle"
        parts.append(
            f'<text class="tick" x="{place(value):.1f}" y="{height - 10}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _row(row: Row, *, y: float, places: list[float]) -> list[str]:
    """Return label, axis, interval, mark and value of a row."""
    value, low, high = places
    mark = "judge" if row.mark is Mark.JUDGE else "people"
    parts = [
        f'<text x="0" y="{y + 4}">{escape(row.label)}</text>',
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{y}" y2="{y}"/>',
        f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>',
    ]
    if not math.isnan(row.value):
        parts.append(f'<circle class="{mark}" cx="{value:.1f}" cy="{y}" r="5"/>')
    text = f'<text x="{_WIDTH}" y="{y + 4}" text-anchor="end">{escape(row.text)}</text>'
    return [*parts, text]
