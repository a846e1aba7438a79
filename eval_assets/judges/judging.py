"""Judging: every judge is asked about every unit, whatever happens to single calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from eval_assets.evaluation import Evaluation
from eval_assets.judges.batching import work_on_batches
from eval_assets.judges.live import JUDGE_SETTINGS, live_model
from eval_assets.judges.prompt import PromptTemplate
from eval_assets.judges.rater import JudgeSummary, LiveJudge, Rater, Unit
from eval_assets.judges.run import RunOptions, budget_for, open_lanes, run_jobs
from eval_assets.judges.scores import JudgeScore
from eval_assets.ledger import BatchLedger

_UNITS_PER_LOOKUP = 10_000


@dataclass(frozen=True)
class JudgingSummary:
    """What came of a run.

    Args:
        scores: One a unit and judge that was asked about it, units and judges in the order given.
        judges: What came of each judge.
        budget_left_usd: What the run might still have spent; None without a cap.
    """

    scores: tuple[JudgeScore, ...]
    judges: tuple[JudgeSummary, ...]
    budget_left_usd: float | None

    @property
    def n_budget_stopped(self) -> int:
        """Units that the budget did not reach."""
        return sum(judge.statuses.get("budget_stopped", 0) for judge in self.judges)


def live_judges(
    evaluation: Evaluation, *, environ: Mapping[str, str], today: date
) -> list[LiveJudge]:
    """Make the declared judges ready, recorded ones left out.

    Args:
        evaluation: Where they, and other prices and capabilities, are declared.
        environ: Environment, which may name other endpoints.
        today: Day whose prices hold.
    """
    return [
        LiveJudge(
            model=live_model(
                judge,
                evaluation=evaluation,
                defaults=JUDGE_SETTINGS,
                environ=environ,
                today=today,
            ),
            replicates=judge.replicates,
            aggregate=judge.aggregate,
        )
        for judge in evaluation.judges
        if judge.provider != "recorded"
    ]


async def score_units(
    units: Sequence[Unit],
    judges: Sequence[LiveJudge],
    ledger: BatchLedger,
    *,
    template: PromptTemplate,
    options: RunOptions,
) -> JudgingSummary:
    """Ask every judge about every unit, except for what the ledger already answers.

    A reply is committed to the ledger the moment it has arrived, so that a run that ends early, in
    whichever way, is continued by the next one. A call that fails leaves the others alone.

    Args:
        units: What to rate.
        judges: Who rates it.
        ledger: Where attempts are kept, across runs.
        template: The judges' prompt, the same for all.
        options: How the run goes.

    Returns:
        One score a unit and judge that is asked about it, whatever came of it.

    Raises:
        InputError: If the run is capped and a judge's price is not known: no cap could be kept.
        PromptError: If the template cannot be rendered for a unit.
    """
    models = [judge.model for judge in judges]
    budget = budget_for(models, options)
    async with open_lanes(models, ledger, budget=budget, options=options) as (caller, lanes):
        panel = [
            Rater(judge, lane, caller=caller, template=template)
            for judge, lane in zip(judges, lanes, strict=True)
        ]
        for start in range(0, len(units), _UNITS_PER_LOOKUP):
            chunk = units[start : start + _UNITS_PER_LOOKUP]
            await caller.look_up([key for rater in panel for key in rater.prepare(chunk)])
            await caller.look_up([key for rater in panel for key in rater.doubtful()])
            for rater in panel:
                rater.plan()
        for rater, judge in zip(panel, judges, strict=True):
            if judge.model.calling.batch:
                await work_on_batches(rater, ledger, caller=caller, budget=budget, options=options)
            else:
                options.report(rater.estimate)
        await run_jobs([(rater.lane, rater.jobs()) for rater in panel], options=options)
    scores = [rater.score(unit) for unit in units for rater in panel]
    return JudgingSummary(
        scores=tuple(score for score in scores if score is not None),
        judges=tuple(rater.summary() for rater in panel),
        budget_left_usd=None if options.budget_usd is None else budget.left_usd,
    )
