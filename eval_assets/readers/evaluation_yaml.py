"""evaluation.yaml to an Evaluation, or everything that is wrong with it."""

from pathlib import Path

from eval_assets.evaluation import Evaluation, Gate, GateName, Judge, default_gates
from eval_assets.readers.declared_rubric import declared_rubric
from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.evaluation_entries import (
    Document,
    GateEntry,
    JudgeEntry,
    LabelsEntry,
)
from eval_assets.readers.evaluation_files import found_files, named_file, named_files
from eval_assets.readers.files import read_text
from eval_assets.readers.wording import nearest
from eval_assets.readers.yaml_lines import YamlDocument, read_yaml
from eval_assets.records import InputError, InputProblem, raise_all

FILE = "evaluation.yaml"


def read_evaluation(folder: Path) -> Evaluation:
    """The evaluation that a folder holds, checked before anything runs or is spent.

    Args:
        folder: Folder with evaluation.yaml; files that it names are looked for in there.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong: unknown keys, missing
            files, scales and levels that make no sense, ids that are there twice.
    """
    try:
        document = _document(folder)
    except InputError as error:
        raise ExceptionGroup(f"{FILE} cannot be used", [error]) from error
    checks = EntryChecks(document)
    entries = checks.document(Document, document.value, instead={"name": "", "rubric": []})
    if entries is None:
        raise_all(checks.in_order(), source=FILE)
        raise AssertionError("a document that is no mapping is a problem")
    labels = _labels(checks, entries.labels)
    responses, label_files = (
        found_files(folder, noun) if raw is None else named_files(checks, raw, path, folder=folder)
        for noun, raw, path in (
            ("responses", entries.responses, ("responses",)),
            ("labels", labels.files, ("labels",)),
        )
    )
    if not responses and entries.responses in (None, []):
        what = "there are no responses"
        checks.note((), what, "Add responses.csv, or name the files under responses")
    evaluation = Evaluation(
        name=entries.name,
        folder=folder,
        rubric=declared_rubric(checks, entries.rubric, label_files, folder=folder),
        responses=responses,
        labels=label_files,
        judges=_judges(checks, entries.judges, folder=folder),
        gates=_gates(checks, entries.gates),
        labels_on_error=labels.on_error,
        budget_usd=entries.budget_usd,
    )
    raise_all(checks.in_order(), source=FILE)
    return evaluation


def _document(folder: Path) -> YamlDocument:
    """The YAML file as it stands."""
    if not folder.is_dir():
        remedy = "Name an evaluation folder, or make one with `eval-assets init`"
        raise InputError(InputProblem(str(folder), None, None, "there is no such folder", remedy))
    path = folder / FILE
    if not path.exists():
        remedy = "Write it, or make a folder that has one with `eval-assets init`"
        raise InputError(InputProblem(str(path), None, None, "there is no such file", remedy))
    return read_yaml(read_text(path, file=FILE), file=FILE)


def _labels(checks: EntryChecks, raw: object) -> LabelsEntry:
    """Label files and what a bad row does; the short form names the files only."""
    if not isinstance(raw, dict):
        return LabelsEntry(files=raw)
    return checks.entry(LabelsEntry, raw, ("labels",)) or LabelsEntry()


def _judges(checks: EntryChecks, raws: list[object], *, folder: Path) -> tuple[Judge, ...]:
    """The judges that are declared without fault."""
    judges = {}
    for place, raw in enumerate(raws):
        entry = checks.entry(JudgeEntry, raw, ("judges", place))
        if entry is None:
            continue
        _note_misfits(checks, entry, place)
        path = ("judges", place, "scores")
        scores = named_file(checks, entry.scores, path, folder=folder) if entry.scores else None
        judges[place] = Judge(
            id=entry.id,
            provider=entry.provider,
            model=entry.model,
            scores=scores,
            base_url=entry.base_url,
            api_key_env=entry.api_key_env,
        )
    checks.note_repeated("judges", {place: judge.id for place, judge in judges.items()})
    return tuple(judges.values())


def _note_misfits(checks: EntryChecks, entry: JudgeEntry, place: int) -> None:
    """Note what a judge lacks or has too much for its provider."""
    if entry.provider == "recorded":
        needed, needless = "scores", ["base_url", "api_key_env"]
        whose, remedy = "a recorded judge", "Name the file of its scores"
    else:
        needed, needless = "model", ["scores"]
        whose, remedy = f"a judge of provider {entry.provider}", "Name the model to ask"
    if getattr(entry, needed) is None:
        checks.note(("judges", place, needed), f"{whose} needs this key", remedy)
    for key in needless:
        if getattr(entry, key) is not None:
            checks.note(("judges", place, key), f"{whose} takes no such key", "Remove it")
    if entry.base_url is not None and not entry.base_url.startswith(("http://", "https://")):
        what = "the base URL has no http:// or https:// in front"
        checks.note(("judges", place, "base_url"), what, "Write the whole URL")


def _gates(checks: EntryChecks, raws: dict[str, object]) -> dict[GateName, Gate]:
    """All gates: the defaults, changed where the file says so."""
    gates = default_gates()
    by_name = {str(name): name for name in gates}
    for name, raw in raws.items():
        gate = by_name.get(name)
        if gate is None:
            checks.note(("gates", name), "there is no such gate", nearest(name, by_name))
            continue
        entry = checks.entry(GateEntry, raw, ("gates", name))
        if entry is None:
            continue
        minimum = gates[gate].minimum if entry.min is None else entry.min
        lowest = 0 if gate == "human_a_hh" else -1
        if not lowest <= minimum <= 1:
            what = f"{minimum:g} cannot be a minimum of this gate"
            checks.note(("gates", name, "min"), what, f"Use a number from {lowest} to 1")
        if gate == "human_a_hh" and entry.level is not None:
            what = "A^HH has no level of measurement"
            checks.note(("gates", name, "level"), what, "Remove it")
        gates[gate] = Gate(minimum, entry.severity or gates[gate].severity, entry.level)
    return gates
