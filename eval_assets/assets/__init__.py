"""Dagster assets and their checks. Each asset reads, calls one function, writes and reports."""
