"""Can this LLM judge be trusted? Agreement, gates and judge tuning as Dagster assets in DuckDB."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # At run time this is the package of the same name, which can be called.
    from eval_assets.file_agreement import agreement as agreement
