"""Advice on a rater's figures, and tests of whether a figure is more than chance."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eval_assets.stats import holm_p_values
from eval_assets.wording import counted

FEWEST = 10
"""Number of labels below which a figure is shown without advice."""

CLEARLY_LESS = 0.05
"""Difference in agreement by which a rater stands apart from the others: a twentieth of the
scale."""

GOOD = 0.75
"""Agreement on [0, 1] that is good: the mark of GDPval for two people."""

WIDE_GAP = 0.25
"""Share of the scale from which raters use it differently: one point of 1 to 5."""


@dataclass(frozen=True)
class Findings:
    """Context of the advice on a rater, in addition to the figures.

    Args:
        alpha: Alpha of all raters on the question.
        stands_apart: Whether the rater agrees less with the others than raters do on average. If
        all agree little, the question is the cause, not a rater.
        twin: The rater whose ratings are most like the rater's.
        others_vary: Whether the others' ratings of the rater's responses differ.
        is_binary: Whether there are two values only, so that all who differ are at opposite ends.
        failing: Gates that this question fails, each as a clause with its value.
    """

    alpha: float
    stands_apart: bool
    others_vary: bool
    is_binary: bool
    failing: tuple[str, ...]
    twin: str = ""


def advice_on(
    rater: str, figures: Mapping[str, tuple[float, int]], findings: Findings
) -> dict[str, str]:
    """Return advice on each figure that calls for action, by its name.

    If the question fails a gate, the sentence says so.
    """
    advice = {}
    for name, (value, n) in figures.items():
        rule = _RULES.get(name)
        sentence = rule(rater, value, n, findings) if rule else ""
        if sentence:
            reason = f" {findings.failing[0]}." if findings.failing else ""
            advice[name] = f"{sentence}{reason}"
    return advice


def _completeness(rater: str, value: float, n: int, _: Findings) -> str:
    n_left = n - round(value * n)
    return f"{rater} has {n_left} of {counted(n, 'response')} left." if n_left else ""


def _one_value(rater: str, value: float, n: int, findings: Findings) -> str:
    if n < FEWEST or value < _NEARLY_ALL or not findings.others_vary:
        return ""
    return (
        f"{rater} gave one and the same value {round(value * n)} times in {n} while others told "
        "these responses apart: go through a few of them together."
    )


def _run(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value < FEWEST:
        return ""
    return (
        f"{rater} gave the same value {value:.0f} times in a row, more often than chance: ask "
        "whether these responses were read."
    )


def _identical(rater: str, value: float, n: int, findings: Findings) -> str:
    if n < FEWEST or not findings.twin:
        return ""
    return (
        f"{rater} and {findings.twin} share answers that the other raters do not give, and rate "
        f"{value:.0%} of {n} responses alike: ask whether they label independently."
    )


def _too_fast(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value < 0.5:  # noqa: PLR2004 - most of the work
        return ""
    return (
        f"{rater} gave {value:.0%} of the labels faster than the responses can be read: ask "
        "whether they are read."
    )


def _severity(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or abs(value) < WIDE_GAP:
        return ""
    direction = "higher" if value > 0 else "lower"
    return (
        f"{rater} rates {abs(value):.0%} of the scale {direction} than the others do: agree on an "
        "example response for each value."
    )


def _opposite_ends(rater: str, value: float, n: int, findings: Findings) -> str:
    count = round(value * n)
    if not findings.stands_apart or findings.is_binary:
        return ""
    if count < 2 or value < 0.1:  # noqa: PLR2004 - one may be a slip
        return ""
    return (
        f"{rater} and another rater put {count} responses at opposite ends: adjudicate these "
        "first, and see whether the scale is read the wrong way round."
    )


def _agreement(rater: str, value: float, n: int, findings: Findings) -> str:
    if not findings.stands_apart or not findings.failing:
        return ""
    if n < FEWEST or value >= GOOD:
        return ""
    return f"{rater} agrees little with the others: label ten responses together and compare."


def _alpha_without(rater: str, value: float, n: int, findings: Findings) -> str:
    least = 0.1 if findings.stands_apart else 0.15  # of raters who are alike a tenth is noise
    if n < FEWEST or value <= 0 or value - findings.alpha < least:
        return ""
    return (
        f"Without {rater} alpha would be {value:z.2f} instead of {findings.alpha:z.2f}: talk to "
        f"{rater} before you exclude a rater, since one rater may see what others miss."
    )


def _experts(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value >= GOOD:
        return ""
    return f"{rater} differs from the experts: let an expert explain some of their labels."


def _skipped(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value < 0.2:  # noqa: PLR2004 - one in five
        return ""
    return f"{rater} skipped {value:.0%}: read the reasons, the guidelines may not cover a case."


def _skipped_difference(rater: str, value: float, n: int, _: Findings) -> str:
    if n < 5 or abs(value) < WIDE_GAP:  # noqa: PLR2004 - fewer say nothing
        return ""
    direction = "better" if value > 0 else "worse"
    return (
        f"What {rater} skipped is rated {direction} by others than the rest: figures without "
        "these responses are not those of all responses."
    )


def _confidence(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value >= 0:
        return ""
    return f"{rater} agrees less when sure than when not: confidence says nothing here."


def _seconds(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value >= 2:  # noqa: PLR2004 - no one reads and rates a response in less
        return ""
    return f"{rater} takes {value:.1f} seconds a label: ask whether responses are read."


def _drift(rater: str, value: float, n: int, _: Findings) -> str:
    if n < 3 * FEWEST or abs(value) < WIDE_GAP / 2:
        return ""
    direction = "milder" if value > 0 else "stricter"
    return f"{rater} became {direction} while labelling: look at the guidelines again, take breaks."


def _self_agreement(rater: str, value: float, n: int, _: Findings) -> str:
    if n < 5 or value >= GOOD:  # noqa: PLR2004 - fewer say nothing
        return ""
    return f"{rater} does not give the same answer twice: the question is harder than it looks."


def _controls(rater: str, value: float, n: int, _: Findings) -> str:
    if n < 5 or value >= GOOD:  # noqa: PLR2004 - fewer say nothing
        return ""
    return f"{rater} differs from what was settled on {n} control responses: go through them."


def _attention(rater: str, value: float, n: int, _: Findings) -> str:
    n_failed = n - round(value * n)
    if not n_failed:
        return ""
    return f"{rater} failed {n_failed} of {n} attention checks: go through the labels around them."


def _changed(rater: str, value: float, n: int, _: Findings) -> str:
    if n < FEWEST or value < 0.1:  # noqa: PLR2004 - one in ten
        return ""
    return f"{rater} changed {value:.0%} of the labels: start a new round instead of correcting."


def _outdated(rater: str, value: float, n: int, _: Findings) -> str:
    if not value:
        return ""
    count = round(value * n)
    if count == 1:
        return f"1 label by {rater} is of a text that changed since: have it labelled again."
    return f"{count} labels by {rater} are of texts that changed since: have these labelled again."


_NEARLY_ALL = 0.9

_RULES: Mapping[str, Callable[[str, float, int, Findings], str]] = {
    "completeness": _completeness,
    "most_frequent_share": _one_value,
    "longest_run": _run,
    "identical_share": _identical,
    "severity": _severity,
    "opposite_ends": _opposite_ends,
    "agreement": _agreement,
    "alpha_without": _alpha_without,
    "expert_agreement": _experts,
    "skipped_share": _skipped,
    "skipped_difference": _skipped_difference,
    "confidence_gain": _confidence,
    "seconds": _seconds,
    "too_fast_share": _too_fast,
    "drift": _drift,
    "self_agreement": _self_agreement,
    "control_agreement": _controls,
    "attention": _attention,
    "changed_share": _changed,
    "outdated_share": _outdated,
}


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Test = Callable[[], float]
"""Returns the chance of a figure at least this extreme; called only where it matters."""

Name = TypeVar("Name")

_ERROR_RATE = 0.05
"""Chance that honest labels of a whole evaluation lead to any advice on tested figures."""

_DRAWS = 20_000
_CHUNK = 1_000
_ENOUGH = 20
"""Number of draws beyond the figure after which it is not exceptional (Besag and Clifford,
1991)."""


def beyond_chance(candidates: Mapping[Name, Test], *, n_tests: int) -> set[Name]:
    """Return the candidates that are more than chance, by Holm's correction for all tests.

    Args:
        candidates: Tests of the figures that are large enough for advice.
        n_tests: Tests that could have led to advice, these included.
    """
    adjusted = holm_p_values([test() for test in candidates.values()], n_tests=n_tests)
    return {name for name, p in zip(candidates, adjusted, strict=True) if p <= _ERROR_RATE}


def flipped_signs(values: Floats) -> float:
    """Return the chance that values with random signs have a mean this far below 0."""
    values = values[~np.isnan(values)]
    limit = values.mean() + 1e-12

    def draw(rng: np.random.Generator, n: int) -> Bools:
        signs = rng.integers(0, 2, (n, len(values)), dtype=np.int8) * 2 - 1
        return np.asarray((signs @ values) / len(values) <= limit)

    return _share(draw, len(values))


def shuffled(values: Floats, statistic: Callable[[Floats], Floats]) -> float:
    """Return the chance that shuffled values have a statistic as large as in this order.

    `statistic` takes rows of values, and returns one number for each row.
    """
    limit = statistic(values[None, :])[0] - 1e-12

    def draw(rng: np.random.Generator, n: int) -> Bools:
        rows = rng.permuted(np.broadcast_to(values, (n, len(values))), axis=1)
        return np.asarray(statistic(rows) >= limit)

    return _share(draw, len(values))


def exchanged(by_rater: Floats, column: int, *, margin: float = 0.0) -> float:
    """Return the chance that raters drawn for each response have a mean as large as one rater's."""
    shared = ~np.isnan(by_rater[:, column]) & (np.count_nonzero(~np.isnan(by_rater), axis=1) > 1)
    rows = by_rater[shared]
    if not len(rows):
        return math.nan
    limit = rows[:, column].mean() - margin - 1e-12
    order = np.argsort(np.isnan(rows), axis=1, kind="stable")
    values = np.take_along_axis(rows, order, axis=1)
    n_values = np.count_nonzero(~np.isnan(rows), axis=1)
    numbers = np.arange(len(rows))

    def draw(rng: np.random.Generator, n: int) -> Bools:
        chosen = (rng.random((n, len(rows))) * n_values).astype(np.int64)
        return np.asarray(values[numbers, chosen].mean(axis=1) >= limit)

    return _share(draw, len(rows))


def binomial_tail(count: int, n: int, share: float) -> float:
    """Return the chance of at least `count` successes in `n` trials.

    Examples:
        >>> round(binomial_tail(2, 2, 0.5), 12), round(binomial_tail(0, 3000, 0.1), 9)
        (0.25, 1.0)
    """
    # Logarithms: the coefficients of a few thousand trials are beyond floating point.
    terms = (
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(share)
        + (n - k) * math.log1p(-share)
        for k in range(count, n + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def longest_runs(rows: Floats) -> Floats:
    """Return the length of the longest run of equal values in each row.

    Examples:
        >>> longest_runs(np.array([[1.0, 1, 2, 2, 2, 1], [1, 2, 1, 2, 1, 2]])).tolist()
        [3.0, 1.0]
    """
    changes = [np.flatnonzero(row[1:] != row[:-1]) + 1 for row in rows]
    ends = rows.shape[1]
    return np.array([np.diff(at, prepend=0, append=ends).max() for at in changes], dtype=float)


def _share(draw: Callable[[np.random.Generator, int], Bools], length: int) -> float:
    """Return the share of draws beyond the figure, the figure itself among them.

    It ends early if many are, because such a figure is not exceptional.
    """
    rng = np.random.default_rng(0)
    chunk = max(20, min(_CHUNK, 2_000_000 // max(1, length)))
    n_beyond = n_drawn = 0
    while n_drawn < _DRAWS and n_beyond < _ENOUGH:
        n_beyond += int(np.count_nonzero(draw(rng, chunk)))
        n_drawn += chunk
    return (1 + n_beyond) / (1 + n_drawn)
