"""Sending model requests: limits, budget, retries, the ledger and progress."""
