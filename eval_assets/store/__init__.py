"""The database, the ledger and all the SQL: what is stored of an evaluation, and read back."""
