"""Declarations of judges and of the models under test."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen

from eval_assets.config.types import Count, Kappa, Name, Positive, Share, Text
from eval_assets.errors import Fault, raise_faults

Vendor = Literal["openai", "anthropic"]
Provider = Literal[Vendor, "recorded"]
Aggregate = Literal["mean", "median"]
ReplyForm = Literal["json", "number"]
Setting = str | int | float | bool

CURRENT = "current"
"""Value of `version` that means the last certified version."""

_RECORDED_KEYS = {"id", "provider", "model", "scores", "version", "backup"}
"""Keys of recorded judges."""


@dataclass(frozen=True)
class VendorApi:
    """A vendor's API, and the environment variables of its official client.

    Args:
        base_url: The vendor's own endpoint.
        base_url_name: Environment variable that names another endpoint.
        key_name: Environment variable that holds the key.
    """

    base_url: str
    base_url_name: str
    key_name: str


VENDORS: Mapping[Vendor, VendorApi] = {
    "openai": VendorApi("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": VendorApi("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
}
"""Every vendor; the module of its name in `eval_assets/judges/clients/` implements its protocol."""

_NUMBER = r"\d+\.\d+\.\d+"
_MOST_IN_FLIGHT = 64


@dataclass(frozen=True, kw_only=True)
class AskedModel:
    """A model that is asked live: where it is served, and how it is asked.

    Args:
        base_url: Endpoint other than the provider's own.
        api_key_env: Environment variable that holds the key; None for the provider's own.
        settings: Parameters of every request, such as temperature, max_tokens or effort;
            settings that a model does not take are not sent to it.
        requests_per_minute: Most requests in any minute; None to adapt to the vendor.
        input_tokens_per_minute: Most input tokens in any minute; None likewise.
        max_in_flight: Most requests at a time, and the number at first; None for 64, which are
            approached from one at a server that is not the vendor's own.
        timeout_seconds: Longest duration of one request.
        batch: Whether requests go to the vendor's batch endpoint, which takes hours at half price.

    Raises:
        DeclarationError: If the base URL is incomplete, or max_tokens is not a number of tokens.
    """

    base_url: Text | None = None
    api_key_env: Text | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    requests_per_minute: Positive | None = None
    input_tokens_per_minute: Positive | None = None
    max_in_flight: Count | None = None
    timeout_seconds: Positive = 60.0
    batch: bool = False

    def __post_init__(self) -> None:
        raise_faults(self._request_faults())

    @property
    def most_in_flight(self) -> int:
        """Most requests at a time, also if it is not declared."""
        return self.max_in_flight or _MOST_IN_FLIGHT

    def _request_faults(self) -> list[Fault]:
        faults = []
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            message = "the base URL does not start with http:// or https://"
            faults.append(Fault(("base_url",), message, "Write the whole URL"))
        max_tokens = self.settings.get("max_tokens", 1)
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            message = f"{max_tokens} is not a number of tokens"
            remedy = "Use a whole number above 0"
            faults.append(Fault(("settings", "max_tokens"), message, remedy))
        return faults


@dataclass(frozen=True)
class Judge(AskedModel):
    """An LLM rater: a model asked live, or recorded scores of one.

    Args:
        id: Name of the judge in every table.
        provider: Vendor of the API, or `recorded` if a file holds the scores.
        model: Model asked; of a recorded judge, the `judge_model` whose rows are taken.
        scores: File of recorded scores; None for a live judge.
        replicates: Number of requests to a live judge about each unit.
        aggregate: Statistic of the scores of several replicates.
        version: Tuned version that it rates as, with that prompt and those maps: a number of
            judge_versions, or `current` for the one certified last; None to rate as declared.
        backup: Whether it is a backup: asked only about units that another judge left without a
            score, and left out of agreement between judges.

    Raises:
        DeclarationError: If a key is missing, or does not fit the provider.
    """

    id: Name
    provider: Provider
    model: Text | None = None
    scores: Path | None = None
    replicates: Count = 1
    aggregate: Aggregate = "mean"
    version: Text | None = None
    backup: bool = False

    def __post_init__(self) -> None:
        if self.provider == "recorded":
            required_key, remedy = "scores", "Name the file of its scores"
            judge = "a recorded judge"
            unused = [key for key in _set_keys(self) if key not in _RECORDED_KEYS]
        else:
            required_key, remedy = "model", "Name the model to ask"
            judge = f"a judge of provider {self.provider}"
            unused = [key for key in _set_keys(self) if key == "scores"]
        faults = [Fault((key,), f"{judge} takes no such key", "Remove it") for key in unused]
        if getattr(self, required_key) is None:
            faults.append(Fault((required_key,), f"{judge} needs this key", remedy))
        faults += self._request_faults()
        if self.version not in (None, CURRENT) and not re.fullmatch(_NUMBER, self.version or ""):
            remedy = f"Use a number of judge_versions such as 1.1.0, or {CURRENT}"
            faults.append(Fault(("version",), f'"{self.version}" is not a version', remedy))
        raise_faults(faults)


@dataclass(frozen=True)
class Generator(AskedModel):
    """A model whose responses to the prompts are evaluated.

    Args:
        id: Name of the model in the responses.
        provider: Vendor of the API.
        model: Model asked.
        seeds: One response is made for each; sent to models that take a seed.
        system: System prompt; may be empty.

    Raises:
        DeclarationError: If a seed is repeated, or a batch is asked for.
    """

    id: Name
    provider: Vendor
    model: Text
    seeds: Annotated[tuple[int, ...], MinLen(1)] = (0,)
    system: str = ""

    def __post_init__(self) -> None:
        faults = self._request_faults()
        if len(set(self.seeds)) < len(self.seeds):
            faults.append(Fault(("seeds",), "a seed is repeated", "Name each seed once"))
        if self.batch:
            message = "a generator is asked turn after turn, which a batch endpoint cannot do"
            faults.append(Fault(("batch",), message, "Remove it"))
        raise_faults(faults)


@dataclass(frozen=True)
class Staged:
    """Conditions under which one judge of a pair is enough.

    Args:
        kappa: Agreement of the pair, Cohen's kappa, from which on one judge is enough.
        spot_check: Share of units that both still judge, in (0, 1].
        revert_below: Kappa on the spot checks below which both judge everything again.
        window: Number of the latest units that count.

    Raises:
        DeclarationError: If `revert_below` is above `kappa`.
    """

    kappa: Kappa = 0.85
    spot_check: Share = 0.05
    revert_below: Kappa = 0.70
    window: Count = 100

    def __post_init__(self) -> None:
        if self.revert_below > self.kappa:
            message = f"{self.revert_below:g} is above the kappa of {self.kappa:g}"
            raise_faults([Fault(("revert_below",), message, "Use a lower number")])


@dataclass(frozen=True)
class DualJudge:
    """Target for the agreement of the first two judges, and limits of listed differences.

    Args:
        kappa: Lowest Cohen's kappa of the pair that passes; a prompt below it is listed.
        disagreement: Difference of two scores of a response, on [0, 1], above which it is listed.
        group_disagreement: Mean difference over the responses to a prompt above which it is listed.
        reply: Form of a reply to `eval-assets dual-judge`: `json` with reasons, or a bare `number`,
            for which a model that does not think gets 10 tokens.
    """

    kappa: Kappa = 0.70
    disagreement: Share = 0.3
    group_disagreement: Share = 0.4
    reply: ReplyForm = "json"


def judge_fingerprint(judge: Judge, *, settings: Mapping[str, Setting], prompt: str) -> str:
    """Return the fingerprint of a judge's identity: provider, model, prompt and settings.

    A recorded judge has neither settings nor a prompt.

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
    """Return the fingerprint of a set of judges, which does not depend on their order.

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


def _set_keys(judge: Judge) -> list[str]:
    """Return the keys whose value is not the default."""
    return [
        key.name
        for key in fields(judge)
        if getattr(judge, key.name)
        != (key.default if key.default_factory is MISSING else key.default_factory())
    ]


def _sha256(identity: object) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
