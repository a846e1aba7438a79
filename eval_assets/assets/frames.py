"""Tables and frames as Dagster metadata, in types that it takes."""

import math

import dagster as dg
import duckdb
import pandas as pd

from eval_assets.store import columns_of, count_rows

_TYPES = {"f": "float", "i": "int", "b": "bool"}


def table_metadata(
    connection: duckdb.DuckDBPyConnection, table: str
) -> dict[str, dg.TableSchema | int | str]:
    """What Dagster shows of a stored table: its name, rows, and columns with their meaning."""
    columns = [
        dg.TableColumn(column.name, column.type, description=column.comment)
        for column in columns_of(connection, table)
    ]
    return {
        "dagster/table_name": f"main.{table}",
        "dagster/row_count": count_rows(connection, table),
        "dagster/column_schema": dg.TableSchema(columns=columns),
    }


def rows_as_metadata(rows: pd.DataFrame) -> dg.TableMetadataValue:
    """Rows as a table that the UI shows; undefined is None."""
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    columns = [
        dg.TableColumn(str(name), _TYPES.get(dtype.kind, "string"))
        for name, dtype in rows.dtypes.items()
    ]
    return dg.MetadataValue.table(
        [dg.TableRecord({str(k): _plain(v) for k, v in record.items()}) for record in records],
        schema=dg.TableSchema(columns=columns),
    )


def or_none(value: float) -> float | None:
    """A figure as metadata; undefined is None, which JSON can say."""
    return None if math.isnan(value) else float(value)


def _plain(value: object) -> str | int | float | bool | None:
    """The value where JSON has it, else its text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
