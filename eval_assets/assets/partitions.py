"""Partitions of an evaluation's responses in Dagster."""

import dagster as dg
import duckdb

from eval_assets.assets.dagster_internals import INVALID_PARTITION_SUBSTRINGS
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.errors import InputProblem, raise_all
from eval_assets.store.inputs import NO_VALUE, partitions

_MOST = 10_000
"""Most partitions of an evaluation, each of which is a run and a row of the UI."""


def declare_partitions(
    connection: duckdb.DuckDBPyConnection, folder: EvaluationFolder, instance: dg.DagsterInstance
) -> None:
    """Declare to Dagster the values by which the stored responses are partitioned, if they are.

    Raises:
        ExceptionGroup: Of an InputError if they cannot be the names of partitions.
    """
    column = folder.evaluation().judging.partition_by
    if column is None:
        return
    keys = partitions(connection, column)
    raise_all(_problems(column, keys), source="the inputs")
    name = partitions_name(column, folder)
    known = instance.get_dynamic_partitions(name)
    for gone in set(known) - set(keys):
        instance.delete_dynamic_partition(name, gone)
    instance.add_dynamic_partitions(name, [key for key in keys if key not in known])


def partitions_name(column: str, folder: EvaluationFolder) -> str:
    """Return the name by which Dagster keeps an evaluation's partitions by a column."""
    return "/".join(filter(None, (folder.prefix, column)))


def _problems(column: str, keys: list[str]) -> list[InputProblem]:
    message, remedy = "", "Use a column with few, short values, such as a month"
    if keys == [NO_VALUE]:
        message, remedy = f"no response has a {column}", "Name a column of the responses, or add it"
    elif len(keys) > _MOST:
        message = f"responses have {len(keys):,} different values of {column}, over {_MOST:,}"
    elif odd := [key for key in keys if any(part in key for part in INVALID_PARTITION_SUBSTRINGS)]:
        message = f"{odd[0]!r} cannot be the name of a partition"
    place = "judging.partition_by"
    return [InputProblem("evaluation.yaml", None, place, message, remedy)] if message else []
