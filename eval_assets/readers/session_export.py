"""Exports of labelling sessions: one rater's labels in one dimension."""

from collections.abc import Iterator, Sequence

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers.given_labels import GivenLabel, GivenLabels, Headers, gathered
from eval_assets.readers.table import Table, as_text, without_blanks
from eval_assets.readers.wording import shown

_HEADERS = Headers(response="scenarioId", question="dimension", rater="labelerId", time="timestamp")


def session_labels(table: Table, question_ids: Sequence[str]) -> GivenLabels:
    """Labels of `{"dimension", "labelerId", "labels": [{"scenarioId", ...}]}`, one or several.

    Lines are places in the list of labels; of several exports in one file they are counted on.

    Raises:
        InputError: If `labels` is no list.
    """
    labels: list[GivenLabel] = []
    bad_rows = list(table.bad_rows)
    line = 0
    exports = zip(
        table.lines,
        table.columns["labels"],
        table.stripped("dimension"),
        table.stripped("labelerId"),
        strict=True,
    )
    for place, given, dimension, labeler in exports:
        if not isinstance(given, list):
            what, remedy = "this is no list of labels", "Export the session anew"
            raise InputError(InputProblem(table.file, place, "labels", what, remedy))
        question = _question_of(dimension, question_ids)
        for line, label in enumerate(given, start=line + 1):  # noqa: B020 - counted on
            wrong = _problem(label)
            if wrong is not None:
                bad_rows.append(InputProblem(table.file, line, *wrong))
            else:
                labels.append(_label(line, label, question=question, labeler=labeler))
    return gathered(table.file, _HEADERS, labels, bad_rows)


def _problem(label: object) -> tuple[str, str, str] | None:
    """Column, finding and remedy where it cannot be told what the label says."""
    if not isinstance(label, dict):
        remedy = 'Write an object such as {"scenarioId": "s1", "triggerCorrect": true}'
        return "labels", f"{shown(as_text(label))} is no label", remedy
    headers = [header for header, _ in _verdicts(label)]
    if len(headers) > 1:
        what = f"one label gives both {headers[0]} and {headers[1]}"
        return headers[1], what, "Keep the one that the dimension asks for"
    return None


def _label(
    line: int, label: dict[str, object], *, question: str | None, labeler: str | None
) -> GivenLabel:
    def cell(key: str) -> str | None:
        return without_blanks(as_text(label.get(key)))

    header, rating = next(_verdicts(label), ("labels", None))
    return GivenLabel(
        line=line,
        response=cell("scenarioId"),
        question=question,
        rater=cell("labelerId") or labeler,
        rating=rating,
        rating_header=header,
        labelled_at=cell("timestamp"),
        confidence=cell("confidence"),
        notes=cell("notes"),
        skipped=cell("skipped"),
        skip_reason=cell("skipReason"),
    )


def _verdicts(label: dict[str, object]) -> Iterator[tuple[str, str | None]]:
    """Key and rating of each verdict in the label; code is right only if it parses and runs."""
    for header in ("triggerCorrect", "technicallyCorrect", "completenessScore"):
        if label.get(header) is not None:
            yield header, as_text(label[header])
    code = [as_text(label.get(header)) for header in ("codeParses", "codeRuns")]
    if "false" in code:
        yield "codeRuns", "false"
    elif code != [None, None]:
        both = code == ["true", "true"]
        yield "codeRuns", "true" if both else " and ".join(part or "nothing" for part in code)


def _question_of(dimension: str | None, question_ids: Sequence[str]) -> str | None:
    """The question that a dimension is, hyphens taken for underscores; itself where it is none."""
    if dimension is None or dimension in question_ids:
        return dimension
    plain = dimension.lower().replace("-", "_")
    same = [q for q in question_ids if q.lower().replace("-", "_") == plain]
    return same[0] if same else dimension
