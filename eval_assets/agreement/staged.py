"""Staged judging: when one judge of a pair is enough."""

import hashlib
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, assert_never

from eval_assets.config.judges import Staged
from eval_assets.scale import TOLERANCE
from eval_assets.wording import figure_text

FEWEST_SPOT_CHECKS = 5
"""With fewer, kappa has nothing between total agreement and none."""

Stage = Literal["both", "one"]
"""Stage of a pair: both judges score every unit, or the second one spot checks."""


@dataclass(frozen=True)
class StageChange:
    """From which unit on which judges of the pair are asked; a row of `staged_mode`.

    Args:
        mode: `both` judges, or `one` and spot checks by the other.
        kappa: Cohen's kappa that decided; NaN at the start.
    """

    position: int
    mode: Stage
    kappa: float
    n: int
    reason: str


def next_stage(
    stage: Stage, *, kappa: float, exact_agreement: float, n_units: int, staged: Staged
) -> tuple[Stage, str]:
    """Return the next stage, one judge or two, with the reason.

    An undefined kappa never leads to one judge: twenty equal scores show no ability to tell
    responses apart. Nor does it lead back to two as long as the judges agree.

    Args:
        stage: The stage so far.
        kappa: Cohen's kappa of the pair, scores above the middle of the scale against the rest:
            on the latest `staged.window` units, in stage `one` on its spot checks. NaN where
            undefined.
        exact_agreement: Share of these units on the same side of the middle, in [0, 1].
        n_units: How many units these are.
        staged: The thresholds.

    Examples:
        >>> next_stage("both", kappa=0.9, exact_agreement=0.95, n_units=100, staged=Staged())[0]
        'one'
        >>> next_stage("one", kappa=0.6, exact_agreement=0.8, n_units=20, staged=Staged())[0]
        'both'
    """
    limits = (staged.kappa, staged.revert_below)
    kappa_text = f"is {'undefined' if math.isnan(kappa) else figure_text(kappa, limits=limits)}"
    match stage:
        case "both":
            if n_units < staged.window:
                return "both", f"{n_units} of {staged.window} units are judged"
            if kappa >= staged.kappa - TOLERANCE:
                return "one", f"kappa {kappa_text}, {staged.kappa:g} is enough"
            return "both", f"kappa {kappa_text}, {staged.kappa:g} is needed"
        case "one":
            if n_units < FEWEST_SPOT_CHECKS:
                return "one", f"{n_units} of {FEWEST_SPOT_CHECKS} spot checks"
            differ = math.isnan(kappa) and exact_agreement < 1 - TOLERANCE
            if differ or kappa < staged.revert_below - TOLERANCE:
                needed = f"{staged.revert_below:g} is needed"
                return "both", f"kappa on spot checks {kappa_text}, {needed}"
            return "one", f"kappa on spot checks {kappa_text}"
        case _ as unreachable:
            assert_never(unreachable)


def spot_checks(response_ids: Collection[str], *, share: float) -> frozenset[str]:
    """Return the responses of a window that the second judge scores in stage `one`.

    Chosen by a hash of their ids, so that every run makes the same choice and no user can influence
    it. The share is exact: of 100 responses drawn one by one at 5 %, fewer than five come out in
    44 % of cases. Responses that come later change nothing.

    Args:
        response_ids: All responses of the window.
        share: Share to check, in (0, 1].

    Examples:
        >>> len(spot_checks([f"r{i}" for i in range(100)], share=0.05))
        5
    """
    n = math.ceil(share * len(response_ids) - TOLERANCE)
    by_hash = sorted(response_ids, key=lambda item: hashlib.sha256(item.encode()).digest())
    return frozenset(by_hash[:n])
