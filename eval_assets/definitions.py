"""The Dagster entry point: `defs` of the folder that EVAL_DATA names."""

import gc

from eval_assets.cli.main import COLLECTOR_THRESHOLDS

gc.set_threshold(*COLLECTOR_THRESHOLDS)  # before the imports: a tenth of what each process takes

from eval_assets.assets.evaluation_definitions import definitions_of  # noqa: E402
from eval_assets.assets.resources import EvaluationFolder  # noqa: E402

defs = definitions_of(EvaluationFolder())
