"""Agreement of judges pair by pair, and pooled over questions, prompts or evaluations."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import Floats, Integers, JudgedUnits, LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import DualJudge, judge_set_fingerprint
from eval_assets.scale import TOLERANCE, Level
from eval_assets.stats import krippendorff_alpha, wilcoxon_signed_rank

MIDDLE = 0.5
"""Scores are split here, on the scale taken to [0, 1]: those above form one class."""


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of scores above the middle of the scale against the rest.

    Args:
        reason: Reason why it is undefined: `no_pairs`, or `single_class` if all scores of both
        judges are on the same side; empty if it is defined.
    """

    value: float
    reason: str
    n_units: int


def pair_kappa(first: npt.ArrayLike, second: npt.ArrayLike) -> PairKappa:
    """Return kappa of two judges' scores, split at the middle of the scale.

    The split hides the distance of the scores, so read it beside their differences. On five units
    no value lies between .615 and 1.

    Examples:
        >>> found = pair_kappa([0.9, 0.5, 0.49], [0.51, 0.1, np.nan])
        >>> found.value, found.n_units
        (1.0, 2)
        >>> pair_kappa([0.9, 0.8], [0.7, 0.8]).reason
        'single_class'
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    [value], [n_units] = kappa_by_group(a, b, np.zeros(len(a), dtype=np.int64), n_groups=1)
    reason = "" if not math.isnan(value) else "single_class" if n_units else "no_pairs"
    return PairKappa(float(value), reason, int(n_units))


def macro_kappa(kappa: Floats, n_units: Integers) -> float:
    """Return the mean of the kappas of groups that have one.

    NaN if no group has a kappa, or none has two units that both judges scored. The kappa of a
    single unit is 0 if judges differ on it and else undefined, so that the mean would always be 0.
    """
    return mean_of_defined(kappa) if (n_units > 1).any() else math.nan


def kappa_by_group(
    first: Floats, second: Floats, group: Integers, *, n_groups: int
) -> tuple[Floats, Integers]:
    """Return the kappa of each group of units, and its number of units.

    NaN for a group without a unit that both scored, or with all scores on one side.
    """
    is_paired = ~(np.isnan(first) | np.isnan(second))
    cell = 2 * (first[is_paired] > MIDDLE) + (second[is_paired] > MIDDLE)
    counts = np.bincount(4 * group[is_paired] + cell, minlength=4 * n_groups).reshape(n_groups, 4)
    n = counts.sum(axis=1)
    n_one, n_other = counts[:, 2] + counts[:, 3], counts[:, 1] + counts[:, 3]
    # in whole numbers: n * n times the observed and the expected share of equal classes
    observed = n * (counts[:, 0] + counts[:, 3])
    expected = n_one * n_other + (n - n_one) * (n - n_other)
    kappa = np.full(n_groups, np.nan)
    np.divide(observed - expected, n * n - expected, out=kappa, where=n * n > expected)
    return kappa, n


Part = tuple[LongRatings, Level]
"""Ratings on [0, 1] and the level of their alpha."""


def parts_on_unit(ratings: Mapping[str, LongRatings], evaluation: Evaluation) -> list[Part]:
    """Return the ratings of each question on [0, 1]."""
    parts: list[Part] = []
    for question in evaluation.rubric:
        part = ratings[question.id]
        level: Level = "interval" if question.has_order else "nominal"
        parts.append((replace(part, value=question.scale.to_unit(part.value)), level))
    return parts


def pooled_if_ordered(parts: Sequence[Part]) -> Sequence[Part]:
    """Return one part with all units if every question has an order, else the parts."""
    if len(parts) > 1 and all(level == "interval" for _, level in parts):
        return [(pooled([ratings for ratings, _ in parts]), "interval")]
    return parts


def pooled(parts: Sequence[LongRatings]) -> LongRatings:
    """Return the ratings of all parts, as separate units; raters are matched by id."""
    rater_ids = tuple(dict.fromkeys(rater for part in parts for rater in part.rater_ids))
    index = {rater: column for column, rater in enumerate(rater_ids)}
    columns = [np.array([index[rater] for rater in part.rater_ids], int) for part in parts]
    units = [part.unit.astype(np.int64) for part in parts]
    unit = np.concatenate([numbers * len(parts) + place for place, numbers in enumerate(units)])
    rater = np.concatenate(
        [numbers[part.rater] for numbers, part in zip(columns, parts, strict=True)]
    )
    value = np.concatenate([part.value for part in parts])
    return LongRatings(unit, rater, value, rater_ids, parts[0].group)


def mean_alpha(parts: Sequence[Part], *, without: int | None) -> float:
    """Return the mean of the parts' defined alphas, without the rater of that index."""
    return mean_of_defined(_alpha(ratings, level, without=without) for ratings, level in parts)


def mean_of_defined(values: Iterable[float]) -> float:
    """Return the mean of the figures that are defined; NaN if none is."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def alpha_over_evaluations(
    evaluations: Iterable[tuple[Evaluation, Mapping[str, LongRatings]]],
) -> tuple[float, int]:
    """Return the judges' alpha over several evaluations, and the number of units with two scores.

    Scores lie on [0, 1], at the interval level; a judge is the same rater wherever its id is the
    same. If a question is unordered, alpha is the mean over all questions.
    """
    parts = [
        part for evaluation, scores in evaluations for part in parts_on_unit(scores, evaluation)
    ]
    n_units = sum(int((np.bincount(ratings.unit) > 1).sum()) for ratings, _ in parts)
    return (
        (mean_alpha(pooled_if_ordered(parts), without=None), n_units) if n_units else (math.nan, 0)
    )


def _alpha(ratings: LongRatings, level: Level, *, without: int | None) -> float:
    is_kept = ratings.rater != (-1 if without is None else without)
    units, row = np.unique(ratings.unit[is_kept], return_inverse=True)
    matrix = np.full((len(units), len(ratings.rater_ids)), np.nan)
    matrix[row, ratings.rater[is_kept]] = ratings.value[is_kept]
    return krippendorff_alpha(matrix, level=level)


LOW_KAPPA, MOST_LOW_PROMPTS = 0.40, 0.30
"""A low kappa of a prompt, and share of such prompts above which the judges' prompt needs work."""

SIGNIFICANT, HIGHEST_THRESHOLD = 0.05, 0.9

NOT_INDEPENDENT = "not_independent"
"""State of a pair of one family, which meets no target."""


@dataclass(frozen=True)
class Validation:
    """Agreement of a pair of judges in one run; a row of `dual_judge_validation`."""

    timestamp: datetime
    kappa_macro: float
    kappa_micro: float
    status: str
    n_prompts: int
    n_prompts_defined: int
    n_units: int
    wilcoxon_p: float
    median_difference: float
    judge1_id: str
    judge2_id: str
    fingerprint: str
    notes: str


@dataclass(frozen=True, eq=False)
class PairMeasures:
    """Agreement of judges pair by pair."""

    prompts: pd.DataFrame
    disagreements: pd.DataFrame
    validation: Validation | None


def measure_pairs(
    judged: JudgedUnits, limits: DualJudge, *, is_independent: bool, at: datetime
) -> PairMeasures:
    """Measure every pair of judges; the first two declared are the pair that is validated.

    The pair is independent unless both are of one family, whose errors are the same.
    """
    parts = []
    first: tuple[pd.DataFrame, Validation] | None = None
    pairs = itertools.combinations(judged.scores, 2) if len(judged.units) else ()
    for item, peer in pairs:
        low, high = (judged.units[end].to_numpy(np.float64) for end in ("scale_min", "scale_max"))
        # on the scale taken to [0, 1], NaN if missing
        a, b = ((judged.scores[judge] - low) / (high - low) for judge in (item, peer))
        prompts = _by_prompt(judged, a, b)
        listed_pair = _disagreements(judged, a, b, prompts, limits)
        parts.append(listed_pair.assign(judge1_id=item, judge2_id=peer))
        if first is None:
            difference = (a - b)[~np.isnan(a - b)]
            micro = pair_kappa(a, b)
            macro = macro_kappa(prompts["kappa"].to_numpy(), prompts["n_units"].to_numpy())
            p = wilcoxon_signed_rank(a, b)
            # The median of the differences: the difference of medians can have the other sign.
            median = float(np.median(difference)) if len(difference) else math.nan
            passes = min(macro, micro.value) >= limits.kappa - TOLERANCE
            is_open = math.isnan(macro + micro.value)
            status = "not_evaluable" if is_open else "pass" if passes else "fail"
            validation = Validation(
                timestamp=at,
                kappa_macro=macro,
                kappa_micro=micro.value,
                status=status if is_independent else NOT_INDEPENDENT,
                n_prompts=len(prompts),
                n_prompts_defined=int(prompts["kappa"].count()),
                n_units=micro.n_units,
                wilcoxon_p=p,
                median_difference=median,
                judge1_id=item,
                judge2_id=peer,
                fingerprint=judge_set_fingerprint(
                    {judge: judged.fingerprints[judge] for judge in (item, peer)}
                ),
                notes="; ".join(_notes(prompts, (item, peer), p=p, median=median)),
            )
            first = _judgements(judged, item, peer, prompts, at=at), validation
    filled = [part for part in parts if len(part)]
    listed = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
    if first is None:
        return PairMeasures(pd.DataFrame(), listed, None)
    if len(listed):
        order = ["difference", "prompt_id", "question_id", "scope"]
        listed = listed.sort_values(order, ascending=[False, True, True, True], ignore_index=True)
    return PairMeasures(first[0], listed, first[1])


def _by_prompt(judged: JudgedUnits, a: Floats, b: Floats) -> pd.DataFrame:
    """Return a row per question and prompt: the index of its units, its kappa and mean scores."""
    keys = judged.units[["question_id", "prompt_id"]]
    begins = np.flatnonzero((keys != keys.shift()).any(axis=1).to_numpy())
    ends = np.append(begins[1:], len(keys))
    prompt_of = np.repeat(np.arange(len(begins)), ends - begins)
    kappa, n_units = kappa_by_group(a, b, prompt_of, n_groups=len(begins))
    # of the differences, not the difference of the means, which opposite ones cancel
    distance = np.abs(a - b)
    is_both = ~np.isnan(distance)

    def mean(values: Floats) -> Floats:
        means = np.full(len(begins), np.nan)
        sums = np.bincount(prompt_of[is_both], weights=values[is_both], minlength=len(begins))
        np.divide(sums, n_units, out=means, where=n_units > 0)
        return means

    named = judged.units.iloc[begins][["prompt_id", "question_id", "query"]].astype(object)
    return named.reset_index(drop=True).assign(
        start=begins,
        end=ends,
        n_units=n_units,
        kappa=kappa,
        kappa_reason=pd.Series(np.where(n_units > 0, "single_class", "no_pairs")).where(
            np.isnan(kappa), None
        ),
        judge1_score=mean(a),
        judge2_score=mean(b),
        difference=mean(distance),
        largest_difference=pd.Series(distance).groupby(prompt_of).max().to_numpy(),
    )


def _judgements(
    judged: JudgedUnits, first: str, second: str, prompts: pd.DataFrame, *, at: datetime
) -> pd.DataFrame:
    """Return rows of `prompt_judgements`: every response to a prompt, scored or not."""
    parts = [
        slice(start, end)
        for start, end in zip(prompts["start"].tolist(), prompts["end"].tolist(), strict=True)
    ]
    response_ids = judged.units["response_id"].tolist()
    columns: dict[str, object] = {"response_ids": [response_ids[part] for part in parts]}
    for name, judge in (("judge1", first), ("judge2", second)):
        is_missing = np.isnan(judged.scores[judge])
        values = judged.scores[judge].astype(object)
        values[is_missing] = None
        scores = values.tolist()
        # a judge that scored none of these responses is not named
        models = np.full(len(parts), None, dtype=object)
        models[np.logical_or.reduceat(~is_missing, prompts["start"])] = judged.models[judge]
        columns |= {
            f"{name}_id": judge,
            f"{name}_model": models,
            f"{name}_score": [scores[part] for part in parts],
        }
    key_columns = prompts[["prompt_id", "question_id", "query", "n_units", "kappa", "kappa_reason"]]
    return pd.concat([key_columns, pd.DataFrame(columns, index=key_columns.index)], axis=1).assign(
        created_at=at
    )


def _disagreements(
    judged: JudgedUnits, a: Floats, b: Floats, prompts: pd.DataFrame, limits: DualJudge
) -> pd.DataFrame:
    """Return responses and prompts on which two judges differ too much.

    A prompt counts with the mean of the differences, not with the difference of the means: 1, 0 and
    0, 1 differ by 1.
    """
    is_far = prompts["difference"] > limits.group_disagreement + TOLERANCE
    is_low = prompts["kappa"] < limits.kappa - TOLERANCE
    far = f"mean difference above {limits.group_disagreement:g}"
    low = f"kappa below {limits.kappa:g}"
    by_prompt = prompts.assign(
        scope="prompt",
        response_id=None,
        reason=np.where(is_far & is_low, f"{far}, {low}", np.where(is_far, far, low)),
    )[is_far | is_low]

    difference = np.abs(a - b)
    prompt_of = np.repeat(
        np.arange(len(prompts)), (prompts["end"] - prompts["start"]).to_numpy(int)
    )
    index = np.flatnonzero(difference > limits.disagreement + TOLERANCE)
    by_response = prompts.iloc[prompt_of[index]].assign(
        scope="response",
        query=judged.units["query"].iloc[index].to_numpy(dtype=object),
        response_id=judged.units["response_id"].iloc[index].to_numpy(dtype=object),
        judge1_score=a[index],
        judge2_score=b[index],
        difference=difference[index],
        largest_difference=difference[index],
        reason=f"difference above {limits.disagreement:g}",
    )
    filled = [part for part in (by_prompt, by_response) if len(part)]
    if not filled:
        return pd.DataFrame()
    return pd.concat(filled, ignore_index=True).drop(columns=["start", "end"])


def _notes(prompts: pd.DataFrame, judges: tuple[str, str], *, p: float, median: float) -> list[str]:
    notes = []
    several = len(prompts["question_id"].unique()) > 1
    n_all = f"{len(prompts)} {'pairs of prompt and question' if several else 'prompts'}"
    n_undefined = int(prompts["kappa"].isna().sum())
    n_low = int((prompts["kappa"] < LOW_KAPPA).sum())
    if (prompts["n_units"] <= 1).all():
        notes.append(
            "there is no mean over prompts, since none has two responses with both scores: use "
            "the kappa over all units"
        )
    else:
        if n_undefined:
            notes.append(f"{n_undefined} of {n_all} have no kappa and are left out of the mean")
        if n_low > MOST_LOW_PROMPTS * len(prompts):
            notes.append(f"kappa is below {LOW_KAPPA:g} on {n_low} of {n_all}")
    if p < SIGNIFICANT and median != 0:
        higher, lower = judges if median > 0 else judges[::-1]
        shown_p = "below 0.001" if p < 0.001 else f"{p:.2g}"  # noqa: PLR2004 - as papers do
        threshold = min(MIDDLE + abs(median), HIGHEST_THRESHOLD)
        notes.append(
            f"{higher} scores higher than {lower} (Wilcoxon p {shown_p}, median difference "
            f"{abs(median):.2f}): split its scores at {threshold:.2f} instead of {MIDDLE}"
        )
    return notes
