"""The asset of responses that the models under test generate."""

import asyncio
import json
import os
from datetime import UTC, datetime

import dagster as dg
import pandas as pd

from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.live_model import live_generators
from eval_assets.judges.calling.session import RequestOptions, warn_of_budget
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.generating import GeneratedResponse, GenerationSummary, generate_responses
from eval_assets.readers.references import id_of
from eval_assets.readers.responses import read_prompts
from eval_assets.store.connection import transaction
from eval_assets.store.inputs import is_imported, record_import
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.workers import Worker
from eval_assets.store.schema import replace_rows

_NOTHING = GenerationSummary(models=(), counted_usd=0.0, budget_left_usd=None, responses=())
"""Result of a run without generators."""


@asset(group="inputs", kinds={"duckdb"}, deps=["evaluation_file"], asks_models=True)
def generated_responses(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """Responses of the declared generators to the prompts; none without generators."""
    evaluation = folder.evaluation()
    summary = (
        _generate(evaluation, folder, run_id=context.run.run_id)
        if evaluation.generators
        else _NOTHING
    )
    rows = pd.DataFrame([_row(response) for response in summary.responses])
    warn_of_budget(summary.n_budget_stopped, left_usd=summary.budget_left_usd)
    fingerprint = version_of(rows.to_dict("records"))
    with folder.connect() as connection, transaction(connection):
        if not is_imported(connection, "generated_responses", fingerprint=fingerprint):
            replace_rows(connection, "generated_responses", rows)
            record_import(connection, "generated_responses", fingerprint=fingerprint, sources="")
    if summary.stopped:
        raise dg.Failure(description="\n".join(summary.stopped), allow_retries=False)
    statuses = (
        rows.groupby(["generator_id", "status"]).size().reset_index(name="n")
        if len(rows)
        else pd.DataFrame(columns=["generator_id", "status", "n"])
    )
    return {
        "spent_usd": summary.spent_usd,
        "budget_left_usd": summary.budget_left_usd,
        "n_calls": summary.n_attempts,
        "n_from_ledger": summary.n_from_ledger,
        "expected": "; ".join(str(model.estimate) for model in summary.models)
        or "no generators are declared",
        "statuses": rows_as_metadata(statuses),
    }


def _generate(
    evaluation: Evaluation, folder: EvaluationFolder, *, run_id: str
) -> GenerationSummary:
    """Send every prompt to every generator, unless the ledger has the reply."""
    prompts = read_prompts(evaluation)
    today = datetime.now(tz=UTC).date()
    generators = live_generators(evaluation, environ=os.environ, today=today)
    keys = api_keys(evaluation.generators)
    with folder.ledger(evaluation) as ledger:
        options = RequestOptions(api_keys=keys)
        with Worker(
            ledger,
            asset="generated_responses",
            run_id=run_id,
            caps=evaluation,
            judge_ids=[generator.id for generator in generators],
        ) as worker:
            summary = asyncio.run(
                generate_responses(prompts, generators, worker, name=_response_id, options=options)
            )
        with folder.connect() as connection, transaction(connection):
            copy_ledger(ledger, connection, "judge_calls")
    return summary


def _response_id(conversation: Conversation, turn: Turn, generator_id: str, seed: int) -> str:
    """Return the id that an imported response to the same turn would get."""
    key = (conversation.indicator_id, conversation.convo_id)
    return id_of((*key, str(turn.index), generator_id, str(seed)))


def _row(response: GeneratedResponse) -> dict[str, object]:
    """Return a row of `generated_responses`."""
    conversation, turn = response.conversation, response.turn
    further = {name: value for name, value in turn.attributes.items() if name != "difficulty"}
    return {
        "response_id": _response_id(conversation, turn, response.generator_id, response.seed),
        "generator_id": response.generator_id,
        "status": response.status,
        "error": response.error or None,
        "indicator_id": conversation.indicator_id,
        "convo_id": conversation.convo_id,
        "turn_index": turn.index,
        "seed": str(response.seed),
        "prompt_text": turn.text,
        "response_text": response.text,
        "difficulty": turn.attributes.get("difficulty"),
        "attributes": json.dumps(further, ensure_ascii=False),
    }
