"""Pools of Dagster for the assets that ask models."""

import dagster as dg

from eval_assets.config.evaluation import Evaluation
from eval_assets.judges.credentials import api_key_name


def pool_of(evaluation: Evaluation) -> str | None:
    """Return the pool of an evaluation's requests: evaluations with the same keys share one.

    The name lists the variables that hold the keys. Without live judges and generators there is
    none, so that recorded scores never wait.
    """
    judges = {api_key_name(judge) for judge in evaluation.judges if judge.provider != "recorded"}
    generators = {api_key_name(generator) for generator in evaluation.generators}
    return "+".join(sorted(judges | generators)) or None


def in_pool(asset: dg.AssetsDefinition, pool: str) -> dg.AssetsDefinition:
    """Return an asset of one op whose runs count in a pool."""
    op = asset.op
    pooled = dg.OpDefinition(
        compute_fn=op.compute_fn,
        name=op.name,
        ins=op.ins,
        outs=op.outs,
        description=op.description,
        config_schema=op.config_schema,
        required_resource_keys=set(op.required_resource_keys),
        tags=op.tags,
        retry_policy=op.retry_policy,
        pool=pool,
    )
    return dg.AssetsDefinition(
        keys_by_input_name=asset.keys_by_input_name,
        keys_by_output_name=asset.keys_by_output_name,
        node_def=pooled,
        resource_defs=asset.resource_defs,
        specs=list(asset.specs),
    )
