"""The Dagster entry point: `defs` of the folder that EVAL_DATA names."""

from eval_assets.assets.evaluation_definitions import definitions_of
from eval_assets.assets.resources import EvaluationFolder

defs = definitions_of(EvaluationFolder())
