"""The ledger: requests, replies, spending and everything else that cannot be recomputed.

SQLAlchemy Core on SQLite or PostgreSQL, with one schema and one set of statements.
"""
