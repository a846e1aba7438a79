"""Judging: every judge is asked about every unit, whatever happens to single requests."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from eval_assets.agreement.staged import StageChange
from eval_assets.config.judges import Judge, Staged
from eval_assets.judges._staging import judge_in_stages
from eval_assets.judges.batching import judge_by_batch, plan_after_batches
from eval_assets.judges.calling.budget import Budget, JointReservations
from eval_assets.judges.calling.client import ModelClient
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import Estimate
from eval_assets.judges.calling.scheduler import run_tasks
from eval_assets.judges.calling.session import RequestOptions, open_clients, require_prices
from eval_assets.judges.judging_plan import JudgingPlan, Unit, plan_judging
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replicates import JudgeScore
from eval_assets.judges.replies import Reading, Status
from eval_assets.ledger import BatchLedger, Ledger

_NOT_IN_LEDGER = Reading("missing", error="the ledger holds no reply")


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
        judges: What came of each judge.
        counted_usd: What counts towards the budget: unknown costs as the most that they can be.
        budget_left_usd: What the run might still have spent; None without a cap.
        stages: Stages of staged judging, from the first; empty if it is not staged.
        scores: One per unit and judge that was asked about it, in the order given; empty if
            somebody else keeps them.
    """

    judges: tuple[JudgeSummary, ...]
    counted_usd: float
    budget_left_usd: float | None
    stages: tuple[StageChange, ...] = ()
    scores: tuple[JudgeScore, ...] = ()

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
    """Ask every judge about every unit, and return the scores; see `judge_portions`."""
    scores: list[JudgeScore] = []
    summary = await judge_portions(
        [units],
        judges,
        ledger,
        keep=scores.extend,
        template=template,
        options=options,
        prompts=prompts,
        staged=staged,
    )
    return replace(summary, scores=tuple(scores))


async def judge_portions(  # noqa: PLR0913 - who rates what, how, and where it is kept
    portions: Iterable[Sequence[Unit]],
    judges: Sequence[LiveModel[Judge]],
    ledger: BatchLedger,
    *,
    keep: Callable[[Sequence[JudgeScore]], object],
    template: PromptTemplate,
    options: RequestOptions,
    prompts: Mapping[str, PromptTemplate] = MappingProxyType({}),
    staged: Staged | None = None,
) -> JudgingSummary:
    """Ask every judge about every unit, except for what the ledger already answers.

    A reply is committed to the ledger the moment it has arrived, so that a run that ends early, in
    whichever way, is continued by the next one. A request that fails leaves the others alone.
    One portion of units is in memory at a time; all of them if judging is staged.

    Args:
        portions: What to rate.
        judges: Who rates it.
        ledger: Ledger of requests and replies, across runs.
        keep: Receives one score per unit and judge that is asked about it, whatever came of it, in
            the order of the units.
        template: The judges' prompt, the same for all that have none of their own.
        options: How requests are sent.
        prompts: Prompts of judges that have one of their own, by judge.
        staged: When the first of two judges is enough; None to ask all about everything.

    Raises:
        InputError: If there is a cap and a judge's price is not known: it could not be kept.
        PromptError: If the template cannot be rendered for a unit.
    """
    budget = Budget(options.budget_usd, ledger)
    require_prices(judges, is_capped=budget.is_capped)
    async with open_clients(judges, ledger, budget=budget, options=options) as clients:
        templates = {client.model.id: prompts.get(client.model.id, template) for client in clients}
        panel = Panel(clients, ledger, templates=templates, budget=budget, options=options)

        async def score(
            units: Sequence[Unit], asked: Sequence[LiveModel[Judge]]
        ) -> list[JudgeScore]:
            scores = await panel.score(units, asked)
            keep(scores)
            return scores

        if staged is None:
            stages: tuple[StageChange, ...] = ()
            for units in portions:
                await score(units, judges)
        else:
            every = list(itertools.chain.from_iterable(portions))
            stages = await judge_in_stages(every, judges, score, staged=staged)
    return JudgingSummary(
        judges=tuple(map(panel.summary, clients)),
        counted_usd=budget.spent_usd,
        budget_left_usd=await budget.left_usd(),
        stages=stages,
    )


async def stored_scores(
    units: Sequence[Unit], judge: LiveModel[Judge], ledger: Ledger, *, template: PromptTemplate
) -> list[tuple[JudgeScore, tuple[str, ...]]]:
    """Return a judge's scores with a prompt, as far as the ledger holds the replies.

    Args:
        units: What was rated.
        judge: Who rated it; no key is needed.
        ledger: Ledger of replies.
        template: The prompt.

    Returns:
        The score of each unit, `missing` if there is no reply, and the keys of its requests.
    """
    options = RequestOptions(api_keys={judge.id: ""})
    async with open_clients([judge], ledger, budget=Budget(0.0), options=options) as [client]:
        plan = await plan_judging(units, client, template=template)
        plan.leave(lambda _: _NOT_IN_LEDGER)
        return [(plan.score(unit), plan.call_keys(unit)) for unit in units]


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
        self._clients = {client.model.id: client for client in clients}
        self._ledger = ledger
        self._templates = templates
        self._budget = budget
        self._report = options.report
        self._estimates = {client.model.id: Estimate(client.model) for client in clients}
        self._n_from_ledger = Counter[str]()
        self._statuses: defaultdict[str, Counter[Status]] = defaultdict(Counter)

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
        for plan in plans:
            self._estimates[plan.client.model.id].merge(plan.estimate)
            self._n_from_ledger[plan.client.model.id] += plan.n_from_ledger
        scores = [plan.score(unit) for unit in units for plan in plans]
        for score in scores:
            self._statuses[score.judge_id][score.status] += 1
        return scores

    def summary(self, client: ModelClient[Judge]) -> JudgeSummary:
        """Return what came of a judge so far."""
        judge_id = client.model.id
        return JudgeSummary(
            judge_id=judge_id,
            statuses=self._statuses[judge_id],
            n_attempts=client.n_attempts,
            n_from_ledger=self._n_from_ledger[judge_id],
            spent_usd=None if client.n_unpriced else client.spent_usd,
            estimate=self._estimates[judge_id],
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
