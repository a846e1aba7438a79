"""The keys with which a question is answered: the same in terminal, browser and offline pages."""

import re
from dataclasses import dataclass, replace

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.dimensions import CODE_VALIDITY, dimension_of
from eval_assets.scale import Scale

MOST_KEYS = 9
"""Values that digits can stand for; longer scales take a typed number."""

_LARGEST_DIGIT = 9
_COMPARISON_KEYS = {2: "ab", 3: "aeb"}


@dataclass(frozen=True)
class Choice:
    """One value of a scale and the key that gives it.

    `parses` says of code that does not run whether it parses; None for other choices.
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
    r"""Return what each value of the scale means, from lines of the guidelines that begin with it.

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
    """Return the value that a rater typed; a decimal comma is taken for a point.

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
