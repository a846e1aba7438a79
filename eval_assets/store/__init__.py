"""The database, the ledger, and all SQL."""
