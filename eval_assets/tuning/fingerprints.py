"""Fingerprints of the evidence of a certificate, which is stale if one changes."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eval_assets.config.rubric import RubricQuestion
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.versions import JudgeVersion, json_hash

T = TypeVar("T")


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of a judge, its question, and the ratings and scores of its test.

    Args:
        fingerprint: Of the judge: provider, model, settings and declared prompt.
        rubric: SHA-256 of the question, its scale and its guidelines.
        labels: SHA-256 of the human ratings in the test.
        scores: SHA-256 of the judge's scores of the test, before any map.
        models_returned: Models that answered, by their own account; empty if not known.
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
    """Return the fingerprints of a reading of this version."""
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
    return _hash_of_rows(units.response_ids.tolist(), scores.tolist())


def labels_hash(units: RatedUnits) -> str:
    """Return the fingerprint of the ratings of units, regardless of raters and order."""
    rows = _per_row(units.ratings, tuple)
    return _hash_of_rows(units.response_ids.tolist(), rows)


def training_fingerprints(units: Iterable[RatedUnits]) -> frozenset[str]:
    """Return the fingerprint of every response of train and dev, whatever its group is called."""
    return frozenset(
        name
        for rated in units
        for name in response_fingerprints(rated.response_ids[rated.splits != "test"])
    )


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


def label_fingerprints(units: RatedUnits) -> dict[str, str]:
    """Return the fingerprint of each response's ratings, to know the same labels by."""
    hashes = _per_row(units.ratings, lambda values: json_hash(values)[:8])
    return dict(zip(map(str, units.response_ids), hashes, strict=True))


def group_fingerprints(units: RatedUnits) -> tuple[str, ...]:
    """Return the fingerprint of each group's ratings, sorted, whatever its responses are called."""
    labels = label_fingerprints(units)
    by_group: dict[str, list[str]] = {}
    for group, response in zip(units.groups.tolist(), units.response_ids.tolist(), strict=True):
        by_group.setdefault(str(group), []).append(labels[str(response)])
    return tuple(sorted(json_hash(sorted(hashes))[:8] for hashes in by_group.values()))


_CHANGES = {
    "fingerprint": "the model, its settings or the declared prompt changed",
    "rubric": "the question, its scale or its guidelines changed",
    "labels": "human ratings in the test changed",
    "scores": "the judge's scores changed since the test",
    "doubts": "the scores that its doubt comes from changed since the test",
    "models_returned": "the vendor answers with another model",
}


def stale_because(
    certified: Fingerprints, now: Fingerprints | None, *, until: str, today: datetime
) -> str:
    """Return why a certificate no longer holds; empty while it does."""
    reasons = [changed_since(certified, now)]
    if now is not None and today.date().isoformat() > until:
        reasons.append(f"its validity ended on {until}")
    return "; ".join(filter(None, reasons))


def changed_since(then: Fingerprints, now: Fingerprints | None) -> str:
    """Return what changed since a reading; empty if nothing did."""
    if now is None:
        return "the judge or the question is no longer declared"
    return "; ".join(
        reason for name, reason in _CHANGES.items() if getattr(then, name) != getattr(now, name)
    )


def is_read_again(then: Fingerprints, now: Fingerprints | None) -> bool:
    """Return whether another reading would see other labels or scores of the same judge."""
    if now is None or now.fingerprint != then.fingerprint:
        return False
    return (now.labels, now.scores, now.doubts) != (then.labels, then.scores, then.doubts)


def _per_row(ratings: Floats, function: Callable[[list[float]], T]) -> list[T]:
    """Return a function of each row's sorted ratings. Equal rows are computed once."""
    whole = np.sort(ratings, axis=1).tobytes()  # gaps come last
    width = max(1, ratings.itemsize * ratings.shape[1])
    rows = [whole[begin : begin + width] for begin in range(0, len(whole), width)]
    known = {}
    for row in set(rows):
        values = np.frombuffer(row, dtype=np.float64)
        known[row] = function(values[~np.isnan(values)].tolist())
    return list(map(known.__getitem__, rows))


def _hash_of_rows(names: Sequence[str], values: Sequence[Hashable]) -> str:
    texts = {value: json.dumps(value) for value in set(values)}  # few of many are distinct
    rows = sorted(zip(names, map(texts.__getitem__, values), strict=True))
    return json_hash(rows)
