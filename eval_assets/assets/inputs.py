"""Assets of the inputs: the files as external assets, the rubric and the model responses."""

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

import dagster as dg
import pandas as pd

from eval_assets.assets.file_versions import file_versions
from eval_assets.assets.generation import generated_responses
from eval_assets.assets.metadata import Metadata
from eval_assets.assets.recipes import EvaluationTarget, Recipe, asset
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.labelling.rubric_versions import new_wordings, wordings_in_order
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.responses import read_responses
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
from eval_assets.store.schema import read_rows, replace_rows

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
    questions = [
        dg.TableRecord(
            {
                "question_id": question.id,
                "question": question.question,
                "scale": question.scale.described(),
                "level": question.level,
                "scale_guessed": question.scale_guessed,
            }
        )
        for question in evaluation.rubric
    ]
    return {
        "questions": dg.MetadataValue.table(questions),
        "n_scales_guessed": sum(q.scale_guessed for q in evaluation.rubric),
    }


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


@asset(
    group="inputs",
    kinds={"csv", "duckdb"},
    deps=[generated_responses, "response_files"],
    table="responses",
)
def model_responses(folder: EvaluationFolder) -> Metadata:
    """Responses of each model: given in files, or generated; a given one takes precedence."""
    evaluation = folder.evaluation()
    files = source_fingerprints(evaluation)["responses"]
    with folder.connect() as connection:
        fingerprint = version_of(files, import_fingerprint(connection, "generated_responses"))
        if is_imported(connection, "responses", fingerprint=fingerprint):
            return response_counts(connection)
        generated = read_generated_responses(connection)
    responses = _merged(read_responses(evaluation, generated=generated), generated)
    with folder.connect() as connection, transaction(connection):
        replace_rows(connection, "responses", responses)
        record_import(connection, "responses", fingerprint=fingerprint, sources=files)
        return response_counts(connection)


def _merged(responses: pd.DataFrame, generated: pd.DataFrame) -> pd.DataFrame:
    """All responses; imported ones take precedence over generated ones with the same id."""
    if generated.empty:
        return responses
    if responses.empty:
        return generated
    return pd.concat([responses, generated], ignore_index=True).drop_duplicates("response_id")
