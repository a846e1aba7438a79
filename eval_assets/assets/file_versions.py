"""Versions of the input files, recorded in Dagster's history."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.input_files import source_files, source_fingerprints
from eval_assets.readers.evaluation.read import read_evaluation

_FILES_OF_TABLE = {
    "responses": "response_files",
    "human_labels": "label_files",
    "judge_scores": "judge_score_files",
    "adjudicated_labels": "adjudication_file",
}
"""The asset of the files that are read into each table."""

_DATA_VERSION_TAG = "dagster/data_version"


def observe_files(
    folder: Path, instance: dg.DagsterInstance, *, key: Callable[[str], dg.AssetKey]
) -> None:
    """Record the version of each kind of file, if it is new.

    Args:
        folder: The evaluation folder.
        instance: Dagster's history.
        key: Returns the key of an asset of the folder by its name.
    """
    for name, version in file_versions(folder).items():
        last = instance.fetch_observations(key(name), limit=1).records
        if not last or _version_of(last[0]) != version:
            tags = {_DATA_VERSION_TAG: version}
            instance.report_runless_asset_event(dg.AssetObservation(key(name), tags=tags))


def file_versions(folder: Path) -> dict[str, str]:
    """Return the version of each kind of file that can be read."""
    try:
        text = (folder / FILE).read_bytes()
    except OSError:
        return {}
    versions = {"evaluation_file": hashlib.sha256(text).hexdigest()}
    try:
        fingerprints = source_fingerprints(read_evaluation(folder))
    except* InputError:
        fingerprints = {}  # a run that reads the files reports what is wrong with them
    return versions | {_FILES_OF_TABLE[table]: result for table, result in fingerprints.items()}


def assets_of_files(folder: Path) -> dict[Path, str]:
    """Return the asset of each input file; empty if evaluation.yaml cannot be used."""
    try:
        sources = source_files(read_evaluation(folder))
    except* InputError:
        sources = {}
    return {(folder / FILE).resolve(): "evaluation_file"} | {
        path.resolve(): _FILES_OF_TABLE[table] for table, files in sources.items() for path in files
    }


def _version_of(record: dg.EventLogRecord) -> str | None:
    """Return the version that an observation recorded."""
    observed = record.asset_observation
    return observed.data_version if observed else None
