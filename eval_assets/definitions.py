"""The Dagster entry point: `defs` of the folder that EVAL_DATA names."""

import gc
import os
from pathlib import Path

import dagster as dg

from eval_assets.cli.main import COLLECTOR_THRESHOLDS

gc.set_threshold(*COLLECTOR_THRESHOLDS)  # before the imports: a tenth of what each process takes

from eval_assets.assets.evaluation_definitions import project_definitions  # noqa: E402
from eval_assets.config.evaluation import FILE  # noqa: E402
from eval_assets.readers.evaluation.read import evaluations_in  # noqa: E402


def _root() -> Path:
    """Return the folder that EVAL_DATA names.

    Raises:
        dagster.DagsterInvalidDefinitionError: If it names none that holds an evaluation.
    """
    named = os.environ.get("EVAL_DATA")
    if named and ((Path(named) / FILE).exists() or evaluations_in(Path(named))):
        return Path(named).resolve()
    problem = f"{named} holds no {FILE}" if named else "it is not set"
    choices = [Path("data") / name for name in evaluations_in(Path("data"))]
    listed = ", ".join(map(str, choices)) or "an evaluation folder, as eval-assets init makes one"
    raise dg.DagsterInvalidDefinitionError(f"EVAL_DATA: {problem}. Set it to {listed}")


defs = project_definitions(_root())
