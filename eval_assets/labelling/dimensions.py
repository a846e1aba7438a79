"""The four dimensions of plugin evaluations, whose labels have fields of their own in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dimension:
    """Names of a dimension's label in JSON.

    Args:
        verdicts: Fields of the verdict; each of them must hold for the rating to be 1.
        issues: Field of what is wrong or missing.
        asks_for: What raters are asked to list there.
        is_number: Whether the verdict is a number; otherwise true or false.
        one_issue: Whether there is one issue, a text, and not a list of them.
    """

    verdicts: tuple[str, ...]
    issues: str = "issues"
    asks_for: str = "Issues"
    is_number: bool = False
    one_issue: bool = False


_ANY = Dimension(verdicts=("rating",), is_number=True)

_DIMENSIONS = {
    "trigger_accuracy": Dimension(
        ("triggerCorrect",), "triggerComponentObserved", "Component observed", one_issue=True
    ),
    "code_validity": Dimension(("codeParses", "codeRuns"), "codeIssues", "Issues of the code"),
    "technical_accuracy": Dimension(("technicallyCorrect",), "inaccuracies", "Inaccuracies"),
    "completeness": Dimension(
        ("completenessScore",), "missingElements", "Missing elements", is_number=True
    ),
}

CODE_VALIDITY = _DIMENSIONS["code_validity"]

_CODE = CODE_VALIDITY.verdicts
_YES_NO = {0.0, 1.0, None}

_VERDICTS_IN_ORDER = tuple(
    dict.fromkeys(key for of in (_ANY, *_DIMENSIONS.values()) for key in of.verdicts)
)
VERDICTS = frozenset(_VERDICTS_IN_ORDER)
"""Keys of ratings in the JSON of labels, of whichever dimension."""


def dimension_of(question_id: str) -> Dimension:
    """Return the dimension that a question is, hyphens taken for underscores; else a general one.

    Examples:
        >>> dimension_of("trigger-accuracy").verdicts, dimension_of("clarity").verdicts
        (('triggerCorrect',), ('rating',))
    """
    return _DIMENSIONS.get(question_id.lower().replace("-", "_"), _ANY)


def verdicts(label: Mapping[str, Any]) -> dict[str, object]:
    """Return the ratings in a label's JSON, as they are, by their keys.

    Code is valid if it parses and runs. It is unrated while one of the two is unknown, unless the
    other is false.

    Examples:
        >>> verdicts({"triggerCorrect": True}), verdicts({"codeParses": True, "codeRuns": False})
        ({'triggerCorrect': True}, {'codeRuns': False})
        >>> verdicts({"codeParses": True}), verdicts({"skipped": True})
        ({'codeRuns': None}, {})
    """
    ratings = {
        key: label[key]
        for key in _VERDICTS_IN_ORDER
        if key in label and key not in _CODE and label[key] is not None
    }
    if _CODE[0] not in label and _CODE[1] not in label:
        return ratings
    code = [label[key] for key in _CODE if label.get(key) is not None]
    unclear = [value for value in code if value not in ("true", True)]
    if any(value is False or value == "false" for value in code):
        ratings["codeRuns"] = False
    elif code:
        is_complete = len(code) == len(_CODE)
        ratings["codeRuns"] = unclear[0] if unclear else True if is_complete else None
    return ratings


def with_fields(label: Mapping[str, Any], question_id: str) -> dict[str, Any]:
    """Return a label's JSON with its rating and issues under the names of the dimension.

    Of code that is not valid `codeRuns` is false, and `codeParses` is there if the label says it.

    Examples:
        >>> label = {"scenarioId": "s1", "rating": 1.0, "issues": []}
        >>> with_fields(label, "code_validity")
        {'scenarioId': 's1', 'codeParses': True, 'codeRuns': True, 'codeIssues': []}
        >>> fails = {"scenarioId": "s2", "rating": 0.0, "issues": [], "parses": True}
        >>> with_fields(fails, "code_validity")
        {'scenarioId': 's2', 'codeParses': True, 'codeRuns': False, 'codeIssues': []}
        >>> with_fields(label, "clarity")
        {'scenarioId': 's1', 'rating': 1, 'issues': []}
    """
    dimension = dimension_of(question_id)
    rating, issues = label["rating"], label["issues"]
    if not dimension.is_number and rating not in _YES_NO:
        dimension = _ANY
    fields: dict[str, Any] = {}
    for key, value in label.items():
        if key == "rating":
            fields |= _verdicts(dimension, rating, parses=label.get("parses"))
        elif key == "parses" and dimension is CODE_VALIDITY:
            continue
        elif key == "issues":
            fields[dimension.issues] = "; ".join(issues) or None if dimension.one_issue else issues
        elif key == "history":
            fields[key] = [with_fields(event, question_id) for event in value]
        else:
            fields[key] = value
    return fields


def without_fields(label: Mapping[str, Any], question_id: str) -> dict[str, Any]:
    """Return a label's JSON with `rating` and `issues` again: the reverse of `with_fields`."""
    plain = dict(label)
    dimension = dimension_of(question_id)
    key, rating = next(iter(verdicts(label).items()), ("", None))
    is_verdict = key != "rating"
    plain["rating"] = float(rating) if is_verdict and isinstance(rating, bool) else rating
    if dimension is CODE_VALIDITY and plain["rating"] == 0:
        plain["parses"] = label.get(_CODE[0])
    for key in _VERDICTS_IN_ORDER:
        if key != "rating" and key in plain:
            del plain[key]
    if dimension.issues in plain:
        issues = plain.pop(dimension.issues)
        if dimension.one_issue:
            issues = issues.split("; ") if issues else []
        plain["issues"] = issues
    if "history" in plain:
        plain["history"] = [without_fields(event, question_id) for event in plain["history"]]
    return plain


def _verdicts(
    dimension: Dimension, rating: float | None, *, parses: bool | None
) -> dict[str, float | bool | None]:
    if rating is None:
        return dict.fromkeys(dimension.verdicts)
    if dimension.is_number:
        return dict.fromkeys(dimension.verdicts, int(rating) if rating.is_integer() else rating)
    if rating:
        return dict.fromkeys(dimension.verdicts, True)
    known = {_CODE[0]: parses} if dimension is CODE_VALIDITY and parses is not None else {}
    return {**known, dimension.verdicts[-1]: False}
