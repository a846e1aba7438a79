"""Judges, generators, prices and capabilities as evaluation.yaml declares them."""

from collections.abc import Mapping
from pathlib import Path

from eval_assets.evaluation import Calling, Generator, Judge, Setting
from eval_assets.models import Price
from eval_assets.readers.entry_checks import EntryChecks
from eval_assets.readers.evaluation_entries import (
    CalledEntry,
    CapabilitiesEntry,
    GeneratorEntry,
    JudgeEntry,
    PriceEntry,
)
from eval_assets.readers.evaluation_files import named_file
from eval_assets.readers.yaml_lines import Path as KeyPath

_RECORDED = {"id", "provider", "model", "scores"}
"""All that a recorded judge can say of itself."""


def declared_judges(checks: EntryChecks, raws: list[object], *, folder: Path) -> tuple[Judge, ...]:
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
            calling=_calling(checks, entry, ("judges", place), batch=entry.batch),
            replicates=entry.replicates,
            aggregate=entry.aggregate,
        )
    checks.note_repeated("judges", {place: judge.id for place, judge in judges.items()})
    return tuple(judges.values())


def declared_generators(checks: EntryChecks, raws: list[object]) -> tuple[Generator, ...]:
    """The generators that are declared without fault."""
    generators = {}
    for place, raw in enumerate(raws):
        entry = checks.entry(GeneratorEntry, raw, ("generators", place))
        if entry is None:
            continue
        _note_base_url(checks, entry, ("generators", place))
        if len(set(entry.seeds)) < len(entry.seeds):
            what = "a seed is there twice"
            checks.note(("generators", place, "seeds"), what, "Name each seed once")
        generators[place] = Generator(
            id=entry.id,
            provider=entry.provider,
            model=entry.model,
            base_url=entry.base_url,
            api_key_env=entry.api_key_env,
            calling=_calling(checks, entry, ("generators", place), batch=False),
            seeds=tuple(entry.seeds),
            system=entry.system,
        )
    checks.note_repeated("generators", {place: each.id for place, each in generators.items()})
    return tuple(generators.values())


def declared_prices(checks: EntryChecks, raws: Mapping[str, object]) -> dict[str, Price]:
    """Prices by model, those without fault."""
    prices = {}
    for model, raw in raws.items():
        entry = checks.entry(PriceEntry, raw, ("prices", model))
        if entry is not None:
            prices[model] = Price(
                input_usd=entry.input,
                output_usd=entry.output,
                cached_input_usd=entry.cached_input,
                cache_write_usd=entry.cache_write,
                long_prompt_tokens=entry.long_prompt_tokens,
                long_prompt_factor=entry.long_prompt_factor,
            )
    return prices


def declared_capabilities(
    checks: EntryChecks, raws: Mapping[str, object]
) -> dict[str, dict[str, bool | str]]:
    """What is said of a model's capabilities, by model."""
    capabilities = {}
    for model, raw in raws.items():
        entry = checks.entry(CapabilitiesEntry, raw, ("capabilities", model))
        if entry is not None:
            capabilities[model] = entry.model_dump(exclude_none=True)
    return capabilities


def _calling(checks: EntryChecks, entry: CalledEntry, path: KeyPath, *, batch: bool) -> Calling:
    """How a model is called."""
    settings: dict[str, Setting] = {}
    for name, value in entry.settings.items():
        match value:
            case bool() | int() | float() | str():
                settings[name] = value
            case _:
                what = "a setting is text, a number, true or false"
                checks.note((*path, "settings", name), what, "Write one of these")
    max_tokens = settings.get("max_tokens", 1)
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        what = f"{max_tokens} is no number of tokens"
        checks.note((*path, "settings", "max_tokens"), what, "Use a whole number above 0")
    return Calling(
        settings=settings,
        requests_per_minute=entry.requests_per_minute,
        input_tokens_per_minute=entry.input_tokens_per_minute,
        max_in_flight=entry.max_in_flight,
        timeout_seconds=entry.timeout_seconds,
        batch=batch,
    )


def _note_misfits(checks: EntryChecks, entry: JudgeEntry, place: int) -> None:
    """Note what a judge lacks or has too much for its provider."""
    if entry.provider == "recorded":
        needed, needless = "scores", entry.model_fields_set - _RECORDED
        whose, remedy = "a recorded judge", "Name the file of its scores"
    else:
        needed, needless = "model", entry.model_fields_set & {"scores"}
        whose, remedy = f"a judge of provider {entry.provider}", "Name the model to ask"
    if getattr(entry, needed) is None:
        checks.note(("judges", place, needed), f"{whose} needs this key", remedy)
    for key in sorted(key for key in needless if getattr(entry, key) is not None):
        checks.note(("judges", place, key), f"{whose} takes no such key", "Remove it")
    _note_base_url(checks, entry, ("judges", place))


def _note_base_url(checks: EntryChecks, entry: CalledEntry, path: KeyPath) -> None:
    """Note a base URL that is none."""
    if entry.base_url is not None and not entry.base_url.startswith(("http://", "https://")):
        what = "the base URL has no http:// or https:// in front"
        checks.note((*path, "base_url"), what, "Write the whole URL")
