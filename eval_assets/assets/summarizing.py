"""Texts that a judge's model writes, such as the executive summary of the report."""

import asyncio
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, cast

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import AskedModel, Generator, Judge, Vendor
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.generating import GenerationSummary, generate_responses
from eval_assets.shown.markdown import report_markdown
from eval_assets.shown.report import Report
from eval_assets.shown.summary_numbers import unknown_numbers
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.workers import Worker

_TASK = """\
Write the executive summary of a report on whether LLM judges can replace human raters. Its reader
decides whether to use them. Write at most 150 words of plain English in one or two paragraphs,
without headings or lists: whether people agree, whether the judges agree with people, what is
uncertain, what to do next. Say nothing that the report below does not say. Write a number only as
it stands there, in digits; do not compute, round or convert numbers.
"""


def written_summary(
    report: Report, evaluation: Evaluation, folder: EvaluationFolder, *, run_id: str
) -> Mapping[str, object]:
    """Return the row of `executive_summary`, written by the judge that the evaluation names.

    The judge is sent the report without texts of responses or single ratings. The same figures are
    never asked about twice: the reply is in the ledger.
    """
    declared = evaluation.executive_summary
    [judge] = [
        candidate for candidate in evaluation.judges if declared and candidate.id == declared.judge
    ]
    figures = report_markdown(replace(report, made_at=None), with_texts=False)
    prompt = f"{_TASK}\n<report>\n{figures}</report>"
    status, words = text_by(
        judge, prompt, evaluation, folder, purpose="executive_summary", run_id=run_id
    )
    refused = None
    if status != "ok":
        refused = f"{status.replace('_', ' ')}. {words}".strip(" .")
    elif unknown := unknown_numbers(words, figures, evaluation):
        refused = f"it has numbers that are not among the figures: {', '.join(unknown)}"
    return {
        "judge_id": judge.id,
        "model": judge.model,
        "summary": words if refused is None else None,
        "refused_because": refused,
    }


def text_by(  # noqa: PLR0913 - who, what, of what and what for
    judge: Judge,
    prompt: str,
    evaluation: Evaluation,
    folder: EvaluationFolder,
    *,
    purpose: str,
    run_id: str | None,
) -> tuple[str, str]:
    """Return the status of a live judge's reply to a prompt, and its text or error.

    The ledger has the text by its `purpose`; `run_id` is None outside a Dagster run.
    """
    # A score needs fewer tokens than a text.
    settings = {name: v for name, v in judge.settings.items() if name != "max_tokens"}
    with folder.ledger(evaluation) as ledger:
        summary = write_text(
            prompt,
            replace(judge, settings=settings),
            evaluation,
            ledger,
            asset=purpose,
            name=purpose,
            run_id=run_id,
            budget_usd=None,
        )
    [response] = summary.responses
    stopped = summary.models[0].stopped
    return response.status, stopped or response.error or response.text.strip()


def write_text(  # noqa: PLR0913 - what, who, and what it is stored under
    prompt: str,
    writer: Judge,
    evaluation: Evaluation,
    ledger: SqlLedger,
    *,
    asset: str,
    name: str,
    run_id: str | None,
    budget_usd: float | None,
) -> GenerationSummary:
    """Return the reply of a live judge's model to a prompt, which the ledger has by its name.

    The evaluation's caps hold, and `budget_usd` if it is not None.
    """
    as_declared: dict[str, Any] = {of.name: getattr(writer, of.name) for of in fields(AskedModel)}
    generator = Generator(
        id=writer.id,
        provider=cast("Vendor", writer.provider),
        model=writer.model or "",
        **{**as_declared, "batch": False},
    )
    models = live_models(evaluation, [generator])
    with Worker(
        ledger, asset=asset, run_id=run_id, caps=evaluation, judge_ids=[writer.id]
    ) as worker:
        return asyncio.run(
            generate_responses(
                [Conversation(None, name, (Turn(0, prompt),))],
                models,
                worker,
                name=lambda conversation, *_: conversation.convo_id,
                options=RequestOptions(api_keys=api_keys([writer]), budget_usd=budget_usd),
            )
        )
