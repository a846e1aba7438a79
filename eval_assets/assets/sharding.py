"""Judging in shards, each of which only fills the ledger and can run on any worker.

Shards are steps of one run, before a last one that makes of the ledger what the plain asset makes
of it. Partitions of the responses are judged in separate runs, which Dagster starts as a
backfill; judge_scores, like everything measured from it, is of all responses.
"""

import warnings

import dagster as dg

from eval_assets.assets.dagster_internals import BACKFILL_ID_TAG
from eval_assets.assets.inputs import partitions_name
from eval_assets.assets.judging import fill_ledger, judge_scores, scored
from eval_assets.assets.resources import AGAIN, EvaluationFolder, clear_failures
from eval_assets.store.scores import Part

_INPUTS = ("model_responses", "rubric_questions", "judge_score_files")


def judge_scores_in_shards(
    n_shards: int, folder: EvaluationFolder, *, pool: str | None
) -> dg.AssetsDefinition:
    """Return `judge_scores` as a graph of ops, one for each shard and one that collects.

    Args:
        n_shards: How many shards the units are split into.
        folder: The evaluation.
        pool: Pool of the ops.
    """
    prefix = f"{folder.identifier}__"
    shards = [_shard_op(shard, n_shards, prefix=prefix, pool=pool) for shard in range(n_shards)]
    collect = _collect_op(prefix=prefix, pool=pool)

    @dg.graph(
        name=f"{prefix}judge_scores",
        ins={item: dg.GraphIn() for item in _INPUTS},
        out=dg.GraphOut(),
    )
    def in_shards(model_responses, rubric_questions, judge_score_files):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - handles of the graph's inputs
        options = dict(
            zip(_INPUTS, (model_responses, rubric_questions, judge_score_files), strict=True)
        )
        return collect(shards=[shard(**options) for shard in shards])

    definition = dg.AssetsDefinition.from_graph(
        in_shards,
        keys_by_input_name={item: folder.key(item) for item in _INPUTS},
        keys_by_output_name={"result": folder.key("judge_scores")},
    )
    return dg.map_asset_specs(
        lambda spec: spec.replace_attributes(
            group_name="judge_scores",
            kinds={"duckdb"},
            description=judge_scores.descriptions_by_key[judge_scores.key],
        ),
        [definition],
    )[0]


def judge_replies_by(
    column: str, folder: EvaluationFolder, *, pool: str | None
) -> dg.AssetsDefinition:
    """Return the asset of judges' replies, partitioned by the values of a column.

    Args:
        column: Column of the responses, or one of their attributes.
        folder: The evaluation.
        pool: Pool of its runs.
    """

    @dg.asset(
        key=folder.key("judge_replies"),
        group_name="judge_scores",
        deps=[folder.key("model_responses"), folder.key("rubric_questions")],
        partitions_def=dg.DynamicPartitionsDefinition(name=partitions_name(column, folder)),
        retry_policy=AGAIN,
        pool=pool,
        description="Replies of live judges on some of the responses, asked for ahead of "
        f"judge_scores and kept in the ledger: a partition for each {column}.",
    )
    def judge_replies(
        context: dg.AssetExecutionContext, folder: EvaluationFolder
    ) -> dg.MaterializeResult[None]:
        # All runs of a backfill share one budget.
        run_id = context.run.tags.get(BACKFILL_ID_TAG, context.run.run_id)
        part = Part(partition_by=column, partition=context.partition_key)
        with clear_failures():
            filling = fill_ledger(folder, run_id=run_id, part=part)
        if filling.stopped:
            raise dg.Failure("\n".join(filling.stopped), filling.metadata, allow_retries=False)
        return dg.MaterializeResult(metadata=filling.metadata)

    return judge_replies


def _shard_op(shard: int, n_shards: int, *, prefix: str, pool: str | None) -> dg.OpDefinition:
    @dg.op(
        name=f"{prefix}judge_shard_{shard + 1}_of_{n_shards}",
        ins={item: dg.In(dg.Nothing) for item in _INPUTS},
        out=dg.Out(dg.Nothing),
        retry_policy=AGAIN,
        pool=pool,
    )
    def judge_shard(context: dg.OpExecutionContext, folder: EvaluationFolder) -> None:
        with clear_failures():
            part = Part(shard=shard, n_shards=n_shards)
            # If the budget is used up, the op that collects meets the same end, and reports it.
            fill_ledger(folder, run_id=context.run.run_id, part=part)

    return judge_shard


def _collect_op(*, prefix: str, pool: str | None) -> dg.OpDefinition:
    @dg.op(
        name=f"{prefix}collect_judge_scores",
        ins={"shards": dg.In(dg.Nothing)},
        out=dg.Out(dg.Nothing),
        pool=pool,
    )
    def collect(context: dg.OpExecutionContext, folder: EvaluationFolder) -> dg.Output[None]:
        result = scored(folder, run_id=context.run.run_id)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)  # of data_version
            return dg.Output(None, metadata=result.metadata, data_version=result.data_version)

    return collect
