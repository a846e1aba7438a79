"""Frames as Dagster metadata, in types that it takes."""

import dagster as dg
import pandas as pd

_TYPES = {"f": "float", "i": "int", "b": "bool"}


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


def _plain(value: object) -> str | int | float | bool | None:
    """The value where JSON has it, else its text."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)
