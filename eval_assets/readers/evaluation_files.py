"""Which files an evaluation folder holds: as evaluation.yaml names them, else as they are found."""

import glob
from pathlib import Path

from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.tables import FORMATS
from eval_assets.readers.yaml_lines import Path as KeyPath


def found_files(folder: Path, noun: str) -> tuple[Path, ...]:
    """Files of that noun where none are named: `noun.csv` and its like, then all in `noun/`.

    Where there is none of these, one such as `noun.xlsx` is meant: reading it says what to do.
    """
    single = [folder / f"{noun}{suffix}" for suffix in FORMATS]
    several = sorted((folder / noun).glob("[!.]*"))
    found = tuple(path for path in [*single, *several] if path.is_file())
    return found or tuple(path for path in sorted(folder.glob(f"{noun}.*")) if path.is_file())


def named_files(
    checks: EntryChecks, raw: object, path: KeyPath, *, folder: Path
) -> tuple[Path, ...]:
    """Files that a path, a glob or a list of them names; what names none is noted."""
    names = raw if isinstance(raw, list) else [raw]
    files: list[Path] = []
    for place, name in enumerate(names):
        at = (*path, place) if isinstance(raw, list) else path
        if isinstance(name, str) and name.strip():
            files += _matches(checks, name.strip(), at, folder=folder)
        else:
            checks.note(at, "this names no file", "Write a path, a glob or a list of them")
    return tuple(dict.fromkeys(files))


def named_file(checks: EntryChecks, name: str, path: KeyPath, *, folder: Path) -> Path:
    """The file of that name; one that does not exist is noted."""
    file = folder / name
    if file.is_dir():
        checks.note(path, f"{name} is a folder", "Name a file")
    elif not file.is_file():
        checks.note(path, f"there is no file {name}", "Check the name, or add the file")
    return file


def _matches(checks: EntryChecks, name: str, path: KeyPath, *, folder: Path) -> list[Path]:
    """The file of that name, or all that match it."""
    if (folder / name).is_file() or not any(mark in name for mark in "*?["):
        if (folder / name).is_dir():
            remedy = f"Write {name.rstrip('/')}/* for all files in it"
            checks.note(path, f"{name} is a folder", remedy)
            return []
        return [named_file(checks, name, path, folder=folder)]
    matches = sorted(glob.glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 - takes absolute ones
    files = [folder / match for match in matches if (folder / match).is_file()]
    if not files:
        checks.note(path, f"no file matches {name}", "Check the pattern, or add the files")
    return files
