"""DuckDB, and all the SQL: what is stored, how it is replaced and read back."""
