"""Texts that a judge's model writes, such as the executive summary of the report."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Generator, Judge
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.live_model import live_generators
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.generating import GenerationSummary, generate_responses
from eval_assets.report.data import ReportData
from eval_assets.report.sections.summary import summary_prompt, unknown_numbers
from eval_assets.store.ledger.workers import Worker

_NOT_THE_WRITERS = {"max_tokens"}
"""Settings of a judge that do not hold for a text: a score needs fewer tokens."""


def written_summary(
    data: ReportData, folder: EvaluationFolder, *, run_id: str
) -> Mapping[str, object]:
    """Return the row of `executive_summary`, written by the judge that the evaluation names.

    The same figures are never asked about twice: the reply is in the ledger.
    """
    evaluation = data.evaluation
    declared = evaluation.executive_summary
    [judge] = [
        candidate for candidate in evaluation.judges if declared and candidate.id == declared.judge
    ]
    prompt = summary_prompt(data)
    status, words = text_by(
        judge, prompt, evaluation, folder, purpose="executive_summary", run_id=run_id
    )
    refused = None
    if status != "ok":
        refused = f"{status.replace('_', ' ')}. {words}".strip(" .")
    elif unknown := unknown_numbers(words, data):
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
    """Return the status of a judge's reply to a prompt, and its text or error.

    Args:
        judge: A live judge.
        prompt: The request.
        evaluation: The evaluation, whose budget holds.
        folder: Its folder.
        purpose: Name of the text in the ledger.
        run_id: The Dagster run; None outside one.
    """
    settings = {name: v for name, v in judge.settings.items() if name not in _NOT_THE_WRITERS}
    writer = replace(judge, settings=settings)
    options = RequestOptions(api_keys=api_keys([judge]))
    with (
        folder.ledger(evaluation) as ledger,
        Worker(ledger, asset=purpose, run_id=run_id, caps=evaluation) as worker,
    ):
        summary = write_text(prompt, writer, evaluation, worker, options, name=purpose)
    [response] = summary.responses
    stopped = summary.models[0].stopped
    return response.status, stopped or response.error or response.text.strip()


def write_text(  # noqa: PLR0913 - what, who, and what it is stored under
    prompt: str,
    writer: Judge,
    evaluation: Evaluation,
    worker: Worker,
    options: RequestOptions,
    *,
    name: str,
) -> GenerationSummary:
    """Return the reply of a live judge's model to a prompt, which the ledger has by its name."""
    models = live_generators(
        replace(evaluation, generators=(_as_generator(writer),)),
        environ=os.environ,
        today=datetime.now(tz=UTC).date(),
    )
    return asyncio.run(
        generate_responses(
            [Conversation(None, name, (Turn(0, prompt),))],
            models,
            worker,
            name=lambda conversation, *_: conversation.convo_id,
            options=options,
        )
    )


def _as_generator(judge: Judge) -> Generator:
    """Return a judge's model for text generation."""
    if judge.provider == "recorded" or judge.model is None:
        raise ValueError(f"the writer must be asked live, got {judge}")
    return Generator(
        id=judge.id,
        provider=judge.provider,
        model=judge.model,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        settings=judge.settings,
        requests_per_minute=judge.requests_per_minute,
        input_tokens_per_minute=judge.input_tokens_per_minute,
        max_in_flight=judge.max_in_flight,
        timeout_seconds=judge.timeout_seconds,
    )
