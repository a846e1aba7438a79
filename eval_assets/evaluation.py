"""An evaluation: what is evaluated, how and by whom, as evaluation.yaml declares it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from eval_assets.models import Price
from eval_assets.scale import Level, Scale

Provider = Literal["openai", "anthropic", "recorded"]
Severity = Literal["error", "warn"]
OnError = Literal["fail", "reject_rows"]
GateName = Literal["human_a_hh", "human_alpha", "judge_alpha"]
SHIPPED_PROMPTS = ("rating", "relevance")
"""Prompts that ship with the program, which `judge_prompt` may name instead of a file."""

Aggregate = Literal["mean", "median"]
Setting = str | int | float | bool


@dataclass(frozen=True)
class RubricQuestion:
    """One thing asked of a response.

    Args:
        id: Name of the question in every file and table.
        question: What raters and judges are asked.
        scale: Values a rating may take.
        level: Level of measurement of the scale.
        guidelines: What each value means, shown to raters and judges; empty where none are given.
        scale_guessed: Whether the scale was guessed from the labels, because none is declared.
    """

    id: str
    question: str
    scale: Scale
    level: Level
    guidelines: str = ""
    scale_guessed: bool = False


@dataclass(frozen=True)
class Calling:
    """How a live model is called.

    Args:
        settings: What is sent with every call, such as temperature, max_tokens or effort; what a
            model does not take is left out for it.
        requests_per_minute: Most requests in any minute; None to find out how many it takes.
        input_tokens_per_minute: Most input tokens in any minute; None likewise.
        max_in_flight: Most calls at a time.
        timeout_seconds: How long one call may take.
        batch: Whether calls go to the vendor's batch endpoint, which takes hours at half price.
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    requests_per_minute: float | None = None
    input_tokens_per_minute: float | None = None
    max_in_flight: int = 64
    timeout_seconds: float = 60.0
    batch: bool = False


@dataclass(frozen=True)
class Judge:
    """An LLM rater, as declared: a model asked live, or recorded scores of one.

    Args:
        id: Name of the judge in every table.
        provider: Whose API is spoken, or `recorded` where a file holds the scores.
        model: Model asked; of a recorded judge, the `judge_model` whose rows are taken.
        scores: File of recorded scores; None for a live judge.
        base_url: Endpoint other than the provider's own.
        api_key_env: Environment variable that holds the key; None for the provider's own.
        calling: How a live judge is called.
        replicates: How often a live judge is asked about each unit.
        aggregate: What the score of several replicates is.
    """

    id: str
    provider: Provider
    model: str | None = None
    scores: Path | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    calling: Calling = field(default_factory=Calling)
    replicates: int = 1
    aggregate: Aggregate = "mean"


@dataclass(frozen=True)
class Generator:
    """A model whose answers to the prompts are evaluated.

    Args:
        id: Name of the model in the responses.
        provider: Whose API is spoken.
        model: Model asked.
        base_url: Endpoint other than the provider's own.
        api_key_env: Environment variable that holds the key; None for the provider's own.
        calling: How it is called.
        seeds: One answer is made for each; sent to models that take a seed.
        system: System prompt; empty for none.
    """

    id: str
    provider: Provider
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    calling: Calling = field(default_factory=Calling)
    seeds: tuple[int, ...] = (0,)
    system: str = ""


@dataclass(frozen=True)
class Staged:
    """When one judge of a pair is enough, and when both are asked again.

    Args:
        kappa: Agreement of the pair, Cohen's kappa, from which on one judge is enough.
        spot_check: Share of units that both still judge, in (0, 1].
        revert_below: Kappa on the spot checks below which both judge everything again.
        window: How many of the latest units are looked at.
    """

    kappa: float = 0.85
    spot_check: float = 0.05
    revert_below: float = 0.70
    window: int = 100


@dataclass(frozen=True)
class Gate:
    """A minimum that agreement must reach before judges may be tuned.

    Args:
        minimum: Lowest value that passes, unrounded.
        severity: Whether a closed gate blocks (`error`) or only warns (`warn`).
        level: Level of measurement for alpha; None for each question's own, of judges `interval`.
        by: What must reach the minimum: the `value`, or the lower end of its interval (`low`).
    """

    minimum: float
    severity: Severity = "error"
    level: Level | None = None
    by: Literal["value", "low"] = "value"


def default_gates() -> dict[GateName, Gate]:
    """The gates of an evaluation that declares none.

    0.75 is where A^HH is called good agreement (GDPval's bands), 0.667 where Krippendorff (2004)
    allows tentative conclusions.
    """
    return {
        "human_a_hh": Gate(minimum=0.75),
        "human_alpha": Gate(minimum=0.667),
        "judge_alpha": Gate(minimum=0.667),
    }


@dataclass(frozen=True)
class Evaluation:
    """Everything that evaluation.yaml declares, checked.

    Args:
        name: Name of the evaluation.
        folder: The evaluation folder, where evaluation.yaml stands.
        rubric: Questions asked, in the order declared.
        responses: Response files, in the order in which they are merged.
        labels: Label files.
        judges: LLM raters; empty where the human side runs alone.
        gates: Gates by name.
        labels_on_error: What a bad label does: `fail` the import, or `reject_rows` one by one.
        budget_usd: Most that one run may spend on judges and generators; None for no cap.
        judge_prompt: Template of the judges' prompt; None for the one that ships.
        staged: When one judge of the first pair is enough; None to ask all about everything.
        generators: Models that answer the prompts; empty where responses are given.
        prompts: Prompt files for the generators.
        prices: Prices by model, before those that ship.
        capabilities: What models take, by model, before the table that ships.
    """

    name: str
    folder: Path
    rubric: tuple[RubricQuestion, ...]
    responses: tuple[Path, ...]
    labels: tuple[Path, ...]
    judges: tuple[Judge, ...] = ()
    gates: dict[GateName, Gate] = field(default_factory=default_gates)
    labels_on_error: OnError = "fail"
    budget_usd: float | None = None
    judge_prompt: Path | None = None
    staged: Staged | None = None
    generators: tuple[Generator, ...] = ()
    prompts: tuple[Path, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    capabilities: Mapping[str, Mapping[str, bool | str]] = field(default_factory=dict)

    def question(self, question_id: str) -> RubricQuestion:
        """The question named `question_id`.

        Raises:
            KeyError: If the rubric has none of that name.
        """
        return next(q for q in self.rubric if q.id == question_id)

    def asked(self, indicator_id: str | None) -> tuple[RubricQuestion, ...]:
        """Questions asked of a response: the one its indicator names, otherwise all."""
        return tuple(q for q in self.rubric if q.id == indicator_id) or self.rubric


def judge_fingerprint(judge: Judge, *, settings: Mapping[str, Setting], prompt: str) -> str:
    """Fingerprint of what makes a judge the rater it is: provider, model, prompt and settings.

    Args:
        judge: The judge, live or recorded.
        settings: What it is sent; nothing for a recorded judge.
        prompt: Source of the prompt's template; empty for a recorded judge.

    Returns:
        SHA-256 in hexadecimal, its first 12 characters.
    """
    identity = (
        judge.provider,
        judge.base_url,
        judge.model,
        prompt,
        dict(settings),
        judge.replicates,
        judge.aggregate,
        judge.scores.name if judge.scores else None,
    )
    return _sha256(identity)[:12]


def judge_set_fingerprint(fingerprints: Mapping[str, str]) -> str:
    """Fingerprint of a set of judges, in whichever order they are declared.

    Args:
        fingerprints: The judges' fingerprints by id.

    Returns:
        SHA-256 in hexadecimal, its first 12 characters.

    Examples:
        >>> one = judge_set_fingerprint({"a": "1", "b": "2"})
        >>> one == judge_set_fingerprint({"b": "2", "a": "1"}), len(one)
        (True, 12)
    """
    return _sha256(sorted(fingerprints.items()))[:12]


def _sha256(identity: object) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
