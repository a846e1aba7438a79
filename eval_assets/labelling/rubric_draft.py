"""A proposed wording of a question, from what raters agreed and disagreed on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval_assets.config.rubric import RubricQuestion
from eval_assets.wording import listed, shortened

_MOST_CHARACTERS = 300
_MOST_VALUES = 12
"""Values of a scale up to which each gets an example; of a longer one, those that were given."""


@dataclass(frozen=True)
class RubricExample:
    """A response that shows a value of the scale, or on which raters disagree.

    Args:
        response_id: The response.
        text: What was answered.
        value: The value that it shows; None if raters disagree.
        source: Where that is known from, such as the ratings.
    """

    response_id: str
    text: str
    value: float | None
    source: str


def draft_guidelines(
    question: RubricQuestion,
    anchors: Mapping[float, RubricExample],
    *,
    to_decide: Sequence[str],
    disputed: Sequence[RubricExample],
    wording: str = "",
) -> str:
    """Return guidelines in Markdown, for people to edit before raters see them.

    Args:
        question: The question as it is.
        anchors: An example response for each value that has one.
        to_decide: What raters disagree about, a sentence each.
        disputed: Responses that show it.
        wording: Definitions that a model proposed; empty for the present guidelines.
    """
    return "\n".join(_lines(question, anchors, to_decide, disputed, wording)) + "\n"


def drafting_prompt(question: RubricQuestion, draft: str) -> str:
    """Return the request for definitions of the values, given a draft made from the data."""
    return (
        "Raters disagree on a question. Write a definition of each value of its scale, one line "
        "each, that decides the disputed cases below. Use the examples; add no others. Do not "
        "change the question or its scale. Reply with the definitions alone, as lines "
        f'"- VALUE: definition".\n\nQuestion: {question.question}\n'
        f"Scale: {question.scale.described()}\n\n{draft}"
    )


def _lines(
    question: RubricQuestion,
    anchors: Mapping[float, RubricExample],
    to_decide: Sequence[str],
    disputed: Sequence[RubricExample],
    wording: str,
) -> Iterator[str]:
    yield wording or question.guidelines.strip() or question.question
    yield from ("", "Examples:", "")
    values = question.scale.values
    for value in values if values and len(values) <= _MOST_VALUES else sorted(anchors):
        name = question.scale.shown(value)
        if example := anchors.get(value):
            yield f"- {name}: {_quoted(example)}"
        else:
            yield f"- {name}: TODO no response is known to deserve it; write an example"
    if not to_decide:
        return
    yield from ("", "TODO decide, write it above, and remove this part before raters see it:", "")
    for sentence in to_decide:
        yield f"- {sentence}"
    yield from ("", "Disputed responses:", "")
    for example in disputed:
        yield f"- {_quoted(example)}"


def _quoted(example: RubricExample) -> str:
    text = shortened(" ".join(example.text.split()), most=_MOST_CHARACTERS)
    return f'"{text}" ({example.response_id}; {example.source})'


def ratings_text(ratings: Mapping[str, float], second_ratings: Mapping[str, float]) -> str:
    """Return who gave what, and what after a discussion.

    Examples:
        >>> ratings_text({"anna": 4.0, "ben": 2.0}, {})
        'anna 4 and ben 2'
        >>> ratings_text({"anna": 4.0, "ben": 2.0}, {"ben": 3.0})
        'anna 4 and ben 2; after a discussion ben 3'
    """
    first, second = (
        listed([f"{rater} {value:g}" for rater, value in of.items()])
        for of in (ratings, second_ratings)
    )
    return f"{first}; after a discussion {second}" if second_ratings else first
