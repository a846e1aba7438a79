"""Versions of judges, and fingerprints of the evidence of their certificates."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import MonotoneMap
from eval_assets.tuning.rated import Floats, RatedUnits

VersionStep = Literal["declared", "calibration", "few_shot_examples", "judge_guidelines", "jury"]
"""Origin of a version: nothing, a map alone, the last step that changed the prompt, or a jury."""


@dataclass(frozen=True)
class JudgeVersion:
    """A judge at one step of tuning.

    Its number is semantic: the first part changes with the model, its settings and the declared
    prompt, the second with a tuned prompt, the third with maps or weights alone.

    Args:
        step: Step of tuning that made it; `declared` for the judge as it stands.
        fingerprint: Fingerprint of model, settings and declared prompt; of a jury, of its members.
        prompt_text: Prompt template; empty for recorded scores and juries.
        maps: Map of its scores by question; questions without one keep scores as they are.
        weights: Weights of a jury's members, by question; empty for a single judge.
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
        """Return whether a single judge has its declared prompt."""
        return self.step in ("declared", "calibration")

    def mapped(self, question_id: str, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return raw scores of a question after its map; the scores themselves without one."""
        fitted = self.maps.get(question_id)
        return raw if fitted is None else fitted(raw)

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
        """All that determines this judge's scores, as JSON, without its number and origin."""
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
    same_judge = [v for v in known if v.fingerprint == new.fingerprint]
    if not same_judge:
        return f"{1 + max((_parts(v.version)[0] for v in known), default=0)}.0.0"
    same_prompt = [v for v in same_judge if v.prompt_text == new.prompt_text]
    major, minor, patch = max(_parts(v.version) for v in same_prompt or same_judge)
    return f"{major}.{minor}.{patch + 1}" if same_prompt else f"{major}.{minor + 1}.0"


def version_from_json(fields: Mapping[str, Any]) -> JudgeVersion:
    """Return the version with these fields, as its JSON has them; its numbers keep their type."""
    maps: dict[str, MonotoneMap] = {}
    for question, fitted in fields["maps"].items():
        lists = {key: tuple(of) for key, of in fitted.items() if isinstance(of, list)}
        maps[question] = MonotoneMap(**{**fitted, **lists})
    return JudgeVersion(**{**fields, "maps": maps, "sources": tuple(fields["sources"])})


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = version.split(".")
    return int(major), int(minor), int(patch)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of a judge, its question, and the ratings and scores of its test.

    Args:
        scores: SHA-256 of the judge's scores of the test, before any map.
        models_returned: Models named in the replies; empty if not known.
        doubts: SHA-256 of the doubts of the test; None unless a claim on a part rests on them.
    """

    fingerprint: str
    rubric: str
    labels: str
    scores: str
    models_returned: tuple[str, ...] = ()
    doubts: str | None = None


def fingerprints_of(
    version: JudgeVersion,
    test: RatedUnits,
    scores: Floats,
    *,
    models_returned: Sequence[str] = (),
    doubts: Floats | None = None,
) -> Fingerprints:
    """Return the fingerprints of an evaluation of this version."""
    return Fingerprints(
        fingerprint=version.fingerprint,
        rubric=rubric_hash(test.question),
        labels=labels_hash(test),
        scores=scores_hash(test, scores),
        models_returned=tuple(sorted(models_returned)),
        doubts=None if doubts is None else scores_hash(test, doubts),
    )


def rubric_hash(question: RubricQuestion) -> str:
    """Return the fingerprint of a question's wording and scale."""
    scale = question.scale
    wording = (question.id, question.question, question.guidelines, question.level)
    return json_hash([*wording, scale.low, scale.high, scale.values])


def scores_hash(units: RatedUnits, scores: Floats) -> str:
    """Return the fingerprint of a judge's scores of units, before any map."""
    key = hashlib.sha256(scores.tobytes()).digest()
    if key not in units.score_hashes:
        units.score_hashes[key] = _hash_of_rows(units, scores.tolist())
    return units.score_hashes[key]


@lru_cache(maxsize=1)  # each judge's certificate needs the one of the same test
def labels_hash(units: RatedUnits) -> str:
    """Return the fingerprint of the ratings of units, regardless of raters and order."""
    rows = np.sort(units.ratings, axis=1)
    return _hash_of_rows(units, [row[~np.isnan(row)].tolist() for row in rows])


def training_fingerprints(units: Iterable[RatedUnits]) -> frozenset[str]:
    """Return the fingerprint of every response of train and dev, regardless of group names."""
    response_ids = (rated.response_ids[~rated.is_in("test")].tolist() for rated in units)
    return frozenset(response_fingerprints(set().union(*response_ids)))


def are_grouped_with(units: RatedUnits, fingerprints: frozenset[str]) -> NDArray[np.bool_]:
    """Return which units are of a group with a response that has one of these fingerprints."""
    if not fingerprints:
        return np.zeros(len(units.groups), dtype=bool)
    names = response_fingerprints(units.response_ids)
    is_known = np.fromiter(map(fingerprints.__contains__, names), np.bool_, len(names))
    return units.are_of(units.groups[is_known].tolist())


def response_fingerprints(response_ids: Iterable[str]) -> list[str]:
    """Return the fingerprint of each response, by its id."""
    return [hashlib.sha256(str(name).encode()).hexdigest()[:12] for name in response_ids]


_CHANGES = {
    "fingerprint": "the model, its settings or the declared prompt changed",
    "rubric": "the question, its scale or its guidelines changed",
    "labels": "human ratings in the test changed",
    "scores": "the judge's scores changed since the test",
    "doubts": "the scores that its doubt comes from changed since the test",
    "models_returned": "the vendor answers with another model",
}


def changed_since(certified: Fingerprints, now: Fingerprints | None) -> str:
    """Return the changes since an evaluation; empty if there are none."""
    if now is None:
        return "the judge or the question is no longer declared"
    changed = [name for name in _CHANGES if getattr(certified, name) != getattr(now, name)]
    if "labels" in changed:  # scores are those of the rated responses, which may be others now
        changed = [name for name in changed if name not in {"scores", "doubts"}]
    if changed == ["rubric"]:  # the same ratings and scores are not evaluated again
        return f"{_CHANGES['rubric']}: restore them, or rate again"
    return "; ".join(map(_CHANGES.__getitem__, changed))


def is_read_again(
    certified: Fingerprints, now: Fingerprints | None, *, by_other_rule: bool
) -> bool:
    """Return whether an evaluation now would differ: other labels, scores or another rule."""
    if now is None or now.fingerprint != certified.fingerprint:
        return False
    return by_other_rule or (now.labels, now.scores, now.doubts) != (
        certified.labels,
        certified.scores,
        certified.doubts,
    )


def _hash_of_rows(units: RatedUnits, values: Sequence[object]) -> str:
    """Return the SHA-256 of the JSON of every response and the JSON of its value, by response."""
    return json_hash(sorted(zip(units.response_ids.tolist(), map(json.dumps, values), strict=True)))
