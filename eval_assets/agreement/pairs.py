"""Agreement of judges pair by pair."""

import itertools
import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from eval_assets.agreement.pooled_coefficients import (
    MIDDLE,
    kappa_by_group,
    macro_kappa,
    pair_kappa,
)
from eval_assets.agreement.ratings import Floats, JudgedUnits
from eval_assets.config.judges import DualJudge, judge_set_fingerprint
from eval_assets.scale import TOLERANCE
from eval_assets.stats import wilcoxon_signed_rank

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
