"""Labelling sessions and their exports: one rater's labels in one dimension."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.dimensions import dimension_of
from eval_assets.readers._problems import shown
from eval_assets.readers.formats.table import Table, as_text
from eval_assets.readers.labels.parsed_labels import GivenLabel, GivenLabels, labels_one_by_one

_KEYS = {
    "response_id": "scenarioId",
    "question_id": "dimension",
    "rater_id": "labelerId",
    "labelled_at": "timestamp",
    "skip_reason": "skipReason",
}
_AS_NAMED = ("confidence", "notes", "skipped")
_RATINGS = ("rating", "triggerCorrect", "technicallyCorrect", "completenessScore")
_OF_CODE = ("codeParses", "codeRuns")
_VERDICTS = {*_RATINGS, *_OF_CODE}
_PROGRESS = {
    *("startedAt", "lastUpdatedAt", "closedAt", "withdrawn"),
    *("totalScenarios", "completedScenarios", "skippedScenarios"),
}
"""Keys of a session that every further label changes, and that say nothing of the others."""
_READ_OF_SESSION = {"labels", "dimension", "labelerId", "round", *_PROGRESS}
_READ_OF_LABEL = {*_KEYS.values(), *_AS_NAMED, *_RATINGS, "history", "repeat"}


def session_labels(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """Return labels of `{"dimension", "labelerId", "labels": [{"scenarioId", ...}]}`.

    Lines are positions in the list of labels; if a file holds several exports, they go on. A
    label of a response that came back to its rater is passed over: it is none between raters.

    Raises:
        InputError: If `labels` is not a list.
    """
    labels: list[tuple[int, str, GivenLabel]] = []
    bad_rows = list(table.bad_rows)
    line = 0
    exports = zip(
        table.lines,
        table.cells("labels"),
        table.stripped("dimension"),
        table.stripped("labelerId"),
        table.stripped("round"),
        strict=True,
    )
    of_sessions = {
        name: cells for name, cells in table.columns.items() if name not in _READ_OF_SESSION
    }
    for row, (place, given, dimension, labeler, number) in enumerate(exports):
        if not isinstance(given, list):
            what, remedy = "this is not a list of labels", "Export the session again"
            raise InputError(InputProblem(table.file, place, "labels", what, remedy))
        question = _question_of(dimension, question_ids)
        of_session = {name: cells[row] for name, cells in of_sessions.items()}
        for line, label in enumerate(given, start=line + 1):  # noqa: B020 - counted on
            wrong = _problem(label, question)
            if wrong is not None:
                bad_rows.append(InputProblem(table.file, line, *wrong))
            if wrong is not None or label.get("repeat") is True:
                continue
            key, rating = next(_ratings(label), ("labels", None))
            fields = {"question_id": question, "rating": rating, **_fields(label)}
            fields["rater_id"] = fields["rater_id"] or labeler
            fields["round"] = number
            fields["details"] = _details({**of_session, **label})
            labels.append((line, key, fields))
    return labels_one_by_one(table.file, labels, bad_rows, headers=_KEYS)


def _problem(label: object, question: str | None) -> tuple[str, str, str] | None:
    """Return column, finding and remedy if it is unclear what the label says."""
    if not isinstance(label, dict):
        remedy = 'Write an object such as {"scenarioId": "s1", "triggerCorrect": true}'
        return "labels", f"{shown(as_text(label))} is not a label", remedy
    keys = [key for key, _ in _ratings(label)]
    if len(keys) > 1:
        what = f"one label gives both {keys[0]} and {keys[1]}"
        return keys[1], what, "Keep the one that the dimension asks for"
    if keys and question is not None and keys[0] not in _verdicts_of(question):
        what = f"this is not the verdict of {shown(question)}"
        return keys[0], what, f"Give {' and '.join(_verdicts_of(question)[1:])}"
    if not _VERDICTS & label.keys() and not label.get("skipped"):
        return _misspelt(label)
    return None


def _verdicts_of(question: str) -> tuple[str, ...]:
    """Return the keys under which a verdict is accepted; any if it is none of the dimensions."""
    verdicts = dimension_of(question).verdicts
    return ("rating", *verdicts) if verdicts != ("rating",) else (*_RATINGS, *_OF_CODE)


def _misspelt(label: Mapping[str, object]) -> tuple[str, str, str] | None:
    """Return a problem if the label has no verdict, but a key that is nearly one."""
    for key in label:
        near = get_close_matches(key, _VERDICTS, n=1, cutoff=0.75)
        if near:
            return key, "there is no such verdict", f"Write {near[0]}"
    return None


def _fields(label: dict[str, object]) -> dict[str, str | None]:
    """Return what the label says beside its question and rating."""
    named = {field: key for field, key in _KEYS.items() if field != "question_id"}
    named |= {field: field for field in _AS_NAMED}
    hashes = label.get("hashes")
    return {
        **{field: as_text(label.get(key)) for field, key in named.items()},
        "guideline_hash": as_text(hashes.get("guidelines")) if isinstance(hashes, dict) else None,
    }


def _details(said: Mapping[str, object]) -> str | None:
    """Return as JSON what session and label say that no other field holds."""
    rest = {
        key: value
        for key, value in said.items()
        if key not in _READ_OF_LABEL and value not in (None, "", [], {})
    }
    return json.dumps(rest, ensure_ascii=False, default=str) if rest else None


def _ratings(label: dict[str, object]) -> Iterator[tuple[str, str | None]]:
    """Yield key and rating of each rating in the label; code is valid if it parses and runs.

    Code that parses is unrated as long as nobody said whether it runs, and the reverse.
    """
    for key in _RATINGS:
        if label.get(key) is not None:
            yield key, as_text(label[key])
    code = [as_text(label.get(key)) for key in _OF_CODE]
    unclear = [part for part in code if part not in {"true", "false", None}]
    if "false" in code:
        yield "codeRuns", "false"
    elif unclear:
        yield "codeRuns", unclear[0]
    elif "true" in code:
        yield "codeRuns", None if None in code else "true"


def _question_of(dimension: str | None, question_ids: Sequence[str]) -> str | None:
    """Return the question that a dimension means, whether written with hyphens or underscores."""
    if dimension is None or dimension in question_ids:
        return dimension
    plain = dimension.lower().replace("-", "_")
    same = [q for q in question_ids if q.lower().replace("-", "_") == plain]
    return same[0] if same else dimension
