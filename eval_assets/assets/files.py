"""The files that people own, as assets that Dagster knows of and does not make."""

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg

from eval_assets.problems import InputError
from eval_assets.readers import FILE, read_evaluation, source_fingerprints

if TYPE_CHECKING:
    from eval_assets.assets.resources import EvaluationFolder

RECENT = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=7), warn_window=timedelta(days=2)
)
"""How recently files should have been looked at: those that did not change are not read again."""

DATA_VERSION_TAG = "dagster/data_version"

evaluation_file = dg.AssetSpec(
    "evaluation_file",
    group_name="inputs",
    kinds={"yaml"},
    description="evaluation.yaml: what is evaluated, how and by whom.",
)
response_files = dg.AssetSpec(
    "response_files",
    group_name="inputs",
    kinds={"csv"},
    description="What each model answered, as given.",
)
label_files = dg.AssetSpec(
    "label_files",
    group_name="inputs",
    kinds={"csv"},
    description="Ratings by people, as given: label files and labelling sessions.",
)
judge_score_files = dg.AssetSpec(
    "judge_score_files",
    group_name="inputs",
    kinds={"csv"},
    description="Replies and scores of recorded judges, as given.",
)
adjudication_file = dg.AssetSpec(
    "adjudication_file",
    group_name="inputs",
    kinds={"json"},
    description="Decisions on disagreements, as people made them.",
)

_TABLES = {
    "responses": "response_files",
    "human_labels": "label_files",
    "judge_scores": "judge_score_files",
    "adjudicated_labels": "adjudication_file",
}
"""What is read into each table that has files behind it."""


def observe_files(folder: "EvaluationFolder", instance: dg.DagsterInstance) -> None:
    """Record the version of each kind of file, unless it is the one that was recorded last."""
    try:
        given = (folder.path / FILE).read_bytes()
    except OSError:
        return
    versions = {"evaluation_file": hashlib.sha256(given).hexdigest()}
    try:
        fingerprints = source_fingerprints(read_evaluation(folder.path))
    except* InputError:
        fingerprints = {}  # a run that reads the files reports what is wrong with them
    versions |= {_TABLES[table]: found for table, found in fingerprints.items()}
    for name, found in versions.items():
        key = folder.key(name)
        last = instance.fetch_observations(key, limit=1).records
        if not last or _version_of(last[0]) != found:
            tags = {DATA_VERSION_TAG: found}
            instance.report_runless_asset_event(dg.AssetObservation(key, tags=tags))


def _version_of(record: dg.EventLogRecord) -> str | None:
    """Return the version that an observation recorded."""
    observed = record.asset_observation
    return observed.data_version if observed else None
