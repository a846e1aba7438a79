"""Staged judging: both judges of a pair until they agree, then one and spot checks."""

import math
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence

from eval_assets.agreement.split_kappa import MIDDLE, pair_kappa
from eval_assets.agreement.staged import Stage, StageChange, next_stage, spot_checks
from eval_assets.config.judges import Judge, Staged
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.replicates import JudgeScore

Judges = Sequence[LiveModel[Judge]]
Score = Callable[[Sequence[Unit], Judges], Awaitable[Sequence[JudgeScore]]]
"""Asks judges about units; returns the scores by unit and then by judge."""


async def judge_in_stages(
    units: Sequence[Unit], judges: Judges, score: Score, *, staged: Staged
) -> tuple[StageChange, ...]:
    """Judge units window by window; after each, the first two judges' agreement decides.

    The stage at a unit follows from the units before it alone. So a rerun comes to the same stages
    and finds its replies in the ledger, and there is no state to go stale. Units go by response,
    not by question: agreement on one question says nothing about the next.

    Args:
        units: What to rate.
        judges: Who rates it; the second is left out of stage `one` except for spot checks.
        score: Asks judges about units.
        staged: The thresholds.

    Returns:
        The stages, from the first.
    """
    ordered = sorted(units, key=lambda unit: unit.response_id)
    checked = spot_checks({unit.response_id for unit in units}, share=staged.spot_check)
    stage: Stage = "both"
    changes = [StageChange(0, stage, math.nan, 0, "both judges are asked at first")]
    pairs: list[tuple[float, float]] = []
    for start in range(0, len(ordered), staged.window):
        window = ordered[start : start + staged.window]
        for part, asked in _asked(window, judges, stage=stage, checked=checked):
            scores = await score(part, asked)
            if len(asked) == len(judges):
                pairs += _pairs(part, scores, n_judges=len(judges))
        latest = pairs[-staged.window :]
        kappa = pair_kappa([one for one, _ in latest], [other for _, other in latest])
        decision = next_stage(
            stage,
            kappa=kappa.value,
            exact_agreement=_exact_agreement(latest),
            n_units=kappa.n_units,
            staged=staged,
        )
        if decision.stage != stage:
            stage, pairs = decision.stage, []
            n_done = start + len(window)
            changes.append(StageChange(n_done, stage, kappa.value, kappa.n_units, decision.reason))
    return tuple(changes)


def _exact_agreement(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the share of pairs on one side of the middle; NaN without pairs."""
    n_same = sum((one > MIDDLE) == (other > MIDDLE) for one, other in pairs)
    return n_same / len(pairs) if pairs else math.nan


def _asked(
    window: Sequence[Unit], judges: Judges, *, stage: Stage, checked: Collection[str]
) -> list[tuple[Sequence[Unit], Judges]]:
    """Return which judges are asked about which units of a window."""
    if stage == "both":
        return [(window, judges)]
    spots = [unit for unit in window if unit.response_id in checked]
    rest = [unit for unit in window if unit.response_id not in checked]
    all_but_second = [*judges[:1], *judges[2:]]
    return [(part, asked) for part, asked in ((spots, judges), (rest, all_but_second)) if part]


def _pairs(
    units: Sequence[Unit], scores: Sequence[JudgeScore], *, n_judges: int
) -> Iterator[tuple[float, float]]:
    """Yield scores of the first two judges on [0, 1], for units that have both."""
    for place, unit in enumerate(units):
        one, other = scores[place * n_judges : place * n_judges + 2]
        if one.status == "ok" and other.status == "ok":
            to_unit = unit.question.scale.to_unit
            yield to_unit(one.score), to_unit(other.score)
