"""Prompt tuning: models write and score candidates within a budget."""

import asyncio
import hashlib
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from eval_assets.assets.live_judging import declared_live_judges
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.summarizing import write_text
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.live_model import LiveModel, unbatched
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, judge_portions, stored_scores
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.limits import costs_of
from eval_assets.store.ledger.workers import Worker
from eval_assets.tuning.prompt_steps import Notes, TunedSection, tune_section
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import TunedJudge
from eval_assets.tuning.tuned_prompts import PromptSection, with_sections
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.wording import or_nan

logger = logging.getLogger(__name__)

Floats = np.ndarray


@dataclass(frozen=True, eq=False)
class PromptedVersion:
    """A judge with a tuned prompt.

    Args:
        version: The version, without a number or maps.
        outcomes: Outcome of every candidate, by question.
        cost_usd: Cost of the candidates and the version's scores in this run; NaN if a part is
        unknown.
    """

    version: JudgeVersion
    outcomes: Mapping[str, Sequence[str]]
    cost_usd: float


def tune_prompts(  # noqa: PLR0913, PLR0917 - the judges, the data and the storage
    evaluation: Evaluation,
    folder: EvaluationFolder,
    template: PromptTemplate,
    declared: Sequence[TunedJudge],
    units: Mapping[str, RatedUnits],
    notes: Mapping[str, Notes],
    *,
    run_id: str,
) -> list[PromptedVersion]:
    """Tune the prompts of the live judges; return those that improved on dev.

    Every request goes through the ledger, so that a repeated run sends no request twice.

    Args:
        evaluation: Declares the steps, the writer and the budget.
        folder: Where the ledger is.
        template: The declared prompt.
        declared: The judges to tune, as declared and numbered, with their scores.
        units: Rated units by question.
        notes: Notes of raters, by question.
        run_id: The run, whose budget is spent.
    """
    if not evaluation.tuning.prompt_steps:
        return []
    judges = {judge.version.judge_id: judge for judge in declared}
    # Each step of tuning needs the one before, which a batch would delay.
    models = [unbatched(model) for model in declared_live_judges(evaluation) if model.id in judges]
    with folder.ledger(evaluation) as ledger:
        calls = _ModelCalls(evaluation, ledger, run_id=run_id)
        result = [
            _prompted(calls, model, template, judges[model.id], units, notes) for model in models
        ]
    return [prompted for prompted in result if prompted is not None]


def _prompted(  # noqa: PLR0913, PLR0917 - the judge, its model, the data and the notes
    calls: "_ModelCalls",
    model: LiveModel[Judge],
    template: PromptTemplate,
    judge: TunedJudge,
    units: Mapping[str, RatedUnits],
    notes: Mapping[str, Notes],
) -> PromptedVersion | None:
    """Return a judge with a tuned prompt; None without improvement or enough budget."""
    paid_before = calls.paid_usd
    tuned = {
        name: _tuned(calls, model, template, rated, judge.raw[name], notes[name])
        for name, rated in units.items()
    }
    for question_id, item in tuned.items():
        for outcome in item.outcomes:
            logger.info("%s on %s: %s", model.id, question_id, outcome)
    version = _version(judge.version, template, tuned)
    if version is None:
        return None
    if not calls.score_all(model, version, units):
        logger.warning(
            "%s: the budget did not reach all scores with its tuned prompt, which is left "
            "out until they are there. Raise it, or run again",
            model.id,
        )
        return None
    outcomes = {question: item.outcomes for question, item in tuned.items()}
    return PromptedVersion(version, outcomes, calls.paid_usd - paid_before)


def scores_in_ledger(
    evaluation: Evaluation,
    ledger: SqlLedger,
    units: Mapping[str, RatedUnits],
    versions: Iterable[JudgeVersion],
) -> pd.DataFrame:
    """Return the stored scores of live judges for all rated units with all their prompts.

    No request is sent: scores that are not in the ledger are left out.

    Args:
        evaluation: Declares the judges.
        ledger: The ledger.
        units: Rated units by question.
        versions: All versions of the judges.

    Returns:
        Rows of `tuned_judge_scores`.
    """
    models = {model.id: model for model in declared_live_judges(evaluation)}
    prompts = {(v.judge_id, v.prompt_hash): v.prompt_text for v in versions if v.prompt_text}
    all_units = [unit for rated in units.values() for unit in _units(rated)] if models else []
    worker = Worker(ledger, asset="tuned_judges")  # without slots, which only asking needs
    rows = []
    for (judge_id, prompt_hash), source in prompts.items():
        if judge_id not in models:
            continue
        template = PromptTemplate(source, name=f"a prompt of {judge_id}")
        result = asyncio.run(stored_scores(all_units, models[judge_id], worker, template=template))
        costs = costs_of(ledger, {key for _, keys in result for key in keys})
        for score, keys in result:
            if score.status == "missing":
                continue
            # Units with the same text share a request, which is paid once.
            paid = [costs.pop(key) for key in keys if key in costs]
            rows.append(
                {
                    "judge_id": judge_id,
                    "prompt_hash": prompt_hash,
                    "response_id": score.response_id,
                    "question_id": score.question_id,
                    "score": score.score,
                    "status": score.status,
                    "raw_output": score.raw_output,
                    "cost_usd": None if None in paid else math.fsum(filter(None, paid)),
                }
            )
    return pd.DataFrame(rows, columns=list(_SCORE_COLUMNS))


_SCORE_COLUMNS = (
    *("judge_id", "prompt_hash", "response_id", "question_id"),
    *("score", "status", "raw_output", "cost_usd"),
)
"""Columns of `tuned_judge_scores`."""


class _ModelCalls:
    """Calls of judges and the writer through the ledger until the budget is used up.

    Attributes:
        paid_usd: Cost of this run so far; NaN if a part is unknown.
    """

    def __init__(self, evaluation: Evaluation, ledger: SqlLedger, *, run_id: str) -> None:
        self.tuning = evaluation.tuning
        self._evaluation = evaluation
        self._ledger = ledger
        self._run_id = run_id
        self.paid_usd = 0.0
        self._counted_usd = 0.0
        self._keys = api_keys(evaluation.live_judges)

    def write(self, prompt: str) -> str | None:
        """Return the writer's reply; None if it did not answer."""
        [judge] = [item for item in self._evaluation.judges if item.id == self.tuning.writer]
        name = f"tuning/{hashlib.sha256(prompt.encode()).hexdigest()[:12]}"
        with self._worker(judge.id) as worker:
            summary = write_text(
                prompt, judge, self._evaluation, worker, self._options(), name=name
            )
        self.paid_usd += or_nan(summary.spent_usd)
        self._counted_usd += summary.counted_usd
        [response] = summary.responses
        return response.text if response.status == "ok" else None

    def score(
        self, model: LiveModel[Judge], template: PromptTemplate, units: Sequence[Unit]
    ) -> JudgingSummary:
        """Return a judge's scores of units with a prompt."""
        with self._worker(model.id) as worker:
            summary = asyncio.run(
                judge_portions([units], [model], worker, template=template, options=self._options())
            )
        self.paid_usd += or_nan(summary.spent_usd)
        self._counted_usd += summary.counted_usd
        return summary

    def score_all(
        self, model: LiveModel[Judge], version: JudgeVersion, units: Mapping[str, RatedUnits]
    ) -> bool:
        """Score all rated units with a version; return whether the budget sufficed."""
        template = PromptTemplate(version.prompt_text, name=f"the tuned prompt of {model.id}")
        all_units = [unit for rated in units.values() for unit in _units(rated)]
        return not self.score(model, template, all_units).n_budget_stopped

    def _options(self) -> RequestOptions:
        most = self.tuning.max_usd
        left_usd = None if most is None else max(0.0, most - self._counted_usd)
        return RequestOptions(api_keys=self._keys, budget_usd=left_usd)

    def _worker(self, judge_id: str) -> Worker:
        return Worker(
            self._ledger,
            asset="tuned_judges",
            run_id=self._run_id,
            caps=self._evaluation,
            judge_ids=[judge_id],
        )


def _tuned(  # noqa: PLR0913, PLR0917 - the judge, its model, the data and the notes
    models: _ModelCalls,
    model: LiveModel[Judge],
    template: PromptTemplate,
    rated: RatedUnits,
    raw: Floats,
    notes: Notes,
) -> TunedSection:
    """Return the additions of tuning to a judge's prompt on one question."""

    def score(units: RatedUnits, section: PromptSection) -> Floats:
        source = with_sections(template.source, {rated.question.id: section})
        prompt = PromptTemplate(source, name=f"a tuned prompt of {model.id}")
        summary = models.score(model, prompt, _units(units))
        scores = [score.score if score.status == "ok" else np.nan for score in summary.scores]
        # A candidate that the budget cut off cannot be compared with the others.
        return np.array([np.nan if summary.n_budget_stopped else item for item in scores])

    return tune_section(
        rated,
        raw,
        notes,
        steps=models.tuning.prompt_steps,
        known=[template.source],
        write=models.write,
        score=score,
    )


def _version(
    declared: JudgeVersion, template: PromptTemplate, tuned: Mapping[str, TunedSection]
) -> JudgeVersion | None:
    """Return the judge with its tuned prompt; None if nothing was added."""
    steps = [outcome.step for outcome in tuned.values() if outcome.step is not None]
    if not steps:
        return None
    sections = {question: outcome.section for question, outcome in tuned.items()}
    sources = {source for section in sections.values() for source in section.sources}
    return replace(
        declared,
        version="",
        step=steps[-1],
        parent=declared.version,
        prompt_text=with_sections(template.source, sections),
        sources=tuple(sorted(sources)),
    )


def _units(rated: RatedUnits) -> list[Unit]:
    """Return rated units as units of judging."""
    return [
        Unit(
            name,
            rated.question,
            str(prompt),
            str(text),
            rated.history.get(name, ()),
            rated.shown.get(name, ()),
        )
        for name, prompt, text in zip(
            map(str, rated.response_ids), rated.prompt_texts, rated.response_texts, strict=True
        )
    ]
