"""Relevance scores of two judges for the documents of queries."""

import asyncio
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

from eval_assets.agreement.pooled_coefficients import pair_kappa, query_kappas
from eval_assets.bands import kappa_label
from eval_assets.cli.options import ledger_of
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.config.judges import VENDORS, Judge, ReplyForm, Vendor
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import Tuning
from eval_assets.errors import InputError, InputProblem
from eval_assets.judges.calling.live_model import LiveModel, live_judges
from eval_assets.judges.calling.session import RequestOptions, require_prices
from eval_assets.judges.catalogue.models import lifecycle_of, shared_family
from eval_assets.judges.clients import import_sdks
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replies import JudgeScore
from eval_assets.readers.documents import Document, DocumentQuery
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.scale import TOLERANCE, Scale
from eval_assets.store.ledger.copies import store_ledger
from eval_assets.store.ledger.histories import DualJudgement, append_history
from eval_assets.store.ledger.workers import Worker
from eval_assets.wording import or_nan, or_none

_NUMBER_TOKENS = 10
"""Output tokens of a bare number, for a model that does not think."""

_WITHOUT_OTHER_JUDGES: Mapping[str, Any] = {
    "staged": None,
    "tuning": Tuning(),
    "executive_summary": None,
}
"""Defaults of the declarations that may refer to judges other than the pair."""

DEFAULT_PAIR = (
    Judge("gpt", "openai", "gpt-6-luna"),
    Judge("haiku", "anthropic", "claude-haiku-5-5"),
)
"""Two current models of independent vendors, used if the evaluation declares no live judge."""

RELEVANCE = RubricQuestion(
    id="relevance",
    question="How relevant is the document to the query?",
    scale=Scale(low=0.0, high=1.0),
    level="interval",
)


def store_dual_judge_scores(
    queries: Sequence[DocumentQuery],
    data: Path,
    path: Path,
    *,
    pair: Sequence[Judge] = (),
    form: ReplyForm | None = None,
) -> dict[str, object]:
    """Ask two judges about the documents of queries, store their scores, and return them.

    Without evaluation.yaml the folder holds the ledger only. Without a pair these are the
    evaluation's first two live judges, else `DEFAULT_PAIR`; without a form that of the declaration.
    The result has an entry for each query under `queries`, and the agreement over all of them.
    """
    evaluation = _evaluation(data, pair)
    _refuse_one_model_twice(evaluation.judges)
    today = datetime.now(tz=UTC).date()
    form = form or evaluation.dual_judge.reply
    judges = [
        replace(judge, max_tokens=_NUMBER_TOKENS)
        if form == "number" and not judge.capabilities.thinks
        else judge
        for judge in live_judges(evaluation, environ=os.environ, today=today)
    ]
    keys = api_keys(evaluation.judges)
    with ledger_of(data, evaluation, database=path) as ledger:
        with Worker(ledger, asset="dual-judge", caps=evaluation) as worker:
            require_prices(judges, is_capped=worker.is_capped)
            summary, latency_seconds = _ask(queries, judges, worker, form, RequestOptions(keys))
        scores = iter(summary.scores)
        by_query = [list(islice(scores, 2 * len(query.documents))) for query in queries]
        rows = [
            _judgement(query, evaluation.judges, scores)
            for query, scores in zip(queries, by_query, strict=True)
        ]
        append_history(ledger, "dual_judgements", [asdict(row) for row in rows])
        store_ledger(ledger, path)
    return {
        "queries": [
            _entry(row, scores, evaluation) for row, scores in zip(rows, by_query, strict=True)
        ],
        **_totals(rows, evaluation),
        "warnings": pair_warnings(evaluation, today=today),
        "stopped": [judge.stopped for judge in summary.models if judge.stopped],
        "latency_seconds": round(latency_seconds, 3),
        "estimated_cost_usd": summary.spent_usd,
        "n_calls": summary.n_attempts,
        "n_from_ledger": summary.n_from_ledger,
    }


def of_one_query(answer: dict[str, object]) -> dict[str, object]:
    """Return the answer about a single query as one flat object."""
    [query] = cast("list[dict[str, object]]", answer["queries"])
    return query | {name: answer[name] for name in answer if name not in {"queries", *query}}


def parse_judge(text: str) -> Judge:
    """Return the judge named by `provider/model`.

    Raises:
        ValueError: If it names no vendor, or no model.

    Examples:
        >>> parse_judge("openai/gpt-4o").model
        'gpt-4o'
    """
    provider, _, model = text.partition("/")
    if provider not in VENDORS or not model.strip():
        vendors = " or ".join(f"{vendor}/MODEL" for vendor in VENDORS)
        raise ValueError(f'"{text}" is not a judge. Write {vendors}')
    return Judge(model, cast("Vendor", provider), model)


def _evaluation(data: Path, pair: Sequence[Judge]) -> Evaluation:
    """Return the folder's declarations with a pair of live judges."""
    if (data / FILE).exists():
        evaluation = read_evaluation(data)
    else:
        evaluation = Evaluation("dual-judge", data, (RELEVANCE,))
    if pair:
        return replace(evaluation, judges=tuple(pair), **_WITHOUT_OTHER_JUDGES)
    live = evaluation.live_judges
    if len(live) == 1:
        message = f"{live[0].id} is the only live judge"
        raise InputError(
            InputProblem(FILE, None, "judges", message, "Declare a second one, of another vendor")
        )
    return replace(evaluation, judges=live[:2] or DEFAULT_PAIR, **_WITHOUT_OTHER_JUDGES)


def _refuse_one_model_twice(pair: Sequence[Judge]) -> None:
    """Raise InputError if both judges are the same model, which would always agree."""
    first, second = (str(judge.model).rsplit("/", 1)[-1].lower() for judge in pair)
    if first == second:
        message = f"{pair[0].id} and {pair[1].id} are the same model, which is not independent"
        remedy = "Use judges of two vendors"
        raise InputError(InputProblem("judges", None, None, message, remedy))


def _ask(
    queries: Sequence[DocumentQuery],
    judges: Sequence[LiveModel[Judge]],
    worker: Worker,
    form: ReplyForm,
    options: RequestOptions,
) -> tuple[JudgingSummary, float]:
    """Ask both judges about every document; return the summary and its duration in seconds."""
    import_sdks()
    template = PromptTemplate.for_relevance(form)
    units = [
        Unit(_response_id(query, document), RELEVANCE, query.text, document.content)
        for query in queries
        for document in query.documents
    ]
    started = time.perf_counter()
    summary = asyncio.run(
        judge_portions([units], judges, worker, template=template, options=options)
    )
    return summary, time.perf_counter() - started


def _response_id(query: DocumentQuery, document: Document) -> str:
    return f"query-{query.id}/document-{document.id}"


def _judgement(
    query: DocumentQuery, pair: Sequence[Judge], scores: Sequence[JudgeScore]
) -> DualJudgement:
    """Return the row of a query from its scores by document, then by judge."""
    first, second = ([score.score for score in scores[index::2]] for index in (0, 1))
    kappa = pair_kappa(first, second)
    n_ok = sum(score.status == "ok" for score in scores)
    is_marked = any(document.relevant is not None for document in query.documents)
    return DualJudgement(
        query_id=query.id,
        query=query.text,
        docs=[document.id for document in query.documents],
        expected_docs=[d.id for d in query.documents if d.relevant] if is_marked else None,
        judge1_score=[or_none(score) for score in first],
        judge2_score=[or_none(score) for score in second],
        judge1_model=None if all(map(math.isnan, first)) else pair[0].model,
        judge2_model=None if all(map(math.isnan, second)) else pair[1].model,
        kappa=or_none(kappa.value),
        kappa_reason=kappa.reason or None,
        status="success" if n_ok == len(scores) else "partial" if n_ok else "error",
        created_at=datetime.now(tz=UTC),
    )


def _entry(
    row: DualJudgement, scores: Sequence[JudgeScore], evaluation: Evaluation
) -> dict[str, object]:
    distances = [
        (document, abs(first - second))
        for document, first, second in zip(
            row.docs, row.judge1_score, row.judge2_score, strict=True
        )
        if first is not None and second is not None
    ]
    limit = evaluation.dual_judge.disagreement
    return {
        "query_id": row.query_id,
        "query": row.query,
        "docs": row.docs,
        "expected_docs": row.expected_docs,
        "judge1_scores": row.judge1_score,
        "judge2_scores": row.judge2_score,
        "judge1_model": evaluation.judges[0].model,
        "judge2_model": evaluation.judges[1].model,
        "kappa": row.kappa,
        "kappa_reason": row.kappa_reason,
        "interpretation": kappa_label(or_nan(row.kappa)),
        "mean_difference": sum(d for _, d in distances) / len(distances) if distances else None,
        "disagreements": [document for document, d in distances if d > limit + TOLERANCE],
        "status": row.status,
        "successful_evaluations": sum(score.status == "ok" for score in scores),
        "total_evaluations": len(scores),
        "failures": [
            {
                "document": row.docs[index // 2],
                "judge": score.judge_id,
                "status": score.status,
                "error": score.error or None,
            }
            for index, score in enumerate(scores)
            if score.status != "ok"
        ],
    }


def _totals(rows: Sequence[DualJudgement], evaluation: Evaluation) -> dict[str, object]:
    """Return agreement over all queries and whether it reaches the target."""
    scores = ([row.judge1_score for row in rows], [row.judge2_score for row in rows])
    micro, macro = query_kappas(*scores)
    scored_by = [[row.judge1_model for row in rows], [row.judge2_model for row in rows]]
    target = evaluation.dual_judge.kappa
    is_defined = not (math.isnan(micro) or math.isnan(macro))
    return {
        "kappa_micro": or_none(micro),
        "kappa_macro": or_none(macro),
        "target_kappa": target,
        "meets_target": min(micro, macro) >= target - TOLERANCE if is_defined else None,
        "judges_without_scores": [
            judge.id
            for judge, models in zip(evaluation.judges, scored_by, strict=True)
            if not any(models)
        ],
    }


def pair_warnings(evaluation: Evaluation, *, today: date) -> list[str]:
    """Return warnings that limit the evidence of the pair."""
    models = [str(judge.model) for judge in evaluation.judges]
    families = shared_family(models, overrides=evaluation.capabilities)
    lives = {model: lifecycle_of(model, on=today) for model in models}
    return [
        *(
            f"{' and '.join(members)} are of one family, {family}: they are not independent"
            for family, members in families.items()
        ),
        *(
            f"{model} {'was' if life.state == 'retired' else 'will be'} retired on {life.ends_on}"
            for model, life in lives.items()
            if life.state != "alive"
        ),
    ]
