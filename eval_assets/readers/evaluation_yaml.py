"""evaluation.yaml to an Evaluation, or everything that is wrong with it."""

from pathlib import Path

from eval_assets.evaluation import (
    SHIPPED_PROMPTS,
    Evaluation,
    Gate,
    GateName,
    Staged,
    default_gates,
)
from eval_assets.problems import InputError, InputProblem, raise_all
from eval_assets.readers.declared_models import (
    declared_capabilities,
    declared_generators,
    declared_judges,
    declared_prices,
)
from eval_assets.readers.declared_rubric import declared_rubric
from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.evaluation_entries import (
    Document,
    GateEntry,
    LabelsEntry,
    StagedEntry,
)
from eval_assets.readers.evaluation_files import found_files, named_file, named_files
from eval_assets.readers.files import read_text
from eval_assets.readers.wording import nearest
from eval_assets.readers.yaml_lines import YamlDocument, read_yaml

FILE = "evaluation.yaml"

_PAIR = 2


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
    prompts = (
        found_files(folder, "prompts")
        if entries.prompts is None
        else named_files(checks, entries.prompts, ("prompts",), folder=folder)
    )
    generators = declared_generators(checks, entries.generators)
    if generators and not prompts and entries.prompts is None:
        what = "there are no prompts for the generators"
        checks.note(("generators",), what, "Add prompts.tsv, or name the files under prompts")
    if not responses and not entries.generators and entries.responses in (None, []):
        what = "there are no responses"
        checks.note((), what, "Add responses.csv, or name the files under responses")
    evaluation = Evaluation(
        name=entries.name,
        folder=folder,
        rubric=declared_rubric(checks, entries.rubric, label_files, folder=folder),
        responses=responses,
        labels=label_files,
        judges=declared_judges(checks, entries.judges, folder=folder),
        gates=_gates(checks, entries.gates),
        labels_on_error=labels.on_error,
        budget_usd=entries.budget_usd,
        judge_prompt=_judge_prompt(checks, entries.judge_prompt, folder=folder),
        staged=_staged(checks, entries),
        generators=generators,
        prompts=prompts,
        prices=declared_prices(checks, entries.prices),
        capabilities=declared_capabilities(checks, entries.capabilities),
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


def _judge_prompt(checks: EntryChecks, name: str | None, *, folder: Path) -> Path | None:
    """The template's file; the prompts that ship go by their names."""
    if name is None or (name in SHIPPED_PROMPTS and not (folder / name).exists()):
        return None if name is None else Path(name)
    return named_file(checks, name, ("judge_prompt",), folder=folder)


def _staged(checks: EntryChecks, entries: Document) -> Staged | None:
    """When one judge of the first pair is enough."""
    if entries.staged is None:
        return None
    entry = checks.entry(StagedEntry, entries.staged, ("staged",))
    if entry is None:
        return None
    if len(entries.judges) < _PAIR:
        checks.note(("staged",), "staging takes two judges", "Declare a second one, or remove it")
    if entry.revert_below > entry.kappa:
        what = f"{entry.revert_below:g} lies above the kappa of {entry.kappa:g}"
        checks.note(("staged", "revert_below"), what, "Use a lower number")
    return Staged(entry.kappa, entry.spot_check, entry.revert_below, entry.window)


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
