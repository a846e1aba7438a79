"""The asset of judges' scores, also in shards, and the scores of recorded judges."""

import warnings
from collections.abc import Sequence

import dagster as dg
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.assets.inputs import model_responses, rubric_questions
from eval_assets.assets.live_judging import (
    VersionsInUse,
    judge_fingerprints,
    judge_live,
    live_metadata,
    mapped_scores,
    versions_in_use,
)
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import Body, EvaluationTarget, asset
from eval_assets.assets.resources import AGAIN, EvaluationFolder, materialized, version_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputProblem, gathered, raise_all
from eval_assets.judges.recorded_replies import number_in_reply
from eval_assets.judges.replies import UNREAD
from eval_assets.ledger import WHOLE, Shard
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.store.connection import transaction
from eval_assets.store.inputs import (
    check_imported,
    import_fingerprint,
    is_imported,
    record_import,
    response_keys,
)
from eval_assets.store.schema import replace_rows
from eval_assets.store.scores import (
    declared_fingerprints,
    other_models,
    status_counts,
    write_judge_scores,
)

ASK_AGAIN_TAG = "eval_assets/ask_again"
"""Tag of a run that names the statuses of scores to ask for again, separated by commas."""


@asset(
    group="judge_scores",
    kinds={"duckdb"},
    deps=[model_responses, rubric_questions, "judge_score_files"],
    asks_models=True,
)
def judge_scores(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """Each judge's score of each response on each question, or the reason why there is none."""
    return scored(folder, context.run)


def scored(folder: EvaluationFolder, run: dg.DagsterRun, *, shard: Shard = WHOLE) -> Metadata:
    """Ask live judges for missing scores, and store the scores of all judges.

    For a part of the units, only the ledger is filled.
    """
    evaluation = folder.evaluation()
    if shard != WHOLE and not evaluation.live_judges:
        return {}
    fingerprints = judge_fingerprints(evaluation, folder)
    in_use = versions_in_use(evaluation, folder, fingerprints)
    files = source_fingerprints(evaluation)["judge_scores"]
    with folder.connect() as connection:
        fingerprint = version_of(
            fingerprints,
            files,
            import_fingerprint(connection, "responses"),
            evaluation.rubric,
            {judge_id: version.definition_hash for judge_id, version in in_use.items()},
        )
        if not evaluation.live_judges and is_imported(
            connection, "judge_scores", fingerprint=fingerprint
        ):
            return _counts(connection, in_use)
        check_imported(connection, "model_responses", evaluation.folder)
        responses = response_keys(connection, further=evaluation.filter_columns)
        earlier = declared_fingerprints(connection)
    scores = [mapped_scores(rows, in_use) for rows in _sound_scores(evaluation, responses)]
    statuses_again = run.tags.get(ASK_AGAIN_TAG, "").split(",")
    live = judge_live(
        evaluation,
        folder,
        in_use=in_use,
        changed={name for name in earlier if earlier[name] != fingerprints.get(name)},
        run_id=run.run_id,
        ask_again=frozenset(status for status in UNREAD if status in statuses_again),
        shard=shard,
        keep=lambda rows: scores.append(mapped_scores(rows, in_use)),
    )
    if shard != WHOLE:
        return {}
    stopped = {judge.model_id: judge.stopped for judge in live.models} if live else {}
    with folder.connect() as connection, transaction(connection):
        write_judge_scores(connection, scores)
        statuses = status_counts(connection)
        model_names = other_models(connection)
        n_units = statuses.groupby("judge_id")["n"].sum()
        is_scored = statuses["status"].isin(("ok", "conversation"))
        n_ok = statuses[is_scored].groupby("judge_id")["n"].sum()
        rows = [
            {
                "judge_id": judge.id,
                "provider": judge.provider,
                "model": judge.model,
                "n_units": int(n_units.get(judge.id, 0)),
                "n_ok": int(n_ok.get(judge.id, 0)),
                "fingerprint": fingerprints[judge.id],
                "position": position,
                "version": version.version if version else None,
                "version_hash": version.definition_hash[:12]
                if version and version.step != "declared"
                else None,
                "is_backup": judge.backup,
                "stopped": stopped.get(judge.id) or None,
                "other_models": model_names.get((judge.id, judge.model or "")),
            }
            for position, judge in enumerate(evaluation.judges)
            for version in [in_use.get(judge.id)]
        ]
        replace_rows(connection, "judges", pd.DataFrame(rows))
        record_import(connection, "judge_scores", fingerprint=fingerprint, sources=files)
        counts = _counts(connection, in_use)
    return {**counts, **live_metadata(live)}


def _counts(connection: Connection, in_use: VersionsInUse) -> Metadata:
    """Return what `judge_scores` holds."""
    statuses = status_counts(connection)
    return {
        "n_judges": statuses["judge_id"].nunique(),
        "versions": [f"{j} {version.version}" for j, version in in_use.items()],
        "n_ok": int(statuses.loc[statuses["status"] == "ok", "n"].sum()),
        "statuses": rows_as_metadata(statuses),
    }


def _sound_scores(evaluation: Evaluation, responses: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the recorded scores; nothing is spent while any input, including labels, has errors.

    Raises:
        ExceptionGroup: Of an InputError for every bad cell.
    """
    problems: list[InputProblem] = []
    scores: list[pd.DataFrame] = []
    if evaluation.live_judges:
        with gathered(problems):
            read_labels(evaluation, responses)
    with gathered(problems):
        scores = read_recorded_scores(evaluation, responses, number_in_reply=number_in_reply)
    raise_all(problems, source="the inputs")
    return scores


_INPUTS = ("model_responses", "rubric_questions", "judge_score_files")


def judge_scores_in_shards(n_shards: int, target: EvaluationTarget) -> dg.AssetsDefinition:
    """Return `judge_scores` as a graph of ops, one for each shard and one that collects."""
    folder = target.folder

    def fill_shard(context: dg.OpExecutionContext, *, folder: EvaluationFolder, shard: int) -> None:
        scored(folder, context.run, shard=Shard(shard, n_shards))

    def collected(context: dg.OpExecutionContext, folder: EvaluationFolder) -> dg.Output[None]:
        result = materialized(folder, "judge_scores", scored(folder, context.run))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)  # of data_version
            return dg.Output(None, metadata=result.metadata, data_version=result.data_version)

    def op(
        name: str, inputs: Sequence[str], body: Body, *, retry_policy: dg.RetryPolicy | None = None
    ) -> dg.OpDefinition:
        return dg.op(
            name=target.step(name),
            ins={item: dg.In(dg.Nothing) for item in inputs},
            out=dg.Out(dg.Nothing),
            required_resource_keys={target.resource},
            pool=target.pool,
            retry_policy=retry_policy,
        )(target.bound(body, dg.OpExecutionContext))

    shards = [
        op(
            f"judge_shard_{shard + 1}_of_{n_shards}",
            _INPUTS,
            lambda context, folder, shard=shard: fill_shard(context, folder=folder, shard=shard),
            retry_policy=AGAIN,
        )
        for shard in range(n_shards)
    ]
    collect = op("collect_judge_scores", ["shards"], collected)

    @dg.graph(
        name=target.step("judge_scores"),
        ins={item: dg.GraphIn() for item in _INPUTS},
        out=dg.GraphOut(),
    )
    def in_shards(model_responses, rubric_questions, judge_score_files):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - handles of the graph's inputs
        options = dict(
            zip(_INPUTS, (model_responses, rubric_questions, judge_score_files), strict=True)
        )
        return collect(shards=[shard(**options) for shard in shards])

    [whole] = judge_scores.make(target).specs
    return dg.AssetsDefinition.from_graph(
        in_shards,
        keys_by_input_name={item: folder.key(item) for item in _INPUTS},
        keys_by_output_name={"result": whole.key},
        group_name=whole.group_name,
        descriptions_by_output_name={"result": whole.description or ""},
        tags_by_output_name={"result": whole.tags},
        automation_conditions_by_output_name={"result": whole.automation_condition},
    )
