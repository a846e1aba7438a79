"""Judging: every judge is asked about every unit, even if single requests fail."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from eval_assets.config.judges import Judge, Staged
from eval_assets.judges.batching import plan_after_batches, submit_pending
from eval_assets.judges.calling.budget import Budget, JointReservations, UnitKey
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import RunSummary, report_estimates
from eval_assets.judges.calling.session import RequestOptions, open_budget, open_clients, run_tasks
from eval_assets.judges.judging_plan import JudgingPlan, Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import JudgeScore, ParsedReply
from eval_assets.judges.staging import Judges, StageChange, judge_in_stages
from eval_assets.ledger import Ledger

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
