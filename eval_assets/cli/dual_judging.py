"""Relevance scores of two judges for the documents of one query."""

import asyncio
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from eval_assets.agreement.split_kappa import pair_kappa
from eval_assets.bands import kappa_label
from eval_assets.cli.options import ledger_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputError, InputProblem
from eval_assets.judges.calling.live_model import LiveModel, live_judges
from eval_assets.judges.calling.session import RequestOptions, require_prices
from eval_assets.judges.catalogue.models import shared_family
from eval_assets.judges.clients import import_sdks
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import JudgeScore
from eval_assets.readers.documents import Document, DocumentQuery
from eval_assets.readers.evaluation.read import FILE, read_evaluation
from eval_assets.scale import TOLERANCE, Scale
from eval_assets.store.ledger.copies import store_ledger
from eval_assets.store.ledger.histories import DualJudgement, append_history
from eval_assets.store.ledger.workers import Worker
from eval_assets.wording import or_none

DEFAULT_PAIR = (
    Judge("gpt", "openai", "gpt-6-luna"),
    Judge("haiku", "anthropic", "claude-haiku-5-5"),
)
"""Two current models of independent vendors, asked if the evaluation declares no live judge."""

RELEVANCE = RubricQuestion(
    id="relevance",
    question="How relevant is the document to the query?",
    scale=Scale(low=0.0, high=1.0),
    level="interval",
)


def store_dual_judge_scores(asked: DocumentQuery, data: Path, path: Path) -> dict[str, object]:
    """Ask two judges about the documents of a query, store what they say, and return it.

    Args:
        asked: The query.
        data: The evaluation folder.
        path: Where its tables are.
    """
    evaluation = _evaluation(data)
    _refuse_one_model_twice(evaluation.judges)
    today = datetime.now(tz=UTC).date()
    judges = live_judges(evaluation, environ=os.environ, today=today)
    keys = api_keys(evaluation.judges)
    with ledger_of(data, evaluation, database=path) as ledger:
        with Worker(ledger, asset="dual-judge", caps=evaluation) as worker:
            require_prices(judges, is_capped=worker.is_capped)
            summary, latency_seconds = _ask(asked, judges, worker, RequestOptions(keys))
        judged = _judgement(asked, evaluation.judges, summary.scores)
        append_history(ledger, "dual_judgements", [asdict(judged)])
        store_ledger(ledger, path)
    return _answer(judged, summary, evaluation, latency_seconds=latency_seconds)


def _evaluation(data: Path) -> Evaluation:
    """Return what the folder declares, with a pair of live judges and the question asked here."""
    if (data / FILE).exists():
        evaluation = read_evaluation(data)
    else:
        evaluation = Evaluation("dual-judge", data, (RELEVANCE,))
    live = tuple(judge for judge in evaluation.judges if judge.provider != "recorded")
    if len(live) == 1:
        message = f"{live[0].id} is the only live judge"
        raise InputError(
            InputProblem(FILE, None, "judges", message, "Declare a second one, of another vendor")
        )
    return replace(evaluation, judges=live[:2] or DEFAULT_PAIR)


def _refuse_one_model_twice(pair: Sequence[Judge]) -> None:
    """Raise InputError if both judges are one model: that it agrees with itself says nothing."""
    one, other = (str(judge.model).rsplit("/", 1)[-1].lower() for judge in pair)
    if one == other:
        message = f"{pair[0].id} and {pair[1].id} are the same model, which is not independent"
        raise InputError(
            InputProblem(
                FILE, None, "judges", message, "Put a judge of another vendor first or second"
            )
        )


def _ask(
    asked: DocumentQuery,
    judges: Sequence[LiveModel[Judge]],
    worker: Worker,
    options: RequestOptions,
) -> tuple[JudgingSummary, float]:
    """Ask both judges about every document; what came of it, and how long it took in seconds."""
    import_sdks()
    template = PromptTemplate.load(Path("relevance"))
    units = [
        Unit(_name(asked, document), RELEVANCE, asked.text, document.content)
        for document in asked.documents
    ]
    started = time.perf_counter()
    summary = asyncio.run(
        judge_portions([units], judges, worker, template=template, options=options)
    )
    return summary, time.perf_counter() - started


def _name(asked: DocumentQuery, document: Document) -> str:
    """Return what the ledger calls a document of a query."""
    return f"query-{asked.id}/document-{document.id}"


def _judgement(
    asked: DocumentQuery, pair: Sequence[Judge], scores: Sequence[JudgeScore]
) -> DualJudgement:
    """Return what is stored of a query. Scores are by document, then by judge."""
    one, other = ([score.score for score in scores[place::2]] for place in (0, 1))
    kappa = pair_kappa(one, other)
    n_ok = sum(score.status == "ok" for score in scores)
    return DualJudgement(
        query_id=asked.id,
        query=asked.text,
        expected_docs=[document.id for document in asked.documents],
        judge1_score=[or_none(score) for score in one],
        judge2_score=[or_none(score) for score in other],
        judge1_model=None if all(map(math.isnan, one)) else pair[0].model,
        judge2_model=None if all(map(math.isnan, other)) else pair[1].model,
        kappa=or_none(kappa.value),
        kappa_reason=kappa.reason or None,
        status="success" if n_ok == len(scores) else "partial" if n_ok else "error",
        created_at=datetime.now(tz=UTC),
    )


def _answer(
    judged: DualJudgement,
    summary: JudgingSummary,
    evaluation: Evaluation,
    *,
    latency_seconds: float,
) -> dict[str, object]:
    """Return what is printed of a query."""
    models = [str(judge.model) for judge in evaluation.judges]
    apart = [
        (number, abs(one - other))
        for number, one, other in zip(
            judged.expected_docs, judged.judge1_score, judged.judge2_score, strict=True
        )
        if one is not None and other is not None
    ]
    families = shared_family(models, overrides=evaluation.capabilities)
    limit = evaluation.dual_judge.disagreement
    return {
        "query_id": judged.query_id,
        "query": judged.query,
        "expected_docs": judged.expected_docs,
        "judge1_scores": judged.judge1_score,
        "judge2_scores": judged.judge2_score,
        "judge1_model": models[0],
        "judge2_model": models[1],
        "kappa": judged.kappa,
        "kappa_reason": judged.kappa_reason,
        "interpretation": kappa_label(math.nan if judged.kappa is None else judged.kappa),
        "mean_difference": sum(far for _, far in apart) / len(apart) if apart else None,
        "disagreements": [n for n, far in apart if far > limit + TOLERANCE],
        "status": judged.status,
        "successful_evaluations": sum(score.status == "ok" for score in summary.scores),
        "total_evaluations": len(summary.scores),
        "failures": [
            {
                "document": judged.expected_docs[place // 2],
                "judge": score.judge_id,
                "status": score.status,
                "error": score.error or None,
            }
            for place, score in enumerate(summary.scores)
            if score.status != "ok"
        ],
        "stopped": [judge.stopped for judge in summary.models if judge.stopped],
        "latency_seconds": round(latency_seconds, 3),
        "estimated_cost_usd": summary.spent_usd,
        "n_calls": summary.n_attempts,
        "n_from_ledger": summary.n_from_ledger,
        "warnings": [
            f"{' and '.join(members)} are of one family, {family}: they are not independent"
            for family, members in families.items()
        ],
    }
