"""Dagster assets with their checks: each reads, calls one function, writes, and reports."""
