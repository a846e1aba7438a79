"""Answers to a question: their keys, the same everywhere, and their fields in JSON.

The four dimensions of plugin evaluations have separate fields.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import Scale


@dataclass(frozen=True)
class Dimension:
    """Names of a dimension's label in JSON.

    Args:
        verdicts: Fields of the verdict; each of them must hold for the rating to be 1.
        issues: Field of errors and omissions.
        asks_for: Issues that raters list there.
        asked_of_no: What a rater who says no without listing an issue is asked; empty for nothing.
        is_number: Whether the verdict is a number; otherwise true or false.
        one_issue: Whether there is one issue, a text, and not a list of them.
    """

    verdicts: tuple[str, ...]
    issues: str = "issues"
    asks_for: str = "Issues"
    asked_of_no: str = ""
    is_number: bool = False
    one_issue: bool = False


_ANY = Dimension(verdicts=("rating",), is_number=True)

_DIMENSIONS = {
    "trigger_accuracy": Dimension(
        ("triggerCorrect",),
        "triggerComponentObserved",
        "Component observed",
        "Which component fired?",
        one_issue=True,
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
    """Return the raw ratings in a label's JSON, by their keys.

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

    Of code that is not valid `codeRuns` is false, and `codeParses` is present if the label has it.

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
    verdicts = {_CODE[0]: parses} if dimension is CODE_VALIDITY and parses is not None else {}
    return {**verdicts, dimension.verdicts[-1]: False}


MOST_KEYS = 9
"""Values that digits can stand for; longer scales take a typed number."""

_LARGEST_DIGIT = 9
_COMPARISON_KEYS = {2: "ab", 3: "aeb"}


@dataclass(frozen=True)
class Choice:
    """One value of a scale and the key that gives it.

    `parses` is whether code that does not run parses; None for other choices.
    """

    key: str
    value: float
    name: str
    parses: bool | None = None


def choices_of(scale: Scale) -> tuple[Choice, ...]:
    """Return a choice for each value of the scale; empty if the value has to be typed.

    Binary questions take Y and N, scales of single digits the digit itself, other short scales
    the place of the value.

    Examples:
        >>> from eval_assets.scale import BINARY
        >>> [(choice.key, choice.value) for choice in choices_of(BINARY)]
        [('y', 1.0), ('n', 0.0)]
        >>> [(choice.key, choice.name) for choice in choices_of(Scale(0.0, 1.0, (0.0, 0.5, 1.0)))]
        [('1', '0'), ('2', '0.5'), ('3', '1')]
        >>> [(choice.key, choice.name) for choice in choices_of(Scale.from_words("bad", "good"))]
        [('0', 'bad'), ('1', 'good')]
        >>> choices_of(Scale(low=0, high=1))
        ()
    """
    if scale.is_binary and scale.words is None:
        return Choice("y", 1.0, "Yes"), Choice("n", 0.0, "No")
    if scale.values is None:
        return ()
    names = scale.words or tuple(f"{value:g}" for value in scale.values)
    if all(value.is_integer() and 0 <= value <= _LARGEST_DIGIT for value in scale.values):
        keys = [f"{value:g}" for value in scale.values]
    elif len(scale.values) <= MOST_KEYS:
        keys = [str(number) for number in range(1, len(scale.values) + 1)]
    else:
        return ()
    return tuple(map(Choice, keys, scale.values, names))


def question_choices(question: RubricQuestion) -> tuple[Choice, ...]:
    """Return the choices of a question: of code that is not valid, two with the same value.

    Comparisons take A and B, and E between them.

    Examples:
        >>> from eval_assets.scale import BINARY
        >>> question = RubricQuestion("code-validity", "Is the code valid?", BINARY, "nominal")
        >>> [(choice.key, choice.value, choice.name) for choice in question_choices(question)]
        [('y', 1.0, 'Yes'), ('p', 0.0, 'Parses, does not run'), ('n', 0.0, 'Does not parse')]
        >>> scale = Scale.from_words("A is better", "no difference", "B is better")
        >>> question = RubricQuestion("q", "Which is better?", scale, "ordinal", type="pairwise")
        >>> [choice.key for choice in question_choices(question)]
        ['a', 'e', 'b']
    """
    choices = choices_of(question.scale)
    keys = _COMPARISON_KEYS.get(len(choices)) if question.type == "pairwise" else None
    if keys:
        return tuple(replace(choice, key=key) for choice, key in zip(choices, keys, strict=True))
    if dimension_of(question.id) is not CODE_VALIDITY or [c.key for c in choices] != ["y", "n"]:
        return choices
    return (
        choices[0],
        Choice("p", 0.0, "Parses, does not run", parses=True),
        Choice("n", 0.0, "Does not parse", parses=False),
    )


def answer_name(rating: float, question: RubricQuestion, *, parses: bool | None) -> str:
    """Return the name of the choice with that value, and of code with that verdict on parsing."""
    names = {(choice.value, choice.parses): choice.name for choice in question_choices(question)}
    return names.get((rating, parses)) or value_name(rating, question.scale)


_ANCHOR = re.compile(r"\s*(?:[-*|] *)?\**([^\s:=|*]+)\**\s*(?:[:=|]\s*|[-\u2013\u2014]\s+|\s)(.+)")
"""A line of guidelines that says what a value means: the value, then the text."""


def anchors_of(scale: Scale, guidelines: str) -> dict[float, str]:
    r"""Return the meaning of each value, from lines of the guidelines that begin with it.

    Empty if not every value has exactly one line: then numbers stand at the beginning of lines
    for another reason.

    Examples:
        >>> scale = Scale.from_steps(low=1, high=3)
        >>> anchors_of(scale, "3  Good: all is there.\n2: Gaps.\n1 - Nothing.\n\nList gaps.")
        {3.0: 'Good: all is there.', 2.0: 'Gaps.', 1.0: 'Nothing.'}
        >>> anchors_of(scale, "1 look at the code. 2 run it.")
        {}
    """
    names = {choice.name.casefold(): choice.value for choice in choices_of(scale)}
    matches = [match for line in guidelines.splitlines() if (match := _ANCHOR.fullmatch(line))]
    anchors = [
        (names[m[1].casefold()], m[2].strip(" |")) for m in matches if m[1].casefold() in names
    ]
    return dict(anchors) if len(anchors) == len(names) == len(dict(anchors)) else {}


def value_name(value: float, scale: Scale) -> str:
    """Return the name of a value of the scale.

    Examples:
        >>> from eval_assets.scale import BINARY
        >>> value_name(1, BINARY), value_name(0.5, Scale(low=0, high=1))
        ('Yes', '0.5')
    """
    names = {choice.value: choice.name for choice in choices_of(scale)}
    return names.get(value, f"{value:g}")


def parse_typed(text: str, scale: Scale) -> float:
    """Return the value that a rater typed; a decimal comma is read as a point.

    Raises:
        ValueError: If it is not a number on the scale.

    Examples:
        >>> parse_typed("0,25", Scale(low=0, high=1))
        0.25
    """
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None
    if not scale.contains(value):
        raise ValueError(f"{value:g} is not on the scale. Use {scale.described()}")
    return value
