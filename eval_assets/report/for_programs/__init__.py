"""Ratings in the forms that other programs read."""

from eval_assets.report.for_programs.every_eval_ever import evaluation_records
from eval_assets.report.for_programs.opentelemetry import evaluation_events

__all__ = ["evaluation_events", "evaluation_records"]
