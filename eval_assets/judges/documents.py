"""A query and its documents, to be judged for relevance by two judges."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard, cast

from eval_assets.judges.rater import Unit
from eval_assets.records import InputError, InputProblem
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Scale

RELEVANCE = RubricQuestion(
    id="relevance",
    question="How relevant is the document to the query?",
    scale=Scale(low=0.0, high=1.0),
    level="interval",
)
"""The question that the template `relevance` asks."""


@dataclass(frozen=True)
class Document:
    """One document.

    Args:
        id: Its number.
        content: Its text.
    """

    id: int
    content: str


def checked_query(
    query_id: object, query: object, docs: object
) -> tuple[int, str, tuple[Document, ...]]:
    """A query with its documents, as it comes from outside, checked.

    Args:
        query_id: Number of the query, above 0.
        query: Its text, not blank.
        docs: List of mappings with `id` and `content`, not empty.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong.
    """
    problems: list[InputError] = []
    if not _is_whole(query_id) or query_id <= 0:
        problems.append(_problem("query_id", f"{query_id!r} is no positive integer", "Number it"))
    if not isinstance(query, str) or not query.strip():
        problems.append(_problem("query", "the query is empty", "Write what is looked for"))
    if not isinstance(docs, list) or not docs:
        problems.append(_problem("docs", "there are no documents", "Give a list of at least one"))
    documents = []
    for place, doc in enumerate(docs if isinstance(docs, list) else []):
        match doc:
            case {"id": number, "content": str(content)} if _is_whole(number):
                documents.append(Document(number, content))
            case {"id": number} if _is_whole(number):
                remedy = 'Give it a text "content", which may be empty'
                problems.append(_problem(f"docs[{place}]", "there is no content", remedy))
            case _:
                remedy = 'Give it an integer "id"'
                problems.append(_problem(f"docs[{place}]", "there is no id", remedy))
    counts = Counter(document.id for document in documents)
    problems += [
        _problem("docs", f"id {number} is there {n} times", "Give each document its own")
        for number, n in counts.items()
        if n > 1
    ]
    if problems:
        raise ExceptionGroup("the query cannot be judged", problems)
    return cast("int", query_id), cast("str", query), tuple(documents)


def units_of(query_id: int, query: str, documents: Sequence[Document]) -> list[Unit]:
    """The documents as units to judge, named `query_id/document_id`."""
    return [
        Unit(f"{query_id}/{document.id}", RELEVANCE, query, document.content)
        for document in documents
    ]


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _problem(column: str, what: str, remedy: str) -> InputError:
    return InputError(InputProblem("dual-judge", None, column, what, remedy))
