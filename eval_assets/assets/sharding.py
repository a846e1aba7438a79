"""judge_scores of an evaluation with shards: an op for each of them, and one that collects.

The ops of shards only fill the ledger, so that the executor may run them anywhere and any of them
may be run again. The last one makes of the ledger what the plain asset makes of it.
"""

import warnings

import dagster as dg

from eval_assets.assets.files import RECENT
from eval_assets.assets.judging import fill_ledger, judge_scores, scored
from eval_assets.assets.resources import VENDORS, EvaluationFolder, clear_failures

_AGAIN = dg.RetryPolicy(max_retries=4, delay=8, backoff=dg.Backoff.EXPONENTIAL)
"""A shard that loses the ledger is run again four times within two minutes."""

_INPUTS = ("model_responses", "rubric_questions", "judge_score_files")


def judge_scores_in_shards(n_shards: int, *, name: str) -> dg.AssetsDefinition:
    """Return `judge_scores` as a graph of ops, one for each shard and one that collects.

    Args:
        n_shards: How many shards the units are split into.
        name: Name of the evaluation in a folder of several, which is the prefix of its assets;
            empty for an evaluation on its own.
    """
    prefix = [name] if name else []
    own = f"{name}_" if name else ""
    shards = [_shard_op(shard, n_shards, own=own) for shard in range(n_shards)]
    collect = _collect_op(own=own)

    @dg.graph_asset(
        key=[*prefix, "judge_scores"],
        group_name="judge_scores",
        kinds={"duckdb"},
        ins={each: dg.AssetIn(key=[*prefix, each], dagster_type=dg.Nothing) for each in _INPUTS},
        description=judge_scores.descriptions_by_key[judge_scores.key],
    )
    def in_shards(model_responses, rubric_questions, judge_score_files):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - handles of the graph's inputs
        given = dict(
            zip(_INPUTS, (model_responses, rubric_questions, judge_score_files), strict=True)
        )
        return collect(shards=[shard(**given) for shard in shards])

    return dg.map_asset_specs(
        lambda spec: spec.replace_attributes(freshness_policy=RECENT), [in_shards]
    )[0]


def _shard_op(shard: int, n_shards: int, *, own: str) -> dg.OpDefinition:
    @dg.op(
        name=f"{own}judge_shard_{shard + 1}_of_{n_shards}",
        ins={each: dg.In(dg.Nothing) for each in _INPUTS},
        out=dg.Out(dg.Nothing),
        retry_policy=_AGAIN,
        pool=VENDORS,
    )
    def judge_shard(context: dg.OpExecutionContext, folder: EvaluationFolder) -> None:
        with clear_failures():
            fill_ledger(folder, run_id=context.run.run_id, shard=shard, n_shards=n_shards)

    return judge_shard


def _collect_op(*, own: str) -> dg.OpDefinition:
    @dg.op(
        name=f"{own}collect_judge_scores",
        ins={"shards": dg.In(dg.Nothing)},
        out=dg.Out(dg.Nothing),
        pool=VENDORS,
    )
    def collect(context: dg.OpExecutionContext, folder: EvaluationFolder) -> dg.Output[None]:
        result = scored(folder, run_id=context.run.run_id)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.BetaWarning)  # of data_version
            return dg.Output(None, metadata=result.metadata, data_version=result.data_version)

    return collect
