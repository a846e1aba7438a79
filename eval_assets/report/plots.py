"""Small pictures of figures, as inline SVG that stretches with its column.

Places are percentages of the width, so a picture needs no script and no fixed size; colours and
strokes come from the style sheet, so that it follows the reader's light or dark mode.
"""

import math
from collections.abc import Sequence
from itertools import cycle

from markupsafe import Markup

from eval_assets.report.figures import Track
from eval_assets.report.scores import MeanScores, SliceRow

_MARGIN = 3.0
"""Percent of the width left free at either end, for marks that stand on the ends."""

_MEAN_SHAPES = {
    "circle": Markup('<circle r="5"/>'),
    "diamond": Markup('<path d="M0-6.5 6.5 0 0 6.5-6.5 0Z"/>'),
    "triangle": Markup('<path d="M0-6 6 5H-6Z"/>'),
    "square": Markup('<path d="M-5-5H5V5H-5Z"/>'),
    "cross": Markup('<path d="M-5-5 5 5M5-5-5 5"/>'),
}
"""Humans have the circle; judges take turns with the others."""


def interval_plot(track: Track) -> Markup:
    """A dot with its 95 % interval, beside what it is held against.

    Args:
        track: The figure; where it is undefined only the axis and its marks are drawn.
    """
    low, high = track.axis_low, track.axis_high
    parts = [_axis()]
    parts += [
        Markup('<line class="mark-{}" x1="{x}%" x2="{x}%" y1="3" y2="25"/>').format(
            mark.kind, x=_place(mark.value, low, high)
        )
        for mark in track.marks
    ]
    if not math.isnan(track.low + track.high):
        parts.append(
            Markup('<line class="whisker" x1="{}%" x2="{}%" y1="14" y2="14"/>').format(
                _place(track.low, low, high), _place(track.high, low, high)
            )
        )
    if not math.isnan(track.value):
        parts.append(
            Markup('<circle class="dot" cx="{}%" cy="14" r="5.5"/>').format(
                _place(track.value, low, high)
            )
        )
    return _picture(track.label, parts, css_class=f"plot {track.tone}")


def axis_ticks(low: float, high: float) -> Markup:
    """Numbers of an axis: its ends and what lies between."""
    middles = [0.0] if low < 0 else [(low + high) / 2]
    ends = [(low, "start"), *((middle, "middle") for middle in middles), (high, "end")]
    parts = [
        Markup('<text x="{}%" y="12" text-anchor="{}">{}</text>').format(
            _place(value, low, high), anchor, f"{value:g}"
        )
        for value, anchor in ends
    ]
    return Markup('<svg class="ticks" aria-hidden="true">{}</svg>').format(Markup().join(parts))


def means_plot(row: SliceRow, scores: MeanScores) -> Markup:
    """Mean scores of humans and judges on the question's scale."""
    low, high = scores.scale_low, scores.scale_high
    shapes = rater_shapes(scores.raters)
    parts = [_axis()]
    # Humans are drawn last, on top: judges are held against them.
    parts += [
        Markup('<svg x="{}%" y="14" class="{}">{}</svg>').format(
            _place(mean.value, low, high),
            f"mean mean-{shapes[mean.rater]}",
            _MEAN_SHAPES[shapes[mean.rater]],
        )
        for mean in reversed(row.means)
        if not math.isnan(mean.value)
    ]
    said = ", ".join(f"{mean.rater} {mean.mean}" for mean in row.means)
    return _picture(f"Mean scores, {row.name}: {said}", parts, css_class="plot means")


def shape_key(shape: str) -> Markup:
    """The shape alone, for the key of a picture."""
    return Markup(
        '<svg class="key" aria-hidden="true"><svg x="50%" y="50%" class="{}">{}</svg></svg>'
    ).format(f"mean mean-{shape}", _MEAN_SHAPES[shape])


def rater_shapes(raters: Sequence[str]) -> dict[str, str]:
    """Shape of each rater: the first is the humans'.

    Examples:
        >>> rater_shapes(["humans", "gpt", "haiku"])
        {'humans': 'circle', 'gpt': 'diamond', 'haiku': 'triangle'}
    """
    first, *others = _MEAN_SHAPES
    return dict(zip(raters[:1], [first], strict=False)) | dict(
        zip(raters[1:], cycle(others), strict=False)
    )


def _picture(label: str, parts: Sequence[Markup], *, css_class: str) -> Markup:
    return Markup('<svg class="{}" role="img" aria-label="{}">{}</svg>').format(
        css_class, label, Markup().join(parts)
    )


def _axis() -> Markup:
    return Markup('<line class="axis" x1="{}%" x2="{}%" y1="14" y2="14"/>').format(
        f"{_MARGIN:g}", f"{100 - _MARGIN:g}"
    )


def _place(value: float, low: float, high: float) -> str:
    """Percent of the width at which a value lies; what lies beyond an end stands on it."""
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}"
