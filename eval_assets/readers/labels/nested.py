"""Nested labels: sessions of one rater in one dimension, and annotations with several ratings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from eval_assets.errors import InputProblem
from eval_assets.labelling.choices import VERDICTS, dimension_of, verdicts
from eval_assets.labelling.sessions import Label, SessionKey, json_key, remark_of
from eval_assets.readers.formats.table import FileColumn, FileTable, as_text, plain, without_blanks
from eval_assets.readers.problems import input_error, quoted
from eval_assets.readers.rated_rows import FIELDS, RatedRows, rows_of_table

_OF_LABEL = ("response_id", "labelled_at", "skip_reason", "confidence", "notes")
_KEYS = {
    **{field: json_key(Label, field) for field in _OF_LABEL},
    **{field: json_key(SessionKey, field) for field in ("question_id", "rater_id")},
    "skipped": "skipped",
}
_TIME_KNOWN = json_key(Label, "is_time_known")
_PROGRESS = {
    *("startedAt", "lastUpdatedAt", "closedAt", "withdrawn", "checksum"),
    *("totalScenarios", "completedScenarios", "skippedScenarios"),
}
"""Keys of a session that every further label changes, and that say nothing of the others."""
_READ_OF_SESSION = {"labels", "dimension", "labelerId", "round", *_PROGRESS}
_READ_OF_LABEL = {*_KEYS.values(), *VERDICTS, "history", "repeat", _TIME_KNOWN} - {
    *("codeParses", "codeRuns")
}


def session_labels(table: FileTable, question_ids: Sequence[str]) -> RatedRows:
    """Return labels of `{"dimension", "labelerId", "labels": [{"scenarioId", ...}]}`.

    Lines are positions in the list of labels, continued over several exports in one file. Labels
    of repeated responses are skipped, because they do not count for agreement between raters.

    Raises:
        InputError: If `labels` is not a list.
    """
    records: list[Mapping[str, str | None]] = []
    lines, keys, bad_rows = list[int](), list[str](), list(table.bad_rows)
    columns = {h: column for h, column in table.columns.items() if h not in _READ_OF_SESSION}
    dimensions, raters, rounds = map(table.stripped, ("dimension", "labelerId", "round"))
    spelled = {plain(question): question for question in question_ids}
    n_labels = 0
    for row, (line, labels) in enumerate(zip(table.lines, table.cells("labels"), strict=True)):
        if not isinstance(labels, list):
            message, remedy = "this is not a list of labels", "Export the session again"
            raise input_error(table.file, message, remedy, line=line, column="labels")
        question = spelled.get(plain(dimensions[row] or ""), dimensions[row])
        session = {name: column[row] for name, column in columns.items()}
        common = {"question_id": question, "round": rounds[row]}
        for label_line, label in enumerate(labels, start=n_labels + 1):
            problem = _session_problem(label, question)
            if problem is not None:
                bad_rows.append(InputProblem(table.file, label_line, *problem))
            elif label.get("repeat") is not True:
                key, rating = next(iter(verdicts(label).items()), ("labels", None))
                fields = {**_fields(label), **common, "rating": as_text(rating)}
                fields["rater_id"] = fields["rater_id"] or raters[row]
                fields["details"] = _details({**session, **label})
                records.append(fields)
                lines.append(label_line)
                keys.append(key)
        n_labels += len(labels)
    fields_read = ("response_id", "question_id", *FIELDS)
    of_labels = {name: [record.get(name) for record in records] for name in fields_read}
    rows = replace(FileTable.of(table.file, of_labels, lines), bad_rows=tuple(bad_rows))
    rated = rows_of_table(rows, question_ids)
    headers = {**rated.headers, **_KEYS}
    return replace(rated, headers=headers, rating_headers=FileColumn.of(keys))


def workshop_labels(table: FileTable, question_ids: Sequence[str]) -> RatedRows:
    """Return labels of `{"trace_id", "user_id", "rating", "ratings": {question: value}}`.

    The older single `rating` counts only if there are no `ratings`, and only if the rubric has one
    question, since it does not name its question.
    """
    ratings, single = table.cells("ratings"), table.text("rating")
    rows, bad_rows = list[int](), list(table.bad_rows)
    questions, values, keys = list[str](), list[str | None](), list[str]()
    for row, line in enumerate(table.lines):
        by_question, rating = ratings[row], without_blanks(single[row])
        if by_question and not isinstance(by_question, dict):
            message = f"{quoted(as_text(by_question))} does not give ratings by question"
            remedy = 'Write an object such as {"question": 4}'
            bad_rows.append(InputProblem(table.file, line, "ratings", message, remedy))
        elif by_question:
            rows += [row] * len(by_question)
            questions += [str(name).strip() for name in by_question]
            values += map(as_text, by_question.values())
            keys += [f"ratings.{name}" for name in by_question]
        elif rating is not None and len(question_ids) > 1:
            message = f"the rating names none of the {len(question_ids)} questions of the rubric"
            remedy = 'Write "ratings" by question'
            bad_rows.append(InputProblem(table.file, line, "rating", message, remedy))
        elif rating is not None:
            rows.append(row)
            questions.append(question_ids[0])
            values.append(rating)
            keys.append("rating")
    rated = table.take(np.array(rows, dtype=np.int64))
    rated = rated.with_columns({**rated.columns, "rating": FileColumn.of(values)})
    annotations = rows_of_table(replace(rated, bad_rows=tuple(bad_rows)), question_ids)
    return replace(
        annotations,
        questions=FileColumn.of(questions),
        headers={**annotations.headers, "question_id": "ratings"},
        rating_headers=FileColumn.of(keys),
    )


def _session_problem(label: object, question: str | None) -> tuple[str, str, str] | None:
    """Return the key of what is wrong with a label, a message and a remedy."""
    if not isinstance(label, dict):
        remedy = 'Write an object such as {"scenarioId": "s1", "triggerCorrect": true}'
        return "labels", f"{quoted(as_text(label))} is not a label", remedy
    keys = list(verdicts(label))
    if len(keys) > 1:
        message = f"one label gives both {keys[0]} and {keys[1]}"
        return keys[1], message, "Keep the one that the dimension asks for"
    if keys and question is not None and keys[0] not in _verdicts_of(question):
        message = f"this is not the verdict of {quoted(question)}"
        return keys[0], message, f"Give {' and '.join(_verdicts_of(question)[1:])}"
    if not VERDICTS & label.keys() and not label.get("skipped"):
        for key in label:
            near = get_close_matches(key, VERDICTS, n=1, cutoff=0.75)
            if near:
                return key, "there is no such verdict", f"Write {near[0]}"
    return None


def _verdicts_of(question: str) -> tuple[str, ...]:
    """Return the keys under which a verdict is accepted; any if it is none of the dimensions."""
    verdicts = dimension_of(question).verdicts
    return ("rating", *verdicts) if verdicts != ("rating",) else tuple(VERDICTS)


def _fields(label: Mapping[str, object]) -> dict[str, str | None]:
    keys = {field: key for field, key in _KEYS.items() if field != "question_id"}
    hashes = label.get("hashes")
    values = {field: as_text(label.get(key)) for field, key in keys.items()}
    if values["notes"]:
        values["notes"] = remark_of(values["notes"], is_swapped=label.get("swapped") is True)
    if label.get(_TIME_KNOWN) is False:
        values["labelled_at"] = None
    return {
        **values,
        "guideline_hash": as_text(hashes.get("guidelines")) if isinstance(hashes, dict) else None,
    }


def _details(content: Mapping[str, object]) -> str | None:
    """Return the content of session and label that no other field holds, as JSON."""
    rest = {
        key: value
        for key, value in content.items()
        if key not in _READ_OF_LABEL and value not in (None, "", [], {})
    }
    return json.dumps(rest, ensure_ascii=False, default=str) if rest else None
