"""Judging in shards, each of which only fills the ledger and can run on any worker.

Shards are steps of one run, before a last one that makes of the ledger what the plain asset makes
of it.
"""

import warnings

import dagster as dg

from eval_assets.assets.judging import fill_ledger, judge_scores, scored
from eval_assets.assets.resources import AGAIN, EvaluationFolder, clear_failures
from eval_assets.store.scores import Shard

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
            # If the budget is used up, the op that collects meets the same end, and reports it.
            fill_ledger(folder, run_id=context.run.run_id, shard=Shard(shard, n_shards))

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
