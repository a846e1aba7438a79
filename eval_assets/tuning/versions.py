"""Versions of a judge, which can be pinned and repeated."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.stats import MonotoneMap

VersionStep = Literal[
    "declared", "calibration", "few_shot_examples", "judge_guidelines", "prompt_candidates", "jury"
]
"""Origin of a version: nothing, a map alone, the last step that changed the prompt, or a jury."""


@dataclass(frozen=True)
class JudgeVersion:
    """A judge as it is at one step of tuning.

    Its number is semantic: the first part changes with the model, its settings and the declared
    prompt, the second with a tuned prompt, the third with maps or weights alone.

    Args:
        judge_id: Judge that it is a version of; `jury` for the jury.
        version: Its number, such as 1.0.2.
        step: Step of tuning that made it; `declared` for the judge as it stands.
        parent: Number of the version that it was made from; None for a declared judge.
        fingerprint: Fingerprint of model, settings and declared prompt; of a jury, of its members.
        prompt_text: Template that it is asked with; empty for recorded scores and juries.
        maps: Map of its scores by question; questions without one keep scores as they are.
        weights: Weights of a jury's members, by question; empty for a single judge.
        sources: Responses and labels that its prompt was made from.
        trained_on: Fingerprints of the responses of train and dev that prompt, maps or weights were
            made from; empty for a declared judge. The ledger keeps them beside the version.
    """

    judge_id: str
    version: str
    step: VersionStep
    parent: str | None
    fingerprint: str
    prompt_text: str = ""
    maps: Mapping[str, MonotoneMap] = field(default_factory=dict)
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    trained_on: frozenset[str] = frozenset()

    @property
    def is_trained(self) -> bool:
        """Return whether prompt, maps or weights were made from labels."""
        return self.step != "declared" or bool(self.maps) or bool(self.weights)

    @property
    def has_declared_prompt(self) -> bool:
        """Return whether a single judge is asked with its prompt as declared."""
        return self.step in ("declared", "calibration")

    def mapped(self, question_id: str, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return raw scores of a question after its map; the scores themselves without one."""
        fitted = self.maps.get(question_id)
        return raw if fitted is None else fitted(raw)

    def numbered(self, number: str, *, parent: str | None) -> "JudgeVersion":
        """Return the version with its number and that of the version it was made from."""
        return replace(self, version=number, parent=parent)

    @property
    def as_declared(self) -> "JudgeVersion":
        """The version that maps alone were added to; the version itself if there are none."""
        if not (self.maps and self.has_declared_prompt and self.parent is not None):
            return self
        return replace(
            self, version=self.parent, step="declared", parent=None, maps={}, trained_on=frozenset()
        )

    @property
    def prompt_hash(self) -> str:
        """SHA-256 of the prompt; empty without one."""
        return _sha256(self.prompt_text) if self.prompt_text else ""

    @property
    def definition(self) -> dict[str, object]:
        """All that decides this judge's scores, as JSON: not its number, nor how it was made."""
        return {
            "judge_id": self.judge_id,
            "fingerprint": self.fingerprint,
            "prompt_text": self.prompt_text,
            "maps": {question: asdict(fitted) for question, fitted in sorted(self.maps.items())},
            "weights": {question: dict(of) for question, of in sorted(self.weights.items())},
        }

    @property
    def definition_hash(self) -> str:
        """SHA-256 of the definition: two versions with the same one give the same scores."""
        return json_hash(self.definition)


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value.

    Examples:
        >>> canonical_json({"b": 1.0, "a": [None, "ä"]})
        '{"a":[null,"ä"],"b":1.0}'
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def json_hash(value: object) -> str:
    """Return the SHA-256 of a value's JSON, in hexadecimal."""
    return _sha256(canonical_json(value))


def number_version(known: Sequence[JudgeVersion], new: JudgeVersion) -> str:
    """Return the existing number of a version, or else the next free one.

    Examples:
        >>> number_version([], JudgeVersion("gpt", "", "declared", None, "f"))
        '1.0.0'
    """
    numbers = {version.definition_hash: version.version for version in known}
    if new.definition_hash in numbers:
        return numbers[new.definition_hash]
    parts = {version.version: _parts(version.version) for version in known}
    same_judge = [v for v in known if v.fingerprint == new.fingerprint]
    if not same_judge:
        return f"{1 + max((major for major, _, _ in parts.values()), default=0)}.0.0"
    major = parts[same_judge[0].version][0]
    same_prompt = [v for v in same_judge if v.prompt_text == new.prompt_text]
    if not same_prompt:
        return f"{major}.{1 + max(parts[v.version][1] for v in same_judge)}.0"
    minor = parts[same_prompt[0].version][1]
    return f"{major}.{minor}.{1 + max(parts[v.version][2] for v in same_prompt)}"


def version_as_json(version: JudgeVersion) -> dict[str, object]:
    """Return the version without `trained_on` as JSON; `version_from_json` reads it back."""
    fields = {name: value for name, value in asdict(version).items() if name != "trained_on"}
    return json.loads(json.dumps(fields))  # type: ignore[no-any-return]


def version_from_json(stored: Mapping[str, Any]) -> JudgeVersion:
    """Return the version that `version_as_json` wrote."""
    maps = {question: _map(fitted) for question, fitted in stored["maps"].items()}
    return JudgeVersion(**{**stored, "maps": maps, "sources": tuple(stored["sources"])})


def _map(stored: Mapping[str, Any]) -> MonotoneMap:
    target = stored["target"]
    return MonotoneMap(
        seen=tuple(stored["seen"]),
        mapped=tuple(stored["mapped"]),
        target=None if target is None else tuple(target),
        low=stored["low"],
        high=stored["high"],
    )


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = version.split(".")
    return int(major), int(minor), int(patch)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
