"""A query and the documents that are rated for it, from the command line or a client."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from eval_assets.config.types import Text
from eval_assets.errors import InputProblem, gathered, raise_all
from eval_assets.readers.formats.contents import content_of
from eval_assets.readers.problems import input_error

_LARGEST_ID = 2**63 - 1
_SHAPE = 'Write a list of documents, such as [{"id": 1, "content": "…"}]'
_QUERIES_SHAPE = (
    'Write a list of queries, such as [{"id": 1, "query": "…", '
    '"docs": [{"id": 1, "content": "…"}]}]'
)
_FAULTS = {
    None: ("this is not an object", _SHAPE),
    "id": ("the id is not an integer of 64 bits", "Give it a whole number"),
    "content": ("the content is empty", "Give its text"),
    "relevant": ("this is neither true nor false", "Write true or false"),
}
"""What is wrong with a part of a document, and the remedy."""

_MESSAGES = {"missing": "the document has no {}", "string_type": "the {} is not text"}
"""What is wrong with any part, by pydantic's type of error."""


@dataclass(frozen=True)
class Document:
    """A document that may answer a query."""

    id: Annotated[int, Field(strict=True, ge=-_LARGEST_ID, le=_LARGEST_ID)]
    content: Text
    relevant: Annotated[bool | None, Field(strict=True)] = None


@dataclass(frozen=True)
class DocumentQuery:
    """A query with its number, from 1, and at least one document."""

    id: int
    text: str
    documents: tuple[Document, ...]


def read_document_queries(path: Path) -> tuple[tuple[DocumentQuery, ...], tuple[InputProblem, ...]]:
    """Return the queries of a JSON list with `id`, `query` and `docs`, and what is wrong.

    Documents and queries with a problem are left out, so that they hold back no others.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong, if no query is left.
    """
    file = str(path)
    problems: list[InputProblem] = []
    entries: list[object] = []
    with gathered(problems):
        entries = _listed(content_of(path, file=file).document, file, _QUERIES_SHAPE)
    queries: dict[int, DocumentQuery] = {}
    for position, entry in enumerate(entries, start=1):
        match entry:
            case {"id": int(number), "query": str(text), "docs": documents}:
                location, faults = f"{file}:{position}", list[InputProblem]()
                _check_query(number, text, (location, location), faults)
                if number in queries:
                    message = f"{number} is the id of an earlier query"
                    faults.append(InputProblem(file, position, "id", message, "Give each its own"))
                problems += faults
                listed: list[Document] = []
                with gathered(problems):
                    listed = _documents(documents, f"{location}:docs", problems)
                if listed and not faults:
                    queries[number] = DocumentQuery(number, text, tuple(listed))
            case _:
                message = "this has no whole number as `id`, no text as `query`, or no `docs`"
                problems.append(InputProblem(file, position, None, message, _QUERIES_SHAPE))
    if not queries:
        raise_all(problems, source=file)
    return tuple(queries.values()), tuple(problems)


def document_query(query_id: int, text: str, docs: object) -> DocumentQuery:
    """Return the query with documents from JSON, or a JSON file: objects with `id` and `content`.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong; documents are counted from 1.
    """
    names = "query_id", "query", "docs"
    if isinstance(docs, Path):
        names = "--query-id", "--query", str(docs)
    problems: list[InputProblem] = []
    _check_query(query_id, text, names[:2], problems)
    documents: list[Document] = []
    with gathered(problems):
        entries = content_of(docs, file=names[2]).document if isinstance(docs, Path) else docs
        documents = _documents(entries, names[2], problems)
    raise_all(problems, source=names[2])
    return DocumentQuery(query_id, text, tuple(documents))


def _check_query(
    query_id: int, text: str, names: tuple[str, str], problems: list[InputProblem]
) -> None:
    """Add the problems of a query's number and text, under their names."""
    if not 1 <= query_id <= _LARGEST_ID:
        message, remedy = f"{query_id} is not a positive integer", "Use a number from 1 on"
        problems.append(InputProblem(names[0], None, None, message, remedy))
    if not text.strip():
        message, remedy = "the query is empty", "Write what is searched for"
        problems.append(InputProblem(names[1], None, None, message, remedy))


def _listed(entries: object, file: str, remedy: str) -> list[object]:
    if isinstance(entries, list) and entries:
        return entries
    message = "the list is empty" if entries == [] else "the file is not a list"
    raise input_error(file, message, remedy)


def _documents(entries: object, file: str, problems: list[InputProblem]) -> list[Document]:
    adapter = TypeAdapter(Document)
    documents: dict[int, Document] = {}
    for position, entry in enumerate(_listed(entries, file, _SHAPE), start=1):
        try:
            documents[position] = adapter.validate_python(entry)
        except ValidationError as error:
            for details in error.errors():
                key = str(details["loc"][0]) if details["loc"] else None
                message, remedy = _FAULTS[key]
                message = _MESSAGES.get(details["type"], message).format(key)
                problems.append(InputProblem(file, position, key, message, remedy))
    first: dict[int, int] = {}
    for position, document in documents.items():
        if first.setdefault(document.id, position) != position:
            message = f"{document.id} is also the id of document {first[document.id]}"
            problems.append(InputProblem(file, position, "id", message, "Give each its own"))
    return [documents[position] for position in first.values()]
