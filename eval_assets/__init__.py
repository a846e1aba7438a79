"""Can this LLM judge be trusted? Agreement, gates and judge tuning as Dagster assets in DuckDB."""
