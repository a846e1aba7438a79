"""Versions of the input files, recorded in Dagster's history."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import dagster as dg

from eval_assets.config.evaluation import FILE
from eval_assets.errors import InputError
from eval_assets.readers.evaluation.input_files import source_files
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.formats.files import is_working_file, source_fingerprint

_FILES_OF_TABLE = {
    "responses": "response_files",
    "human_labels": "label_files",
    "judge_scores": "judge_score_files",
    "adjudicated_labels": "adjudication_file",
}
"""The asset of the files that are read into each table."""

_DATA_VERSION_TAG = "dagster/data_version"
"""Tag by which an observation has a data version; Dagster does not export its name."""


def unrecorded_versions(
    folder: Path, instance: dg.DagsterInstance, *, key: Callable[[str], dg.AssetKey]
) -> Iterator[dg.AssetObservation]:
    """Yield an observation of each kind of file whose version is not the one recorded last.

    Args:
        folder: The evaluation folder.
        instance: Dagster's history.
        key: Returns the key of an asset of the folder by its name.
    """
    for name, version in file_versions(folder).items():
        last = instance.fetch_observations(key(name), limit=1).records
        if not last or _version_of(last[0]) != version:
            yield dg.AssetObservation(key(name), tags={_DATA_VERSION_TAG: version})


def file_versions(folder: Path) -> dict[str, str]:
    """Return the version of each kind of file that can be read; no file has a version too.

    That of `evaluation_file` is also of files of no other kind, such as prompts.
    """
    versions: dict[str, str] = {}
    try:
        sources = source_files(read_evaluation(folder))
    except* InputError:
        sources = {}  # a run that reads the file reports what is wrong with it
    read = {path.resolve() for path in chain.from_iterable(sources.values())}
    other_files = [path for path in _given_files(folder) if path.resolve() not in read]
    kinds = {_FILES_OF_TABLE[table]: files for table, files in sources.items()}
    # Without evaluation.yaml, it is not known of which kind the other files are.
    kinds["evaluation_file"] = tuple(other_files) if sources else (folder / FILE,)
    for name, files in kinds.items():
        try:
            versions[name] = source_fingerprint(files)
        except* InputError:
            pass
    return versions


def _given_files(folder: Path) -> list[Path]:
    """Return the complete files that people put into a folder.

    These exclude files that the program writes, locks, hidden, half-written and empty files.
    """
    files = []
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        is_own = parts[0] == "out" or parts[0].startswith("ledger.sqlite")
        if is_own or any(is_working_file(Path(part)) for part in parts):
            continue
        if path.is_file() and path.stat().st_size:
            files.append(path)
    return sorted(files)


def _version_of(record: dg.EventLogRecord) -> str | None:
    """Return the version that an observation recorded."""
    observed = record.asset_observation
    return observed.data_version if observed else None
