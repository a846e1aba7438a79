"""The executive summary of the report, written by a judge."""

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
from eval_assets.judges.generating import generate_responses
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
    writer = _writer(judge)
    today = datetime.now(tz=UTC).date()
    conversation = Conversation(None, purpose, (Turn(0, prompt),))
    models = live_generators(
        replace(evaluation, generators=(writer,)), environ=os.environ, today=today
    )
    with folder.ledger(evaluation) as ledger:
        options = RequestOptions(api_keys=api_keys([writer]))
        with Worker(ledger, asset=purpose, run_id=run_id, caps=evaluation) as worker:
            summary = asyncio.run(
                generate_responses(
                    [conversation],
                    models,
                    worker,
                    name=lambda *_: purpose,
                    options=options,
                )
            )
    [response] = summary.responses
    stopped = summary.models[0].stopped
    return response.status, stopped or response.error or response.text.strip()


def _writer(judge: Judge) -> Generator:
    """Return the judge's model as one that is asked for a text."""
    if judge.provider == "recorded" or judge.model is None:
        raise AssertionError("a summary is asked of a live judge")
    settings = {name: v for name, v in judge.settings.items() if name not in _NOT_THE_WRITERS}
    return Generator(
        judge.id,
        judge.provider,
        judge.model,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        settings=settings,
        timeout_seconds=judge.timeout_seconds,
    )
