"""Relevance scores of two judges for the documents of queries."""

import asyncio
import hashlib
import json
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

from eval_assets.agreement.pairs import NOT_INDEPENDENT, mean_of_defined, pair_kappa
from eval_assets.bands import kappa_label
from eval_assets.cli.options import ledger_of
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.config.judges import VENDORS, Judge, ReplyForm, Vendor
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import Tuning
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.judges.calling.client import RetryPolicy
from eval_assets.judges.calling.live_model import LiveModel, live_models
from eval_assets.judges.calling.progress import Report, log_report
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.catalogue.models import ENDS_SOON, end_of, shared_family
from eval_assets.judges.clients import import_sdks
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import judge_portions, stored_scores
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import NUMBER_TEMPLATE, RELEVANCE_TEMPLATE, PromptTemplate
from eval_assets.judges.replies import JudgeScore
from eval_assets.readers.documents import Document, DocumentQuery
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.scale import TOLERANCE, Scale
from eval_assets.stats import wilcoxon_signed_rank
from eval_assets.store.connection import connect, transaction
from eval_assets.store.inputs import write_currency
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import append_history, queries_of
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

_DOCUMENTS = "dual_judge.jsonl"
"""File of the documents in a folder that `dual-judge` made, which are its responses."""

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


@dataclass(frozen=True)
class DualJudgement:
    """Scores of two judges for a query's documents; a row of `dual_judgements` in schema.sql.

    Scores are in [0, 1] by document, None where there is none; `content_hashes` are of the texts,
    so that another one is noticed; `expected_docs` is None without marks of people.
    """

    query_id: int
    query: str
    docs: Sequence[int]
    expected_docs: Sequence[int] | None
    content_hashes: Sequence[str]
    judge1_score: Sequence[float | None]
    judge2_score: Sequence[float | None]
    judge1_model: str | None
    judge2_model: str | None
    kappa: float | None
    kappa_reason: str | None
    status: str
    created_at: datetime


def store_dual_judge_scores(  # noqa: PLR0913 - the queries, the judges and the output
    queries: Sequence[DocumentQuery],
    data: Path,
    path: Path,
    *,
    pair: Sequence[Judge] = (),
    form: ReplyForm | None = None,
    report: Report = log_report,
) -> dict[str, object]:
    """Ask two judges about the documents of queries, store their scores, and return them.

    A folder without evaluation.yaml gets one, with the documents as responses. Without a pair the
    judges are the evaluation's first two live ones, else `DEFAULT_PAIR`. A query that is stored
    with another text is left out, and a problem of the result.

    Returns:
        An entry for each query under `queries`, and the agreement over all of them. If Ctrl-C ended
        it, `is_interrupted` is true and the scores are those that arrived.

    Raises:
        ExceptionGroup: Of an InputError for each query, if all are left out.
    """
    evaluation = _evaluation(data, pair)
    first, second = evaluation.judges
    names = {str(judge.model).rsplit("/", 1)[-1].lower() for judge in (first, second)}
    if len(names) == 1:  # they would always agree
        message = f"{first.id} and {second.id} are the same model, which is not independent"
        raise InputError(InputProblem("judges", None, None, message, "Use judges of two vendors"))
    template = _template(evaluation, form)
    judges = [
        replace(judge, max_tokens=_NUMBER_TOKENS)
        if template.form == "number"
        and not judge.capabilities.thinks
        and "max_tokens" not in judge.declared.settings
        else judge
        for judge in live_models(evaluation, evaluation.live_judges)
    ]
    options = RequestOptions(
        api_keys(evaluation.judges), report=report, retry=RetryPolicy(counts_overload=True)
    )
    with ledger_of(data, evaluation) as ledger:
        queries, problems = _with_marks(queries, ledger)
        _write_folder(data, evaluation.name, queries, judges, template)
        with Worker(
            ledger,
            asset="dual-judge",
            caps=evaluation,
            judge_ids=[judge.id for judge in judges],
            is_waiting=False,
        ) as worker:
            scores, run = _ask(queries, judges, worker, _question(evaluation), template, options)
        pairs = list(zip(queries, scores, strict=True))
        rows = [_judgement(query, evaluation.judges, of_query) for query, of_query in pairs]
        append_history(ledger, "dual_judgements", [asdict(row) for row in rows])
        with connect(path) as connection, transaction(connection):
            write_currency(connection, evaluation.currency)
            copy_ledger(ledger, connection)
    return {
        "queries": [
            _entry(row, of_query, evaluation) for row, of_query in zip(rows, scores, strict=True)
        ],
        **_totals(rows, evaluation),
        "warnings": pair_warnings(evaluation, today=datetime.now(tz=UTC).date()),
        "problems": [str(InputError(problem)) for problem in problems],
        **run,
        "estimated_cost": None
        if run["estimated_cost_usd"] is None
        else run["estimated_cost_usd"] * evaluation.currency.per_usd,
        "currency": evaluation.currency.code,
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


def _template(evaluation: Evaluation, form: ReplyForm | None) -> PromptTemplate:
    """Return the declared prompt, else the one that ships for documents, by the form of a reply."""
    if evaluation.judge_prompt is not None and form is None:
        return PromptTemplate.load(evaluation.judge_prompt)
    is_number = (form or evaluation.dual_judge.reply) == "number"
    return PromptTemplate.load(Path(NUMBER_TEMPLATE if is_number else RELEVANCE_TEMPLATE))


def _question(evaluation: Evaluation) -> RubricQuestion:
    """Return the evaluation's question of relevance from 0 to 1; the usual one without it."""
    scales = {question.id: question.scale for question in evaluation.rubric}
    scale = scales.get(RELEVANCE.id)
    is_declared = scale is not None and (scale.low, scale.high) == (0.0, 1.0)
    return evaluation.question(RELEVANCE.id) if is_declared else RELEVANCE


def _with_marks(
    queries: Sequence[DocumentQuery], ledger: SqlLedger
) -> tuple[list[DocumentQuery], list[InputProblem]]:
    """Return the queries with the marks of people that are stored, and the problems of the rest.

    An id belongs to one text: the scores and marks of another would be lost.
    """
    stored_rows = {row["query_id"]: row for row in queries_of(ledger).to_dict("records")}
    marked, problems = [], []
    for query in queries:
        if query.id not in stored_rows:
            marked.append(query)
            continue
        row = stored_rows[query.id]
        marks = row["expected_docs"]
        content_hashes = row.get("content_hashes")
        hashes = dict(zip(row["docs"], content_hashes, strict=True)) if content_hashes else {}
        changed = [d.id for d in query.documents if hashes.get(d.id, _hash(d)) != _hash(d)]
        if row["query"] != query.text or changed:
            subject = "the query" if row["query"] != query.text else f"document {changed[0]}"
            message = f"{subject} is stored with another text"
            location = f"query {query.id}"
            problems.append(InputProblem(location, None, None, message, "Use another id"))
        else:
            documents = [
                replace(document, relevant=document.id in marks)
                if document.relevant is None and marks is not None and document.id in row["docs"]
                else document
                for document in query.documents
            ]
            marked.append(replace(query, documents=tuple(documents)))
    if not marked:
        raise_all(problems, source="the queries")
    return marked, problems


def _hash(document: Document) -> str:
    return hashlib.sha256(document.content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _write_folder(
    data: Path,
    name: str,
    queries: Sequence[DocumentQuery],
    judges: Sequence[LiveModel[Judge]],
    template: PromptTemplate,
) -> None:
    """Make a folder without declarations one that every command takes; add its documents.

    A run of it sends the same requests, whose replies are in the ledger.
    """
    declarations, documents = data / FILE, data / _DOCUMENTS
    if declarations.exists() and not documents.exists():
        return  # the user's own
    texts = documents.read_text("utf-8").splitlines() if documents.exists() else []
    rows = {row["response_id"]: row for row in map(json.loads, texts)}
    for query in queries:
        for document in query.documents:
            response_id = _response_id(query, document)
            rows[response_id] = {
                "response_id": response_id,
                "prompt_text": query.text,
                "response_text": document.content,
                "model_name": "document",
                "group_id": f"query-{query.id}",
            }
    texts = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows.values()]
    documents.write_text("".join(texts), encoding="utf-8")
    if declarations.exists():
        return
    is_number = template.form == "number"
    lines = [
        "# Queries and documents that eval-assets dual-judge asked two judges about.",
        f"name: {json.dumps(name)}",
        "rubric:",
        f"  - {{id: {RELEVANCE.id}, question: {RELEVANCE.question},",
        "     scale: {min: 0, max: 1, step: null}}",
        f"responses: {_DOCUMENTS}",
        f"judge_prompt: {NUMBER_TEMPLATE if is_number else RELEVANCE_TEMPLATE}",
        f"dual_judge: {{reply: {template.form}}}",
        "judges:",
    ]
    for judge in judges:
        settings = f", settings: {{max_tokens: {judge.max_tokens}}}" if is_number else ""
        model = f"provider: {judge.endpoint.provider}, model: {json.dumps(judge.endpoint.model)}"
        lines.append(f"  - {{id: {json.dumps(judge.id)}, {model}{settings}}}")
    declarations.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _ask(  # noqa: PLR0913, PLR0917 - the queries, the judges and what they are asked
    queries: Sequence[DocumentQuery],
    judges: Sequence[LiveModel[Judge]],
    worker: Worker,
    question: RubricQuestion,
    template: PromptTemplate,
    options: RequestOptions,
) -> tuple[list[list[JudgeScore]], dict[str, Any]]:
    """Ask both judges about every document; after Ctrl-C with the scores that were paid.

    Returns the scores by query, by document and then by judge, and entries about the run.
    """
    import_sdks()
    units = [
        Unit(_response_id(query, document), question, query.text, document.content)
        for query in queries
        for document in query.documents
    ]
    started = time.perf_counter()
    run: dict[str, Any]
    try:
        summary = asyncio.run(
            judge_portions([units], judges, worker, template=template, options=options)
        )
    except KeyboardInterrupt:
        by_judge = [
            asyncio.run(stored_scores(units, judge, worker, template=template)) for judge in judges
        ]
        scores = iter([score for pair in zip(*by_judge, strict=True) for score, _ in pair])
        run = {"stopped": ["interrupted"], "estimated_cost_usd": None}
        run |= {"n_calls": 0, "n_from_ledger": 0, "is_interrupted": True}
    else:
        scores = iter(summary.scores)
        run = {
            "stopped": [judge.stopped for judge in summary.models if judge.stopped],
            "estimated_cost_usd": summary.spent_usd,
            "n_calls": summary.n_attempts,
            "n_from_ledger": summary.n_from_ledger,
            "is_interrupted": False,
        }
    run["latency_seconds"] = round(time.perf_counter() - started, 3)
    return [[next(scores) for _ in range(2 * len(query.documents))] for query in queries], run


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
        content_hashes=list(map(_hash, query.documents)),
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
    first = [or_nan(score) for row in rows for score in row.judge1_score]
    second = [or_nan(score) for row in rows for score in row.judge2_score]
    micro = pair_kappa(first, second).value
    # That of a single document is 0 or undefined.
    has_two = any(
        sum(None not in pair for pair in zip(row.judge1_score, row.judge2_score, strict=True)) > 1
        for row in rows
    )
    macro = mean_of_defined(or_nan(row.kappa) for row in rows) if has_two else math.nan
    target = evaluation.dual_judge.kappa
    is_defined = not (math.isnan(micro) or math.isnan(macro))
    meets_target = min(micro, macro) >= target - TOLERANCE if is_defined else None
    models = [str(judge.model) for judge in evaluation.judges]
    is_independent = not shared_family(models, overrides=evaluation.capabilities)
    differences = [a - b for a, b in zip(first, second, strict=True) if not math.isnan(a - b)]
    return {
        "kappa_micro": or_none(micro),
        "kappa_macro": or_none(macro),
        "target_kappa": target,
        "meets_target": meets_target if is_independent else False,
        "independence": "independent" if is_independent else NOT_INDEPENDENT,
        "wilcoxon_p": or_none(wilcoxon_signed_rank(first, second)),
        "median_difference": statistics.median(differences) if differences else None,
        "judges_without_scores": [
            judge.id
            for judge, scores in zip(evaluation.judges, (first, second), strict=True)
            if all(map(math.isnan, scores))
        ],
    }


def pair_warnings(evaluation: Evaluation, *, today: date) -> list[str]:
    """Return warnings that limit the evidence of the pair."""
    models = [str(judge.model) for judge in evaluation.judges]
    families = shared_family(models, overrides=evaluation.capabilities)
    ends = {model: ends_on for model in models if (ends_on := end_of(model)) is not None}
    return [
        *(
            f"{' and '.join(members)} are of one family, {family}: they are not independent"
            for family, members in families.items()
        ),
        *(
            f"{model} {'was' if ends_on < today else 'will be'} retired on {ends_on}"
            for model, ends_on in ends.items()
            if ends_on - today <= ENDS_SOON
        ),
    ]
