"""Files of an evaluation folder, named or by default, and their fingerprints."""

import glob
from collections.abc import Iterable
from pathlib import Path

from eval_assets.config.evaluation import SHIPPED_PROMPTS, Evaluation
from eval_assets.config.labelling import ADJUDICATIONS
from eval_assets.errors import KeyPath
from eval_assets.readers.evaluation.validation import Checks, type_at
from eval_assets.readers.formats.contents import FORMATS, format_of
from eval_assets.readers.formats.files import files_below, is_working_file, source_fingerprint


def declared_files(
    checks: Checks, raw: object, noun: str, *, at: KeyPath, folder: Path
) -> tuple[Path, ...]:
    """Return the files of that noun: those named at `at`, or else those in the folder."""
    if raw is None:
        return files_in_folder(folder, noun)
    files: list[Path] = []
    for position, entry in enumerate(raw if isinstance(raw, list) else [raw]):
        name = entry.strip() if isinstance(entry, str) else ""
        path = (*at, position) if isinstance(raw, list) else at
        if not name:
            checks.note(path, "this does not name a file", "Write a path, a glob or a list of them")
        elif (folder / name).is_dir():
            remedy = f"Write {name.rstrip('/')}/* for all files in it"
            checks.note(path, f"{name} is a folder", remedy)
        elif (folder / name).is_file() or not any(mark in name for mark in "*?["):
            files.append(existing(checks, name, path, folder=folder))
        else:
            matches = sorted(glob.glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 - takes absolute ones
            usable = _usable(folder / match for match in matches)
            if not usable:
                remedy = "Check the pattern, or add the files"
                checks.note(path, f"no file matches {name}", remedy)
            files += usable
    return tuple(dict.fromkeys(files))


def files_in_folder(folder: Path, noun: str) -> tuple[Path, ...]:
    """Return the files of that noun if none are named: `noun.csv` and its like, then `noun/*`.

    If there is none of these, one such as `noun.xlsx` is meant; beside others, that is a working
    copy. Reading reports any other ending.
    """
    single = _usable(sorted(folder.glob(f"{noun}.*")))
    single = [path for path in single if path.stem.split(".")[0] == noun]
    rows = [path for path in single if format_of(path) in FORMATS[:-3]]
    return (*rows, *_usable(files_below(folder / noun, is_deep=False))) or tuple(single)


def source_files(evaluation: Evaluation) -> dict[str, tuple[Path, ...]]:
    """Return the files behind each table that is read from files."""
    adjudications = evaluation.folder / ADJUDICATIONS
    return {
        "responses": evaluation.responses,
        "human_labels": evaluation.labels.files,
        "adjudicated_labels": (adjudications,) if adjudications.exists() else (),
        "judge_scores": tuple(judge.scores for judge in evaluation.judges if judge.scores),
    }


def source_fingerprints(evaluation: Evaluation) -> dict[str, str]:
    """Return a fingerprint of the files behind each table that is read from files.

    While one stays the same, its table need not be read again; once it differs, the table is stale.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be read.
    """
    return {table: source_fingerprint(files) for table, files in source_files(evaluation).items()}


def _usable(paths: Iterable[Path]) -> list[Path]:
    """Return the files without temporary ones of editors."""
    return [path for path in paths if not path.is_dir() and not is_working_file(path)]


def in_folder(
    checks: Checks, raw: object, kind: object, *, folder: Path, at: KeyPath = ()
) -> object:
    """Return a value with the files that it names, resolved in the folder.

    Args:
        checks: Files that do not exist are noted here.
        raw: The value as the file has it.
        kind: Type that the noun declares for it; text is a file if that is `Path`.
        folder: Evaluation folder.
        at: Path of the value in the file.
    """
    match raw:
        case dict() | list():
            steps = raw.items() if isinstance(raw, dict) else enumerate(raw)
            inner = [
                (key, in_folder(checks, value, type_at(kind, key), folder=folder, at=(*at, key)))
                for key, value in steps
            ]
            return dict(inner) if isinstance(raw, dict) else [value for _, value in inner]
        case str() if kind is Path:
            return existing(checks, raw, at, folder=folder)
        case _:
            return raw


def existing(checks: Checks, name: str, at: KeyPath, *, folder: Path) -> Path:
    """Return the file of that name; note one that does not exist."""
    file = folder / name
    if name in SHIPPED_PROMPTS and not file.exists():
        return Path(name)
    if file.is_dir():
        checks.note(at, f"{name} is a folder", "Name a file")
    elif not file.exists():
        checks.note(at, f"there is no file {name}", "Check the name, or add the file")
    return file
