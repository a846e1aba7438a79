"""Versions of the code that an asset depends on, by which Dagster shows it as outdated."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

_EVERYTHING = ("config", "scale.py", "store/schema.sql")
"""What every asset depends on."""

_PARTS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("readers", "judges"),
    "human_labels": ("readers", "labelling"),
    "judge_scores": ("readers", "judges"),
    "agreement": ("agreement", "stats", "catalogue.py", "figures.py"),
    "judge_tuning": ("agreement", "stats", "tuning", "judges/prompts"),
    "reports": ("report", "render", "agreement/gates", "catalogue.py"),
}
"""Parts of the package that decide what the assets of a group store, by group."""


@cache
def code_version_of(group: str, *, package: Path = PACKAGE) -> str:
    """Return a fingerprint of the code that decides what the assets of a group store.

    Args:
        group: Name of the group, as the assets declare it.
        package: Folder of the package.
    """
    digest = hashlib.sha256()
    for part in sorted({*_EVERYTHING, *_PARTS.get(group, ())}):
        path = package / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(file.relative_to(package).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
