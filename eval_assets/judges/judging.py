"""Judging: judges are asked about units, all about every one or two in stages."""

import hashlib
import itertools
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, assert_never

from eval_assets.agreement.pairs import MIDDLE, pair_kappa
from eval_assets.config.judges import Judge, Staged
from eval_assets.judges.batching import plan_after_batches, submit_pending
from eval_assets.judges.calling.budget import Budget, JointReservations, UnitKey
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import RunSummary, report_estimates
from eval_assets.judges.calling.session import RequestOptions, open_budget, open_clients, run_tasks
from eval_assets.judges.judging_plan import JudgingPlan, Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import JudgeScore, ParsedReply
from eval_assets.ledger import Ledger
from eval_assets.scale import TOLERANCE
from eval_assets.wording import figure_text

FEWEST_SPOT_CHECKS = 5
"""With fewer, kappa has nothing between total agreement and none."""

Stage = Literal["both", "one"]
"""Stage of a pair: both judges score every unit, or the second one spot checks."""

Judges = Sequence[LiveModel[Judge]]
Score = Callable[[Sequence[Unit], Judges], Awaitable[Sequence[JudgeScore]]]
"""Returns scores of units by judges, by unit and then by judge."""

Unanswered = Callable[[Sequence[Unit], LiveModel[Judge]], Awaitable[Collection[UnitKey]]]
"""Returns the units to which a judge has not replied."""


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


async def judge_in_stages(
    units: Sequence[Unit], judges: Judges, score: Score, unanswered: Unanswered, *, staged: Staged
) -> tuple[StageChange, ...]:
    """Judge units window by window; the agreement of the first two judges decides the next stage.

    The stage at a unit follows from the units before it alone. So a rerun, also with further units,
    comes to the same stages and finds its replies in the ledger. In stage `one` the second judge is
    asked about spot checks only; other replies of it that are paid are used, but decide nothing.

    Units come in the order in which they appeared first, response by response: agreement on one
    question says nothing about the next. The first two judges are staged. Returns the stages, from
    the first.
    """
    stage: Stage = "both"
    changes = [StageChange(0, stage, math.nan, 0, "both judges are asked at first")]
    pairs: list[tuple[float, float]] = []
    for start in range(0, len(units), staged.window):
        window = units[start : start + staged.window]
        deciding, rest = window, []
        if stage == "one":
            spots = spot_checks({unit.response_id for unit in window}, share=staged.spot_check)
            deciding = [unit for unit in window if unit.response_id in spots]
            rest = [unit for unit in window if unit.response_id not in spots]
        scores = iter(await score(deciding, judges))
        for unit in deciding:
            first, second, *_ = (next(scores) for _ in judges)
            if first.status == "ok" and second.status == "ok":
                to_unit = unit.question.scale.to_unit
                pairs.append((to_unit(first.score), to_unit(second.score)))
        if rest:
            unpaid = await unanswered(rest, judges[1])
            if paid := [unit for unit in rest if unit.key not in unpaid]:
                await score(paid, judges)
            if unasked := [unit for unit in rest if unit.key in unpaid]:
                await score(unasked, [*judges[:1], *judges[2:]])
        latest = pairs[-staged.window :]
        kappa = pair_kappa([first for first, _ in latest], [second for _, second in latest])
        n_same = sum((first > MIDDLE) == (second > MIDDLE) for first, second in latest)
        following, reason = next_stage(
            stage,
            kappa=kappa.value,
            exact_agreement=n_same / len(latest) if latest else math.nan,
            n_units=kappa.n_units,
            staged=staged,
        )
        if following != stage:
            stage, pairs = following, []
            n_done = start + len(window)
            changes.append(StageChange(n_done, stage, kappa.value, kappa.n_units, reason))
    return tuple(changes)


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


_NOT_IN_LEDGER = ParsedReply("missing", error="the ledger holds no reply")


@dataclass(frozen=True, kw_only=True)
class JudgingSummary(RunSummary):
    """Result of a run.

    `scores` are by unit and then by judge, unless somebody else keeps them; `stages` are those of
    staged judging.
    """

    stages: tuple[StageChange, ...] = ()
    scores: tuple[JudgeScore, ...] = ()


async def judge_portions(  # noqa: PLR0913 - the units, the judges, the prompt and the ledger
    portions: Iterable[Sequence[Unit]],
    judges: Judges,
    ledger: Ledger,
    *,
    template: PromptTemplate,
    options: RequestOptions,
    keep: Callable[[Sequence[JudgeScore]], object] | None = None,
    prompts: Mapping[str, PromptTemplate] = MappingProxyType({}),
    staged: Staged | None = None,
) -> JudgingSummary:
    """Ask every judge about every unit, unless the ledger has the reply.

    Backup judges are asked about the units that another judge left without a score.

    Args:
        portions: Units to rate, so many at a time as may be in memory with their replies; staged
            ones in the order in which they appeared first.
        judges: The judges.
        ledger: Ledger of replies, batches and what may be spent.
        template: The prompt of judges that have none in `prompts`.
        options: How requests are sent.
        keep: Receives the scores of each portion, by unit and then by judge; None to return them.
        prompts: Separate prompts, by judge.
        staged: When the first of two judges is enough; None to ask all about everything.

    Raises:
        InputError: If there is a cap and a judge's price is not known: it could not be kept.
        PromptError: If the template cannot be rendered for a unit.
    """
    budget = await open_budget(judges, ledger, options)
    async with open_clients(judges, ledger, budget=budget, options=options) as clients:
        scores_of_run: list[JudgeScore] = []
        by_id = {client.model.id: client for client in clients}

        async def plan_of(units: Sequence[Unit], judge: LiveModel[Judge]) -> JudgingPlan:
            prompt = prompts.get(judge.id, template)
            return await plan_after_batches(units, by_id[judge.id], ledger, template=prompt)

        async def score(units: Sequence[Unit], panel: Judges) -> list[JudgeScore]:
            plans = [await plan_of(units, judge) for judge in panel]
            estimates = [plan.estimate for plan in plans]
            report_estimates(estimates, left_usd=budget.left_usd, report=options.report)
            batched = [plan for plan in plans if plan.client.model.declared.batch]
            await submit_pending(batched, ledger, budget=budget)
            reservations = JointReservations(budget)
            work = [(plan.client, plan.tasks(reservations)) for plan in plans]
            await run_tasks(work, report=options.report)
            for plan in plans:
                plan.client.summary.estimate.merge(plan.estimate)
                plan.client.summary.n_from_ledger += plan.n_from_ledger
            scores = [plan.score(unit) for unit in units for plan in plans]
            for score in scores:
                by_id[score.judge_id].summary.statuses[score.status] += 1
            (keep or scores_of_run.extend)(scores)
            return scores

        async def unanswered(units: Sequence[Unit], judge: LiveModel[Judge]) -> set[UnitKey]:
            return {rating.unit.key for rating in (await plan_of(units, judge)).pending}

        stages: tuple[StageChange, ...] = ()
        if staged is None:
            primary = [judge for judge in judges if not judge.declared.backup]
            backups = [judge for judge in judges if judge.declared.backup]
            for units in portions:
                scores = await score(units, primary)
                failed = {
                    (score.response_id, score.question_id)
                    for score in scores
                    if score.status not in ("ok", "budget_stopped")
                }
                if failed and backups:
                    await score([unit for unit in units if unit.key in failed], backups)
        else:
            all_units = list(itertools.chain.from_iterable(portions))
            stages = await judge_in_stages(all_units, judges, score, unanswered, staged=staged)
        for client in clients:
            client.stop_if_silent()
    return JudgingSummary(
        models=tuple(client.summary for client in clients),
        counted_usd=budget.spent_usd,
        budget_left_usd=budget.left_usd,
        stages=stages,
        scores=tuple(scores_of_run),
    )


async def stored_scores(
    units: Sequence[Unit], judge: LiveModel[Judge], ledger: Ledger, *, template: PromptTemplate
) -> list[tuple[JudgeScore, tuple[str, ...]]]:
    """Return a judge's scores with a prompt from replies in the ledger.

    No key is needed. The score of a unit is `missing` if there is no reply; with it come the keys
    of its requests.
    """
    options = RequestOptions(api_keys={judge.id: ""})
    async with open_clients([judge], ledger, budget=Budget(0.0), options=options) as [client]:
        plan = JudgingPlan(client, template)
        await plan.look_up(units)
        for rating in plan.pending:
            plan.keep(rating, rating.latest or _NOT_IN_LEDGER)
        return [(plan.score(unit), plan.call_keys(unit)) for unit in units]
