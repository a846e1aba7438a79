"""Names of evaluations in Dagster, and of their steps, which no two evaluations share."""

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TypeVar

import dagster as dg

_Definition = TypeVar("_Definition")


def identifiers_of(evaluations: Sequence[str]) -> dict[str, str]:
    """Return a name for each evaluation that Dagster allows for jobs, groups and steps.

    Characters other than letters, digits and _ become _; a number tells equal names apart.

    Examples:
        >>> identifiers_of(["a.b", "a-b", "c"])
        {'a.b': 'a_b', 'a-b': 'a_b_2', 'c': 'c'}
    """
    identifiers: dict[str, str] = {}
    for name in evaluations:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        identifier, number = plain, 1
        while identifier in identifiers.values():
            number += 1
            identifier = f"{plain}_{number}"
        identifiers[name] = identifier
    return identifiers


def of_evaluation(
    definition: _Definition,
    identifier: str,
    *,
    pool: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> _Definition:
    """Return a definition whose step is named `<evaluation>__<asset>`, in a pool and with tags.

    Dagster numbers equal names of steps. It sorts by asset keys before, which a definition that has
    only checks lacks: its number, and so the evaluation that a step checks, would follow the hash
    seed of each process. Ops inside a graph are named where they are made.
    """
    if not isinstance(definition, dg.AssetsDefinition):
        return definition
    op = definition.node_def
    if not isinstance(op, dg.OpDefinition):
        return definition
    asset = op.name.removeprefix(f"{identifier}__")  # of a key with the evaluation's name
    renamed = dg.OpDefinition(
        compute_fn=op.compute_fn,
        name=f"{identifier}__{asset}",
        ins=op.ins,
        outs=op.outs,
        description=op.description,
        config_schema=op.config_schema,
        required_resource_keys=set(op.required_resource_keys),
        tags={**op.tags, **(tags or {})},
        retry_policy=op.retry_policy,
        pool=pool or op.pool,
    )
    if isinstance(definition, dg.AssetChecksDefinition):
        return dg.AssetChecksDefinition.create(  # type: ignore[no-any-return] # untyped in Dagster
            keys_by_input_name=definition.node_keys_by_input_name,
            node_def=renamed,
            check_specs_by_output_name=definition.node_check_specs_by_output_name,
            can_subset=definition.can_subset,
            resource_defs=definition.resource_defs,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # of execution_type
        return dg.AssetsDefinition(  # type: ignore[return-value] # of the same class
            keys_by_input_name=definition.node_keys_by_input_name,
            keys_by_output_name=definition.node_keys_by_output_name,
            node_def=renamed,
            resource_defs=definition.resource_defs,
            specs=list(definition.specs),
            can_subset=definition.can_subset,
            backfill_policy=definition.backfill_policy,
            execution_type=definition.execution_type,
        )
