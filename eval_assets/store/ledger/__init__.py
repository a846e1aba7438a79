"""The ledger: what was asked, answered and paid, and what else nothing can compute again.

SQLAlchemy Core on SQLite or PostgreSQL, with one schema and one set of statements.
"""
