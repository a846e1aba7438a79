"""Judging: every judge is asked about every unit, whatever happens to single requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from eval_assets.agreement import StageChange
from eval_assets.judges._staging import judge_in_stages
from eval_assets.judges.batching import judge_by_batch, plan_after_batches
from eval_assets.judges.calling.budget import Budget, JointReservations
from eval_assets.judges.calling.client import ModelClient
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import Estimate
from eval_assets.judges.calling.scheduler import run_tasks
from eval_assets.judges.calling.session import RequestOptions, open_clients, require_prices
from eval_assets.judges.judging_plan import JudgingPlan, Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replicates import JudgeScore
from eval_assets.judges.replies import Status
from eval_assets.ledger import BatchLedger
from eval_assets.raters import Judge, Staged


@dataclass(frozen=True)
class JudgeSummary:
    """Result of a run for one judge.

    Args:
        judge_id: The judge.
        statuses: Units by status.
        n_attempts: Requests sent in this run, retries included.
        n_from_ledger: Ratings that were answered before and not asked for again.
        spent_usd: Cost in this run; None if some of it is not known.
        estimate: What was expected of this run before its first request.
        stopped: Why the judge was stopped early; empty if it was not.
    """

    judge_id: str
    statuses: Mapping[Status, int]
    n_attempts: int
    n_from_ledger: int
    spent_usd: float | None
    estimate: Estimate
    stopped: str


@dataclass(frozen=True)
class JudgingSummary:
    """Result of a run.

    Args:
        scores: One per unit and judge that was asked about it, in the order given.
        judges: What came of each judge.
        counted_usd: What counts towards the budget: unknown costs as the most that they can be.
        budget_left_usd: What the run might still have spent; None without a cap.
        stages: Stages of staged judging, from the first; empty if it is not staged.
    """

    scores: tuple[JudgeScore, ...]
    judges: tuple[JudgeSummary, ...]
    counted_usd: float
    budget_left_usd: float | None
    stages: tuple[StageChange, ...] = ()

    @property
    def n_budget_stopped(self) -> int:
        """Units that the budget did not reach."""
        return sum(judge.statuses.get("budget_stopped", 0) for judge in self.judges)


async def judge_units(  # noqa: PLR0913 - who rates what, how, and where it is kept
    units: Sequence[Unit],
    judges: Sequence[LiveModel[Judge]],
    ledger: BatchLedger,
    *,
    template: PromptTemplate,
    options: RequestOptions,
    prompts: Mapping[str, PromptTemplate] = MappingProxyType({}),
    staged: Staged | None = None,
) -> JudgingSummary:
    """Ask every judge about every unit, except for what the ledger already answers.

    A reply is committed to the ledger the moment it has arrived, so that a run that ends early, in
    whichever way, is continued by the next one. A request that fails leaves the others alone.

    Args:
        units: What to rate.
        judges: Who rates it.
        ledger: Ledger of requests and replies, across runs.
        template: The judges' prompt, the same for all that have none of their own.
        options: How requests are sent.
        prompts: Prompts of judges that have one of their own, by judge.
        staged: When the first of two judges is enough; None to ask all about everything.

    Returns:
        One score per unit and judge that is asked about it, whatever came of it.

    Raises:
        InputError: If there is a cap and a judge's price is not known: it could not be kept.
        PromptError: If the template cannot be rendered for a unit.
    """
    budget = Budget(options.budget_usd, ledger)
    require_prices(judges, is_capped=budget.is_capped)
    async with open_clients(judges, ledger, budget=budget, options=options) as clients:
        templates = {client.model.id: prompts.get(client.model.id, template) for client in clients}
        panel = Panel(clients, ledger, templates=templates, budget=budget, options=options)
        if staged is None:
            stages: tuple[StageChange, ...] = ()
            await panel.score(units, judges)
        else:
            stages = await judge_in_stages(units, judges, panel.score, staged=staged)
    return JudgingSummary(
        scores=tuple(panel.scores),
        judges=tuple(map(panel.summary, clients)),
        counted_usd=budget.spent_usd,
        budget_left_usd=await budget.left_usd(),
        stages=stages,
    )


class Panel:
    """Judges that can be asked for as long as their clients are open.

    Args:
        clients: A client per judge.
        ledger: Ledger of batches.
        templates: Each judge's prompt.
        budget: What may be spent.
        options: How requests are sent.
    """

    def __init__(
        self,
        clients: Sequence[ModelClient[Judge]],
        ledger: BatchLedger,
        *,
        templates: Mapping[str, PromptTemplate],
        budget: Budget,
        options: RequestOptions,
    ) -> None:
        self.scores: list[JudgeScore] = []
        self._clients = {client.model.id: client for client in clients}
        self._ledger = ledger
        self._templates = templates
        self._budget = budget
        self._report = options.report
        self._plans: list[JudgingPlan] = []

    async def score(
        self, units: Sequence[Unit], judges: Sequence[LiveModel[Judge]]
    ) -> list[JudgeScore]:
        """Return the judges' scores of units, by unit and then by judge."""
        plans = [await self._planned(units, self._clients[judge.id]) for judge in judges]
        for plan in plans:
            self._report(plan.estimate)
        reservations = JointReservations(self._budget)
        work = [(plan.client, plan.tasks(reservations)) for plan in plans]
        await run_tasks(work, report=self._report)
        scores = [plan.score(unit) for unit in units for plan in plans]
        self._plans += plans
        self.scores += scores
        return scores

    def summary(self, client: ModelClient[Judge]) -> JudgeSummary:
        """Return what came of a judge so far."""
        judge_id = client.model.id
        plans = [plan for plan in self._plans if plan.client is client]
        estimate = Estimate(client.model)
        for plan in plans:
            estimate.merge(plan.estimate)
        return JudgeSummary(
            judge_id=judge_id,
            statuses=Counter(each.status for each in self.scores if each.judge_id == judge_id),
            n_attempts=client.n_attempts,
            n_from_ledger=sum(plan.n_from_ledger for plan in plans),
            spent_usd=None if client.n_unpriced else client.spent_usd,
            estimate=estimate,
            stopped=client.stopped,
        )

    async def _planned(self, units: Sequence[Unit], client: ModelClient[Judge]) -> JudgingPlan:
        """Return the judge's plan; one who judges by batch is asked already."""
        template = self._templates[client.model.id]
        if client.model.declared.batch:
            return await judge_by_batch(
                units, client, self._ledger, template=template, budget=self._budget
            )
        return await plan_after_batches(units, client, self._ledger, template=template)
