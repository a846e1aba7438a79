"""The values by which an evaluation's responses are partitioned, as Dagster knows them."""

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
    found = partitions(connection, column)
    raise_all(_problems(column, found), source="the inputs")
    name = partitions_name(column, folder)
    known = instance.get_dynamic_partitions(name)
    for gone in set(known) - set(found):
        instance.delete_dynamic_partition(name, gone)
    instance.add_dynamic_partitions(name, [each for each in found if each not in known])


def partitions_name(column: str, folder: EvaluationFolder) -> str:
    """Return the name by which Dagster keeps an evaluation's partitions by a column."""
    return "/".join(filter(None, (folder.prefix, column)))


def _problems(column: str, found: list[str]) -> list[InputProblem]:
    what, remedy = "", "Use a column with few, short values, such as a month"
    if found == [NO_VALUE]:
        what, remedy = f"no response has a {column}", "Name a column of the responses, or add it"
    elif len(found) > _MOST:
        what = f"responses have {len(found):,} different values of {column}, over {_MOST:,}"
    elif odd := [
        each for each in found if any(part in each for part in INVALID_PARTITION_SUBSTRINGS)
    ]:
        what = f"{odd[0]!r} cannot be the name of a partition"
    place = "judging.partition_by"
    return [InputProblem("evaluation.yaml", None, place, what, remedy)] if what else []
