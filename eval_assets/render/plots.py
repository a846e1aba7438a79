"""Plots of figures as inline SVG.

Places are percentages of the width, so a picture needs no script and no fixed size; colours and
strokes come from the style sheet, so that it follows the reader's light or dark mode.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from eval_assets.catalogue import Figure
from eval_assets.render.document import MarkKind, Plot, Shape
from eval_assets.wording import figure_text, interval_text

_MARGIN = 3.0
"""Percent of the width left free at either end, for dots that lie on the ends."""

_SHAPES: dict[Shape, Markup] = {
    "circle": Markup('<circle r="5.5"/>'),
    "diamond": Markup('<path d="M0-6.5 6.5 0 0 6.5-6.5 0Z"/>'),
    "triangle": Markup('<path d="M0-6 6 5H-6Z"/>'),
    "square": Markup('<path d="M-5-5H5V5H-5Z"/>'),
    "cross": Markup('<path d="M-5-5 5 5M5-5-5 5"/>'),
}


def svg(plot: Plot) -> Markup:
    """Return the plot; of an undefined figure only the axis and its marks."""
    parts = [
        Markup('<line class="axis" x1="{}%" x2="{}%" y1="14" y2="14"/>').format(
            f"{_MARGIN:g}", f"{100 - _MARGIN:g}"
        )
    ]
    parts += [
        Markup('<line class="mark-{}" x1="{x}%" x2="{x}%" y1="3" y2="25"/>').format(
            kind, x=_place(value, plot)
        )
        for kind, value in plot.marks
    ]
    if plot.interval is not None:
        low, high = plot.interval
        parts.append(
            Markup('<line class="whisker" x1="{}%" x2="{}%" y1="14" y2="14"/>').format(
                _place(low, plot), _place(high, plot)
            )
        )
    # The first dot is drawn last, on top: the others are compared with it.
    parts += [
        Markup('<svg x="{}%" y="14" class="dot {}">{}</svg>').format(
            _place(value, plot), _dot_class(plot, shape), _SHAPES[shape]
        )
        for shape, value in reversed(plot.dots)
        if not math.isnan(value)
    ]
    return Markup('<svg class="plot {}" role="img" aria-label="{}">{}</svg>').format(
        plot.tone, plot.label, Markup().join(parts)
    )


def ticks(low: float, high: float) -> Markup:
    """Return the numbers of an axis: its ends and one between."""
    middle = 0.0 if low < 0 else (low + high) / 2
    axis = Plot(low, high, label="", dots=())
    parts = [
        Markup('<text x="{}%" y="12" text-anchor="{}">{}</text>').format(
            _place(value, axis), anchor, f"{value:g}"
        )
        for value, anchor in [(low, "start"), (middle, "middle"), (high, "end")]
    ]
    return Markup('<svg class="ticks" aria-hidden="true">{}</svg>').format(Markup().join(parts))


def shape_key(shape: Shape) -> Markup:
    """Return a single shape for a legend."""
    return Markup(
        '<svg class="key" aria-hidden="true"><svg x="50%" y="50%" class="dot {}">{}</svg></svg>'
    ).format(f"dot-{shape}", _SHAPES[shape])


def _dot_class(plot: Plot, shape: Shape) -> str:
    """Return the class of a dot: its tone if it is the only one, else its shape."""
    return "toned" if len(plot.dots) == 1 else f"dot-{shape}"


def _place(value: float, plot: Plot) -> str:
    """Return the percentage of the width for a value, limited to the ends of the axis."""
    share = min(1.0, max(0.0, (value - plot.low) / (plot.high - plot.low)))
    return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}"


_WIDTH, _NAMES, _ROW = 520, 200, 28
_STYLE = (
    "text{font:12px sans-serif;fill:#444}"
    "line{stroke:#999;stroke-width:2}[class^=mark]{stroke-dasharray:4 3}"
    ".whisker{stroke:#1f6feb;stroke-width:2}.dot{fill:#1f6feb;overflow:visible}"
)


def image(plots: Mapping[str, Plot]) -> str:
    """Return named plots below each other as one SVG file, for viewers without our style sheet."""
    height = _ROW * (len(plots) + 1)
    low, high = next((plot.low, plot.high) for plot in plots.values())
    rows = [
        Markup(
            '<text x="0" y="{}">{}</text><svg x="{}" y="{}" width="{}" height="{}">{}</svg>'
        ).format(y + 18, name, _NAMES, y, _WIDTH - _NAMES, _ROW, svg(plot))
        for y, (name, plot) in zip(range(0, height, _ROW), plots.items(), strict=False)
    ]
    axis = Markup('<svg x="{}" y="{}" width="{}" height="{}">{}</svg>').format(
        _NAMES, height - _ROW, _WIDTH - _NAMES, _ROW, ticks(low, high)
    )
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}">'
        '<style>{style}</style><rect width="100%" height="100%" fill="white"/>{rows}{axis}</svg>'
    ).format(w=_WIDTH, h=height, style=Markup(_STYLE), rows=Markup().join(rows), axis=axis)  # noqa: S704 - ours


def intervals_image(figures: Mapping[str, Figure], *, marks: Mapping[MarkKind, float]) -> str:
    """Return figures with their intervals on one axis as one SVG file; empty without intervals.

    Figures without an interval are left out; `marks` are values that they are compared with.
    """
    drawn = {name: figure for name, figure in figures.items() if figure.has_interval}
    if not drawn:
        return ""
    low, high = _axis(
        [*(end for figure in drawn.values() for end in (figure.low, figure.high)), *marks.values()]
    )
    return image(
        {name: _plot(name, figure, low, high, marks.items()) for name, figure in drawn.items()}
    )


def interval_line(figure: Figure, *, mark: float) -> str:
    """Return a figure with its interval from 0 to 1 as a line of text, with a mark.

    Examples:
        >>> interval_line(Figure(0.9, 0.8, 0.95), mark=0.75)
        '0 ──────────────────────────────┃─━━━━●━━── 1'
        >>> interval_line(Figure(-0.2, -0.5, 0.1), mark=0.667)
        '-1 ──────────━━━━━━●━━━━━━──────────┃─────── 1'
    """
    ends = [figure.value, figure.low, figure.high]
    axis = -1.0 if min(end for end in ends if not math.isnan(end)) < 0 else 0.0
    cells = ["─"] * _CELLS
    value, low, high, minimum = (
        -1 if math.isnan(of) else round((of - axis) / (1 - axis) * (_CELLS - 1))
        for of in (*ends, mark)
    )
    if figure.has_interval:
        cells[low : high + 1] = "━" * (high + 1 - low)
    cells[minimum], cells[value] = "┃", "●"
    return f"{axis:g} {''.join(cells)} 1"


_CELLS = 41


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Return round ends of an axis that shows all values.

    Examples:
        >>> _axis([0.738, 0.868, 0.667]), _axis([-0.02, 0.11]), _axis([0.0])
        ((0.6, 0.9), (-0.1, 0.2), (0.0, 1.0))
    """
    span = max(values) - min(values) or 1.0
    step = 10.0 ** math.floor(math.log10(span))
    low = math.floor(min(values) / step) * step
    high = max(math.ceil(max(values) / step) * step, low + step)
    return round(low, 9), round(high, 9)


def _plot(
    name: str,
    figure: Figure,
    low: float,
    high: float,
    marks: Iterable[tuple[MarkKind, float]],
) -> Plot:
    interval = interval_text(figure.low, figure.high, limits=())
    return Plot(
        low=low,
        high=high,
        label=f"{name}: {figure_text(figure.value, limits=())} ({interval})",
        dots=(("circle", figure.value),),
        interval=(figure.low, figure.high),
        marks=tuple(marks),
    )
