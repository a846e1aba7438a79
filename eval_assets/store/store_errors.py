"""Errors of the database and of the ledger, each one line with what to do."""


class StoreError(RuntimeError):
    """The database or the ledger cannot be used."""


class DamagedError(StoreError):
    """The database cannot be read, and is to be made again from files and ledger."""


class LostError(StoreError):
    """A lake's catalog went away, or another process wrote first: the same again may work."""
