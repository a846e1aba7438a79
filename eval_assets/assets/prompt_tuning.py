"""Prompt tuning: models write and score candidates within a budget."""

import asyncio
import hashlib
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from eval_assets.assets.live_judging import ask
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.summarizing import write_text
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.live_model import LiveModel, live_models, unbatched
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, stored_scores
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.store.ledger.attempts import costs_of
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.workers import Worker
from eval_assets.tuning.prompt_steps import Notes, TunedSection, tune_section
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import TunedJudge
from eval_assets.tuning.tuned_prompts import PromptSection, with_sections
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.wording import or_nan

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class PromptedVersion:
    """A judge with a tuned prompt.

    `outcomes` are of every candidate, by question; `cost_usd` is that of this run, NaN if a part is
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

    Every request goes through the ledger, so that a repeated run sends no request twice. `declared`
    are the judges to tune, as declared and numbered; `units` and `notes` of raters are by question.
    """
    if not evaluation.tuning.prompt_steps:
        return []
    judges = {judge.version.judge_id: judge for judge in declared}
    # Each step of tuning needs the one before, which a batch would delay.
    live = live_models(evaluation, evaluation.live_judges)
    models = [unbatched(model) for model in live if model.id in judges]
    with folder.ledger(evaluation) as ledger:
        tuning = _PromptTuning(evaluation, ledger, template, units, notes, run_id)
        result = [tuning.prompted(model, judges[model.id]) for model in models]
    return [prompted for prompted in result if prompted is not None]


@dataclass(eq=False)
class _PromptTuning:
    """Prompts of judges in the making, with requests through the ledger until the budget is used.

    Attributes:
        paid_usd: Cost of this run so far; NaN if a part is unknown.
    """

    evaluation: Evaluation
    ledger: SqlLedger
    template: PromptTemplate
    units: Mapping[str, RatedUnits]
    notes: Mapping[str, Notes]
    run_id: str
    paid_usd: float = 0.0
    counted_usd: float = 0.0

    def prompted(self, model: LiveModel[Judge], judge: TunedJudge) -> PromptedVersion | None:
        """Return a judge with a tuned prompt; None without improvement or enough budget."""
        paid_before = self.paid_usd
        tuned = {name: self._section(model, judge, rated) for name, rated in self.units.items()}
        for question_id, item in tuned.items():
            for outcome in item.outcomes:
                logger.info("%s on %s: %s", model.id, question_id, outcome)
        steps = [item.step for item in tuned.values() if item.step is not None]
        if not steps:
            return None
        sections = {question: item.section for question, item in tuned.items()}
        sources = {source for section in sections.values() for source in section.sources}
        version = replace(
            judge.version,
            version="",
            step=steps[-1],
            parent=judge.version.version,
            prompt_text=with_sections(self.template.source, sections),
            sources=tuple(sorted(sources)),
        )
        all_units = [unit for rated in self.units.values() for unit in _units(rated)]
        if self._scored(model, version.prompt_text, all_units).n_budget_stopped:
            logger.warning(
                "%s: the budget did not reach all scores with its tuned prompt, which is left "
                "out until they are there. Raise it, or run again",
                model.id,
            )
            return None
        outcomes = {question: item.outcomes for question, item in tuned.items()}
        return PromptedVersion(version, outcomes, self.paid_usd - paid_before)

    def _section(
        self, model: LiveModel[Judge], judge: TunedJudge, rated: RatedUnits
    ) -> TunedSection:
        """Return the additions of tuning to a judge's prompt on one question."""
        question_id = rated.question.id

        def score(units: RatedUnits, section: PromptSection) -> np.ndarray:
            source = with_sections(self.template.source, {question_id: section})
            summary = self._scored(model, source, _units(units))
            scores = [score.score if score.status == "ok" else np.nan for score in summary.scores]
            # A candidate that the budget cut off cannot be compared with the others.
            return np.array([np.nan if summary.n_budget_stopped else item for item in scores])

        return tune_section(
            rated,
            judge.raw[question_id],
            self.notes[question_id],
            steps=self.evaluation.tuning.prompt_steps,
            known=[self.template.source],
            write=self._written,
            score=score,
        )

    def _written(self, prompt: str) -> str | None:
        """Return the writer's reply; None if it did not answer."""
        writer_id = self.evaluation.tuning.writer
        [writer] = [judge for judge in self.evaluation.judges if judge.id == writer_id]
        summary = write_text(
            prompt,
            writer,
            self.evaluation,
            self.ledger,
            asset="tuned_judges",
            name=f"tuning/{hashlib.sha256(prompt.encode()).hexdigest()[:12]}",
            run_id=self.run_id,
            budget_usd=self._left_usd,
        )
        self._pay(summary.spent_usd, summary.counted_usd)
        [response] = summary.responses
        return response.text if response.status == "ok" else None

    def _scored(
        self, model: LiveModel[Judge], prompt: str, units: Sequence[Unit]
    ) -> JudgingSummary:
        """Return a judge's scores of units with a prompt."""
        keys = api_keys(self.evaluation.live_judges)
        summary = ask(
            self.evaluation,
            self.ledger,
            [model],
            [units],
            template=PromptTemplate(
                prompt, name=f"a tuned prompt of {model.id}", wordings=self.template.wordings
            ),
            asset="tuned_judges",
            run_id=self.run_id,
            options=RequestOptions(api_keys=keys, budget_usd=self._left_usd),
        )
        self._pay(summary.spent_usd, summary.counted_usd)
        return summary

    @property
    def _left_usd(self) -> float | None:
        most = self.evaluation.tuning.max_usd
        return None if most is None else max(0.0, most - self.counted_usd)

    def _pay(self, spent_usd: float | None, counted_usd: float) -> None:
        self.paid_usd += or_nan(spent_usd)
        self.counted_usd += counted_usd


def scores_in_ledger(
    evaluation: Evaluation,
    ledger: SqlLedger,
    units: Mapping[str, RatedUnits],
    versions: Iterable[JudgeVersion],
    declared: PromptTemplate,
) -> pd.DataFrame:
    """Return the stored scores of live judges for all rated units with all their prompts.

    No request is sent: scores that are not in the ledger are left out. `declared` has the wordings.

    Returns:
        Rows of `tuned_judge_scores`.
    """
    models = {model.id: model for model in live_models(evaluation, evaluation.live_judges)}
    prompts = {(v.judge_id, v.prompt_hash): v.prompt_text for v in versions if v.prompt_text}
    all_units = [unit for rated in units.values() for unit in _units(rated)] if models else []
    worker = Worker(ledger, asset="tuned_judges")  # without slots, which only asking needs
    rows = []
    for (judge_id, prompt_hash), source in prompts.items():
        if judge_id not in models:
            continue
        template = PromptTemplate(
            source, name=f"a prompt of {judge_id}", wordings=declared.wordings
        )
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


def _units(rated: RatedUnits) -> list[Unit]:
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
