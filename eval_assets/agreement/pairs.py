"""How far two judges agree: on each group of responses, on single ones, and over all."""

import itertools
import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import JudgedUnits
from eval_assets.evaluation import judge_set_fingerprint
from eval_assets.scale import TOLERANCE
from eval_assets.stats import cohen_kappa, wilcoxon_signed_rank

Floats = npt.NDArray[np.float64]

MIDDLE = 0.5
"""Scores above it, on the scale taken to [0, 1], are of one class and the rest of the other."""

GOOD_KAPPA = 0.70
"""Lowest kappa of a pair that passes, and of a group that is not listed as a disagreement."""

LOW_KAPPA, MOST_LOW_GROUPS = 0.40, 0.30
"""Above this share of groups below that kappa, the prompt deserves a look."""

SIGNIFICANT, HIGHEST_THRESHOLD = 0.05, 0.9


GROUP_DIFFERENCE = 0.4
"""Mean difference in a group of responses, on the scale taken to [0, 1], above which a human looks.

The mean of the differences, not the difference of the means: 1, 0 against 0, 1 differs by 1."""

RESPONSE_DIFFERENCE = 0.3
"""Difference on one response, likewise."""


@dataclass(frozen=True)
class Validation:
    """How a pair of judges did in one run; a row of `dual_judge_validation`."""

    timestamp: datetime
    kappa_macro: float
    kappa_micro: float
    status: str
    n_groups: int
    n_groups_defined: int
    n_units: int
    wilcoxon_p: float
    median_difference: float
    judge1_id: str
    judge2_id: str
    fingerprint: str
    notes: str


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of scores above the middle of the scale against the rest.

    Args:
        value: 1 for perfect agreement, 0 for chance; NaN where it is undefined.
        reason: Why it is undefined: `no_pairs`, or `single_class` where both judges put
            everything on the same side; empty where it is not.
        n_units: Units that both judges scored.
    """

    value: float
    reason: str
    n_units: int


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """What the judges say pair by pair.

    Args:
        groups: Rows of `group_judgements`, of the first two judges.
        disagreements: Rows of `judge_disagreements`, of every pair, worst first.
        validation: How the first two judges did; None where there are no two.
    """

    groups: pd.DataFrame
    disagreements: pd.DataFrame
    validation: Validation | None


def pair_kappa(one: npt.ArrayLike, other: npt.ArrayLike) -> PairKappa:
    """Kappa of two judges' scores, split at the middle of the scale.

    The split hides how near the scores are: read it beside their differences. On five units no
    value lies between .615 and 1.

    Args:
        one: Scores on the scale taken to [0, 1], NaN where there is none.
        other: The other judge's scores of the same units.

    Examples:
        >>> found = pair_kappa([0.9, 0.5, 0.49], [0.51, 0.1, np.nan])
        >>> found.value, found.n_units
        (1.0, 2)
        >>> pair_kappa([0.9, 0.8], [0.7, 0.8]).reason
        'single_class'
    """
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    both = ~(np.isnan(a) | np.isnan(b))
    n_units = int(both.sum())
    if not n_units:
        return PairKappa(math.nan, "no_pairs", 0)
    kappa = cohen_kappa(a[both] > MIDDLE, b[both] > MIDDLE, weights=None)
    return PairKappa(kappa, "single_class" if math.isnan(kappa) else "", n_units)


def measure_pairs(judged: JudgedUnits, *, at: datetime) -> PairMeasures:
    """Measure every pair of judges; the first two as declared are the pair that is validated.

    Args:
        judged: Units and scores.
        at: When, UTC.
    """
    parts = []
    first: tuple[pd.DataFrame, Validation] | None = None
    pairs = itertools.combinations(judged.scores, 2) if len(judged.units) else ()
    for one, other in pairs:
        groups = _groups(judged, one, other)
        parts.append(_disagreements(judged, one, other, groups))
        if first is None:
            first = (
                _judgements(judged, one, other, groups, at=at),
                _validation(judged, one, other, groups, at=at),
            )
    filled = [part for part in parts if len(part)]
    listed = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
    if first is None:
        return PairMeasures(pd.DataFrame(), listed, None)
    if len(listed):
        order = ["difference", "group_id", "question_id", "scope"]
        listed = listed.sort_values(order, ascending=[False, True, True, True], ignore_index=True)
    return PairMeasures(first[0], listed, first[1])


def on_unit_scale(judged: JudgedUnits, judge_id: str) -> Floats:
    """A judge's scores on the scale taken to [0, 1], NaN where there is none."""
    low = judged.units["scale_min"].to_numpy(dtype=np.float64)
    high = judged.units["scale_max"].to_numpy(dtype=np.float64)
    scaled: Floats = (judged.scores[judge_id] - low) / (high - low)
    return scaled


def _groups(judged: JudgedUnits, one: str, other: str) -> pd.DataFrame:
    """One row a question and group: where its units stand, its kappa and mean scores."""
    a, b = on_unit_scale(judged, one), on_unit_scale(judged, other)
    keys = judged.units[["question_id", "group_id"]]
    begins = np.flatnonzero((keys != keys.shift()).any(axis=1).to_numpy())
    rows = []
    for start, end in zip(begins, [*begins[1:], len(keys)], strict=True):
        kappa = pair_kappa(a[start:end], b[start:end])
        far = np.abs(a[start:end] - b[start:end])
        is_both = ~np.isnan(far)
        seen = is_both.any()
        rows.append(
            {
                "start": start,
                "end": end,
                "n_units": kappa.n_units,
                "kappa": kappa.value,
                "kappa_reason": kappa.reason or None,
                "judge1_score": a[start:end][is_both].mean() if seen else math.nan,
                "judge2_score": b[start:end][is_both].mean() if seen else math.nan,
                # of the differences, not the difference of the means, which opposite ones cancel
                "difference": far[is_both].mean() if seen else math.nan,
                "largest_difference": far[is_both].max() if seen else math.nan,
            }
        )
    named = judged.units.iloc[begins][["group_id", "question_id", "query"]]
    return pd.concat([named.reset_index(drop=True), pd.DataFrame(rows)], axis=1)


def _judgements(
    judged: JudgedUnits, one: str, other: str, groups: pd.DataFrame, *, at: datetime
) -> pd.DataFrame:
    """Rows of `group_judgements`: every response of a group, scored or not."""
    response_ids = judged.units["response_id"].tolist()
    rows = []
    for group in groups.itertuples():
        part = slice(int(str(group.start)), int(str(group.end)))
        scores: dict[str, object] = {}
        for name, judge in (("judge1", one), ("judge2", other)):
            given = judged.scores[judge][part]
            has_any = not np.isnan(given).all()
            scores |= {
                f"{name}_id": judge,
                # a judge that said nothing of these responses is not named as one who did
                f"{name}_model": judged.models[judge] if has_any else None,
                f"{name}_score": [None if math.isnan(x) else float(x) for x in given],
            }
        rows.append({"response_ids": response_ids[part], **scores})
    kept = groups[["group_id", "question_id", "query", "n_units", "kappa", "kappa_reason"]]
    return pd.concat([kept, pd.DataFrame(rows)], axis=1).assign(created_at=at)


def _disagreements(judged: JudgedUnits, one: str, other: str, groups: pd.DataFrame) -> pd.DataFrame:
    """Responses and groups on which two judges differ too much."""
    is_far = groups["difference"] > GROUP_DIFFERENCE + TOLERANCE
    is_low = groups["kappa"] < GOOD_KAPPA - TOLERANCE
    far, low = f"mean difference above {GROUP_DIFFERENCE}", f"kappa below {GOOD_KAPPA}"
    by_group = groups.assign(
        scope="group",
        response_id=None,
        reason=np.where(is_far & is_low, f"{far}, {low}", np.where(is_far, far, low)),
    )[is_far | is_low]

    a, b = on_unit_scale(judged, one), on_unit_scale(judged, other)
    difference = np.abs(a - b)
    group_of = np.repeat(np.arange(len(groups)), (groups["end"] - groups["start"]).to_numpy(int))
    place = np.flatnonzero(difference > RESPONSE_DIFFERENCE + TOLERANCE)
    by_response = groups.iloc[group_of[place]].assign(
        scope="response",
        query=judged.units["query"].to_numpy()[place],
        response_id=judged.units["response_id"].to_numpy()[place],
        judge1_score=a[place],
        judge2_score=b[place],
        difference=difference[place],
        largest_difference=difference[place],
        reason=f"difference above {RESPONSE_DIFFERENCE}",
    )
    filled = [part for part in (by_group, by_response) if len(part)]
    if not filled:
        return pd.DataFrame()
    return (
        pd.concat(filled, ignore_index=True)
        .drop(columns=["start", "end"])
        .assign(judge1_id=one, judge2_id=other)
    )


def _validation(
    judged: JudgedUnits, one: str, other: str, groups: pd.DataFrame, *, at: datetime
) -> Validation:
    """Whether the pair passes: both kappas from `GOOD_KAPPA` on; undefined never passes."""
    a, b = on_unit_scale(judged, one), on_unit_scale(judged, other)
    difference = (a - b)[~np.isnan(a - b)]
    defined = groups["kappa"].dropna()
    micro = pair_kappa(a, b)
    macro = math.fsum(defined) / len(defined) if len(defined) else math.nan
    p = wilcoxon_signed_rank(a, b)
    # The median of the differences: the difference of the medians can have the other sign.
    median = float(np.median(difference)) if len(difference) else math.nan
    return Validation(
        timestamp=at,
        kappa_macro=macro,
        kappa_micro=micro.value,
        status=_status(macro, micro.value),
        n_groups=len(groups),
        n_groups_defined=len(defined),
        n_units=micro.n_units,
        wilcoxon_p=p,
        median_difference=median,
        judge1_id=one,
        judge2_id=other,
        fingerprint=judge_set_fingerprint(
            {judge: judged.fingerprints[judge] for judge in (one, other)}
        ),
        notes="; ".join(_notes(groups, (one, other), p=p, median=median)),
    )


def _status(macro: float, micro: float) -> str:
    """`pass`, `fail`, or `not_evaluable` where a kappa is undefined."""
    if math.isnan(macro) or math.isnan(micro):
        return "not_evaluable"
    return "pass" if min(macro, micro) >= GOOD_KAPPA - TOLERANCE else "fail"


def _notes(groups: pd.DataFrame, judges: tuple[str, str], *, p: float, median: float) -> list[str]:
    """What a reader of the figures should know."""
    notes = []
    n_undefined = int(groups["kappa"].isna().sum())
    if n_undefined:
        notes.append(f"{n_undefined} of {len(groups)} groups have no kappa and are in no mean")
    n_low = int((groups["kappa"] < LOW_KAPPA).sum())
    if n_low > MOST_LOW_GROUPS * len(groups):
        notes.append(f"kappa is below {LOW_KAPPA:g} in {n_low} of {len(groups)} groups")
    if p < SIGNIFICANT and median != 0:
        higher, lower = judges if median > 0 else judges[::-1]
        threshold = min(MIDDLE + abs(median), HIGHEST_THRESHOLD)
        notes.append(
            f"{higher} scores higher than {lower} (Wilcoxon p {p:.2g}, median difference "
            f"{abs(median):.2f}): split its scores at {threshold:.2f} instead of {MIDDLE}"
        )
    return notes
