"""Reading of evaluation.yaml, with all its problems."""

from pathlib import Path

from eval_assets.config.evaluation import FILE, Evaluation, default_gates
from eval_assets.config.labelling import session_paths
from eval_assets.config.models import Capabilities
from eval_assets.errors import InputError, InputProblem, KeyPath
from eval_assets.readers.evaluation.declared_rubric import STAND_IN, declared_rubric
from eval_assets.readers.evaluation.input_files import declared_files, in_folder
from eval_assets.readers.evaluation.validation import (
    Checks,
    YamlDocument,
    keys_of,
    read_yaml,
    type_at,
    validated,
)
from eval_assets.readers.formats.files import read_text
from eval_assets.readers.problems import input_error

_INSTEAD = {"name": "unnamed", "rubric": STAND_IN}
"""Placeholders of missing sections, so that the others are checked too."""


def read_evaluation(folder: Path) -> Evaluation:
    """Return the evaluation in a folder, checked before anything runs or is spent.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong: unknown keys, missing
            files, scales and levels that make no sense, repeated ids.
    """
    try:
        document = _document(folder)
    except InputError as error:
        raise ExceptionGroup(f"{FILE} cannot be used", [error]) from error
    checks = Checks(document)
    raw = document.value
    if not isinstance(raw, dict):
        remedy = f"Write keys, each with a value: {', '.join(keys_of(Evaluation))}"
        checks.note((), f"{'the list' if raw else 'nothing'} is not a mapping", remedy)
        checks.raise_all()
    else:
        sections = _as_declared(checks, raw, folder=folder)
        evaluation = validated(checks, Evaluation, sections, instead=_INSTEAD)
        overrides = raw.get("capabilities")
        for model, override in overrides.items() if isinstance(overrides, dict) else ():
            if isinstance(override, dict):  # it names some of the keys
                at = "capabilities", model
                validated(checks, Capabilities, {"family": "any", **override}, at=at)
    checks.raise_all()
    if evaluation is None:
        raise AssertionError("an evaluation that is not valid has a problem")
    return evaluation


def evaluation_problem(folder: Path, path: KeyPath, message: str, remedy: str) -> InputProblem:
    """Return a problem of a declared value that shows only after other files are read."""
    return _document(folder).problem(path, message, remedy)


def evaluations_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the evaluation folders in a folder, sorted.

    Empty if it is itself an evaluation folder, or holds none.
    """
    if not folder.is_dir() or (folder / FILE).exists():
        return ()
    return tuple(sorted(path.parent.name for path in folder.glob(f"[!.]*/{FILE}")))


def _document(folder: Path) -> YamlDocument:
    if not folder.is_dir():
        remedy = "Name an evaluation folder, or make one with `eval-assets init`"
        raise input_error(str(folder), "there is no such folder", remedy)
    path = folder / FILE
    if names := evaluations_in(folder):
        message = "it is a folder of evaluations, of which one must be named"
        remedy = f"Name {' or '.join(str(folder / name) for name in names)}"
        raise input_error(str(folder), message, remedy)
    if not path.exists():
        remedy = "Write it, or make a folder that has one with `eval-assets init`"
        raise input_error(str(path), "there is no such file", remedy)
    return read_yaml(read_text(path, file=FILE), file=FILE)


def _as_declared(checks: Checks, raw: dict[str, object], *, folder: Path) -> dict[str, object]:
    """Return the sections in canonical form: short forms written out, files with paths."""
    # A key without a value, such as one whose entries are commented out, is not there.
    sections = {key: value for key, value in raw.items() if value is not None}
    labels, at = sections.get("labels"), ["labels", "files"]
    if not isinstance(labels, dict):
        labels, at = {"files": labels}, ["labels"]
    label_files = declared_files(checks, labels.get("files"), "labels", at=tuple(at), folder=folder)
    label_files += tuple(path for path in session_paths(folder) if path not in label_files)
    gates, alerts = sections.get("gates", {}), sections.get("alerts", {})
    if isinstance(gates, dict):  # each declared one with a minimum, and the others
        defaults = {name: {"min": gate.minimum} for name, gate in default_gates().items()}
        gates = defaults | {
            name: {**defaults.get(name, {}), **gate} if isinstance(gate, dict) else gate
            for name, gate in gates.items()
        }
    if isinstance(alerts, dict) and alerts.get("checks") == "all":  # the default
        alerts = {key: value for key, value in alerts.items() if key != "checks"}
    sections |= {
        "<folder>": folder,
        "rubric": declared_rubric(checks, sections.get("rubric"), folder=folder),
        "labels": labels | {"files": label_files, "<are named>": labels.get("files") is not None},
        "gates": gates,
        "alerts": alerts,
    }
    for noun in ("responses", "prompts"):
        sections[noun] = declared_files(checks, sections.get(noun), noun, at=(noun,), folder=folder)
    if not sections["responses"] and not sections.get("generators") and not raw.get("responses"):
        remedy = "Add responses.csv, or name the files under responses"
        checks.note(("responses",), "there are no responses", remedy)
    if sections.get("generators") and not sections["prompts"] and not raw.get("prompts"):
        message = "there are no prompts for the generators"
        checks.note(("generators",), message, "Add prompts.tsv, or name the files under prompts")
    return {
        key: in_folder(checks, value, type_at(Evaluation, key), folder=folder, at=(key,))
        for key, value in sections.items()
        if value is not None
    }
