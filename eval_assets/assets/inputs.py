"""Assets of the inputs: the files as external assets, the rubric, responses given or generated."""

import asyncio
import json
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

import dagster as dg
import pandas as pd

from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import EvaluationTarget, Recipe, asset
from eval_assets.assets.resources import EvaluationFolder, file_versions, version_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions, warn_of_budget
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.generating import GeneratedResponse, GenerationSummary, generate_responses
from eval_assets.labelling.rubric_versions import new_wordings, wordings_in_order
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.references import id_of
from eval_assets.readers.responses import read_prompts, read_responses
from eval_assets.store.connection import transaction
from eval_assets.store.inputs import (
    import_fingerprint,
    is_imported,
    labels_by_version,
    read_generated_responses,
    record_import,
    response_counts,
    write_currency,
    write_rubric,
)
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history, history_of
from eval_assets.store.ledger.workers import Worker
from eval_assets.store.schema import read_rows, replace_rows

_NOTHING = GenerationSummary(models=(), counted_usd=0.0, budget_left_usd=None, responses=())
"""Result of a run without generators."""


@asset(group="inputs", kinds={"duckdb"}, deps=["evaluation_file"], asks_models=True)
def generated_responses(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """Responses of the declared generators to the prompts; none without generators."""
    evaluation = folder.evaluation()
    summary = _NOTHING
    if evaluation.generators:
        summary = _generate(evaluation, folder, run_id=context.run.run_id)
    rows = pd.DataFrame([_row(response) for response in summary.responses])
    warn_of_budget(summary.n_budget_stopped, left_usd=summary.budget_left_usd)
    fingerprint = version_of(rows.to_dict("records"))
    with folder.connect() as connection, transaction(connection):
        if not is_imported(connection, "generated_responses", fingerprint=fingerprint):
            replace_rows(connection, "generated_responses", rows)
            record_import(connection, "generated_responses", fingerprint=fingerprint, sources="")
    if lines := [f"{m.model_id} is stopped: {m.stopped}" for m in summary.models if m.stopped]:
        raise dg.Failure(description="\n".join(lines), allow_retries=False)
    statuses = rows
    if len(rows):
        statuses = rows.groupby(["generator_id", "status"]).size().reset_index(name="n")
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
    generators = live_models(evaluation, evaluation.generators)
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


_INPUT_FILES = {
    "evaluation_file": ("yaml", "The declaration of the evaluation."),
    "response_files": ("csv", "Responses of the models."),
    "label_files": ("csv", "Ratings by humans: label files and labelling sessions."),
    "judge_score_files": ("csv", "Replies and scores of recorded judges."),
    "adjudication_file": ("json", "Adjudications of disagreements."),
}
"""Input files with their kind and their contents."""


def _observed(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> Iterator[dg.ObserveResult]:
    """Record the version of each input file."""
    versions = file_versions(folder.path)
    for key in sorted(context.selected_asset_keys):
        if version := versions.get(key.path[-1]):
            yield dg.ObserveResult(asset_key=key, data_version=dg.DataVersion(version))


def _file_assets(target: EvaluationTarget) -> dg.AssetsDefinition:
    specs = [
        dg.AssetSpec(
            target.folder.key(name),
            group_name=target.group("inputs"),
            kinds={kind},
            description=meaning,
        )
        for name, (kind, meaning) in _INPUT_FILES.items()
    ]
    with warnings.catch_warnings():
        # The decorator is in beta; the single one makes assets of a deprecated kind.
        warnings.simplefilter("ignore", dg.BetaWarning)
        definition: dg.AssetsDefinition = dg.multi_observable_source_asset(
            name=target.step("given_files"),
            specs=specs,
            can_subset=True,
            required_resource_keys={target.resource},
        )(target.bound(_observed, dg.AssetExecutionContext))
    return definition


given_files = Recipe("given_files", _file_assets, _observed)


@asset(group="inputs", kinds={"yaml", "duckdb"}, deps=["evaluation_file"])
def rubric_questions(folder: EvaluationFolder) -> Metadata:
    """Questions that raters and judges answer about each response, each with its scale."""
    evaluation = folder.evaluation()
    _register_wordings(folder, evaluation)
    with folder.connect() as connection, transaction(connection):
        write_rubric(connection, evaluation.rubric)
        write_currency(connection, evaluation.currency)
    columns = ("question_id", "question", "scale", "level")
    rows = [(of.id, of.question, of.scale.described(), of.level) for of in evaluation.rubric]
    return {"questions": rows_as_metadata(pd.DataFrame(rows, columns=columns))}


def _register_wordings(folder: EvaluationFolder, evaluation: Evaluation) -> None:
    """Store new versions of the questions in the ledger."""
    now = datetime.now(tz=UTC)
    with folder.connect() as connection:
        rows = read_rows(connection, "rubric_wordings", order_by="version")
        if not new_wordings(evaluation, wordings_in_order(rows), {}, at=now):
            return
        with folder.ledger(evaluation) as ledger:
            history = history_of(ledger, "rubric_wordings").to_dict("records")
            wordings = wordings_in_order({str(k): v for k, v in row.items()} for row in history)
            new = new_wordings(evaluation, wordings, labels_by_version(connection), at=now)
            append_history(ledger, "rubric_wordings", [asdict(wording) for wording in new])
            with transaction(connection):
                copy_ledger(ledger, connection, "rubric_wordings")


@asset(group="inputs", kinds={"csv", "duckdb"}, deps=[generated_responses, "response_files"])
def model_responses(folder: EvaluationFolder) -> Metadata:
    """Responses of each model: given in files, or generated; a given one takes precedence."""
    evaluation = folder.evaluation()
    files = source_fingerprints(evaluation)["responses"]
    with folder.connect() as connection:
        fingerprint = version_of(files, import_fingerprint(connection, "generated_responses"))
        if is_imported(connection, "responses", fingerprint=fingerprint):
            return response_counts(connection)
        generated = read_generated_responses(connection)
    responses = read_responses(evaluation, generated=generated)
    with folder.connect() as connection, transaction(connection):
        replace_rows(connection, "responses", responses)
        record_import(connection, "responses", fingerprint=fingerprint, sources=files)
        return response_counts(connection)
