"""Staged judging: both judges of a pair until they agree, then one and spot checks."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from eval_assets.agreement import MIDDLE, Stage, StageChange, next_stage, pair_kappa, spot_checks
from eval_assets.evaluation import Staged
from eval_assets.judges.judging import JudgingSummary
from eval_assets.judges.progress import Estimate
from eval_assets.judges.rater import JudgeSummary, LiveJudge, Unit
from eval_assets.judges.scores import JudgeScore

Score = Callable[[Sequence[Unit], Sequence[LiveJudge], float | None], JudgingSummary]
"""Asks judges about units, within what is left of the budget."""


@dataclass(frozen=True)
class StagedJudging:
    """What came of judging in stages.

    Args:
        summary: What came of all units.
        changes: The stages, from the first.
    """

    summary: JudgingSummary
    changes: tuple[StageChange, ...]


def judge_in_stages(
    units: Sequence[Unit],
    judges: Sequence[LiveJudge],
    score: Score,
    *,
    staged: Staged,
    budget_usd: float | None,
) -> StagedJudging:
    """Judge units window by window; after each, the first two judges' agreement decides.

    The stage at a unit follows from the units before it alone. So a rerun comes to the same stages
    and finds its replies in the ledger, and there is no state to go stale. Units go by response,
    not by question: agreement on one question says nothing of the next.

    Args:
        units: What to rate.
        judges: Who rates it; the second is left out of stage `one` except for spot checks.
        score: Asks judges about units.
        staged: The thresholds.
        budget_usd: Most that may be spent; None for no cap.
    """
    ordered = sorted(units, key=lambda unit: unit.response_id)
    checked = spot_checks({unit.response_id for unit in units}, share=staged.spot_check)
    stage: Stage = "both"
    changes = [StageChange(0, stage, math.nan, 0, "both judges are asked at first")]
    summaries: list[JudgingSummary] = []
    pairs: list[tuple[float, float]] = []
    left, done = budget_usd, 0
    while done < len(ordered):
        # What ended early would end early again in every window.
        n = len(ordered) if any(map(_has_ended_early, summaries)) else staged.window
        window = ordered[done : done + n]
        for part, asked in _asked(window, judges, stage=stage, checked=checked):
            summary = score(part, asked, left)
            summaries.append(summary)
            left = summary.budget_left_usd
            if len(asked) == len(judges):
                pairs += _pairs(part, summary.scores, n_judges=len(judges))
        done += len(window)
        agreement = _agreement(pairs[-staged.window :])
        decision = next_stage(
            stage,
            kappa=agreement.kappa,
            exact_agreement=agreement.exact,
            n_units=agreement.n_units,
            staged=staged,
        )
        if decision.stage != stage:
            stage, pairs = decision.stage, []
            changes.append(
                StageChange(done, stage, agreement.kappa, agreement.n_units, decision.reason)
            )
    return StagedJudging(_together(summaries), tuple(changes))


@dataclass(frozen=True)
class _Agreement:
    """Kappa of pairs of scores, and the share of them on one side of the middle."""

    kappa: float
    exact: float
    n_units: int


def _agreement(pairs: Sequence[tuple[float, float]]) -> _Agreement:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    n_same = sum((a > MIDDLE) == (b > MIDDLE) for a, b in pairs)
    exact = n_same / len(pairs) if pairs else math.nan
    return _Agreement(pair_kappa(one, other).value, exact, len(pairs))


def _asked(
    window: Sequence[Unit], judges: Sequence[LiveJudge], *, stage: Stage, checked: Collection[str]
) -> list[tuple[Sequence[Unit], Sequence[LiveJudge]]]:
    """Which judges are asked about which units of a window."""
    if stage == "both":
        return [(window, judges)]
    spots = [unit for unit in window if unit.response_id in checked]
    rest = [unit for unit in window if unit.response_id not in checked]
    all_but_second = [*judges[:1], *judges[2:]]
    return [(part, asked) for part, asked in ((spots, judges), (rest, all_but_second)) if part]


def _pairs(
    units: Sequence[Unit], scores: Sequence[JudgeScore], *, n_judges: int
) -> Iterator[tuple[float, float]]:
    """Scores of the first two judges on [0, 1] where both have one."""
    for place, unit in enumerate(units):
        one, other = scores[place * n_judges : place * n_judges + 2]
        if one.status == "ok" and other.status == "ok":
            low, width = unit.question.scale.low, unit.question.scale.high - unit.question.scale.low
            yield (one.score - low) / width, (other.score - low) / width


def _has_ended_early(summary: JudgingSummary) -> bool:
    """Whether the budget or a judge's vendor put an end to it."""
    return bool(summary.n_budget_stopped) or any(judge.stopped for judge in summary.judges)


def _together(summaries: Sequence[JudgingSummary]) -> JudgingSummary:
    """All parts as one run."""
    by_judge: dict[str, list[JudgeSummary]] = {}
    for summary in summaries:
        for judge in summary.judges:
            by_judge.setdefault(judge.judge_id, []).append(judge)
    return JudgingSummary(
        scores=tuple(score for summary in summaries for score in summary.scores),
        judges=tuple(_one_judge(parts) for parts in by_judge.values()),
        budget_left_usd=summaries[-1].budget_left_usd if summaries else None,
    )


def _one_judge(parts: Sequence[JudgeSummary]) -> JudgeSummary:
    """What came of one judge in all parts."""
    estimates = [part.estimate for part in parts]
    return JudgeSummary(
        judge_id=parts[0].judge_id,
        statuses=sum((Counter(part.statuses) for part in parts), Counter()),
        n_attempts=sum(part.n_attempts for part in parts),
        n_from_ledger=sum(part.n_from_ledger for part in parts),
        spent_usd=_sum([part.spent_usd for part in parts]),
        estimate=Estimate(
            estimates[0].model,
            n_calls=sum(each.n_calls for each in estimates),
            input_tokens=sum(each.input_tokens for each in estimates),
            output_tokens=sum(each.output_tokens for each in estimates),
            cost_usd=_sum([each.cost_usd for each in estimates]),
        ),
        stopped=next((part.stopped for part in parts if part.stopped), ""),
    )


def _sum(costs: Sequence[float | None]) -> float | None:
    """The sum; None where a cost is not known."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None
