"""Judging in shards, each of which only fills the ledger and can run on any worker.

Shards are steps of one run, before a last one that makes of the ledger what the plain asset makes
of it.
"""

import warnings
from collections.abc import Sequence

import dagster as dg

from eval_assets.assets.judging import (
    fill_ledger,
    judge_scores,
    scored,
    statuses_to_ask_again,
)
from eval_assets.assets.recipes import Body, EvaluationTarget
from eval_assets.assets.resources import AGAIN, EvaluationFolder, materialized
from eval_assets.ledger import Shard

_INPUTS = ("model_responses", "rubric_questions", "judge_score_files")


def judge_scores_in_shards(n_shards: int, target: EvaluationTarget) -> dg.AssetsDefinition:
    """Return `judge_scores` as a graph of ops, one for each shard and one that collects."""
    folder = target.folder

    def fill_shard(context: dg.OpExecutionContext, *, folder: EvaluationFolder, shard: int) -> None:
        fill_ledger(folder, run_id=context.run.run_id, shard=Shard(shard, n_shards))

    def collected(context: dg.OpExecutionContext, folder: EvaluationFolder) -> dg.Output[None]:
        run = context.run
        metadata = scored(folder, run_id=run.run_id, ask_again=statuses_to_ask_again(run))
        result = materialized(folder, "judge_scores", metadata, table="judge_scores")
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

    definition = dg.AssetsDefinition.from_graph(
        in_shards,
        keys_by_input_name={item: folder.key(item) for item in _INPUTS},
        keys_by_output_name={"result": folder.key("judge_scores")},
    )
    [whole] = judge_scores.make(target).specs
    return dg.map_asset_specs(
        lambda spec: spec.replace_attributes(
            group_name=whole.group_name,
            kinds=whole.kinds,
            description=whole.description,
            automation_condition=whole.automation_condition,
        ),
        [definition],
    )[0]
