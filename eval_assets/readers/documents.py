"""A query and the documents that are rated for it, as given on the command line."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.readers.formats.files import read_text

_LARGEST_ID = 2**63 - 1
_SHAPE = 'Write a list of documents, such as [{"id": 1, "content": "…"}]'
_REMEDIES = {None: _SHAPE, "id": "Give it a whole number", "content": "Give its text"}


@dataclass(frozen=True)
class Document:
    """A document that may answer a query.

    Args:
        id: Its number, unique among the query's documents.
        content: Its text.
    """

    id: int
    content: str


@dataclass(frozen=True)
class DocumentQuery:
    """A query with its documents.

    Args:
        id: Its number, from 1.
        text: The query.
        documents: At least one.
    """

    id: int
    text: str
    documents: tuple[Document, ...]


def read_document_query(query_id: int, query: str, docs: Path) -> DocumentQuery:
    """Return the query, checked with its documents before anything is asked.

    Args:
        query_id: Number of the query.
        query: The query.
        docs: JSON file: a list of objects with `id` and `content`.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong; documents are counted from 1.
    """
    problems: list[InputProblem] = []
    given = _parsed(docs, problems)
    return document_query(query_id, query, given, file=str(docs), problems=problems)


def document_query(
    query_id: int,
    query: str,
    given: object,
    *,
    file: str = "docs",
    problems: Sequence[InputProblem] = (),
) -> DocumentQuery:
    """Return the query, checked with its documents before anything is asked.

    Args:
        query_id: Number of the query.
        query: The query.
        given: The documents as JSON has them: a list of objects with `id` and `content`.
        file: What the documents are called in messages.
        problems: What is already known to be wrong; if anything is, `given` is not looked at.

    Raises:
        ExceptionGroup: Of an InputError for everything that is wrong; documents are counted from 1.
    """
    found: list[InputProblem] = []
    if not 1 <= query_id <= _LARGEST_ID:
        what = f"{query_id} is not a positive integer"
        found.append(InputProblem("--query-id", None, None, what, "Use a number from 1 on"))
    if not query.strip():
        what = "the query is empty"
        found.append(InputProblem("--query", None, None, what, "Write what is searched for"))
    found += problems
    documents = [] if problems else _documents(given, file, found)
    raise_all(found, source=file)
    return DocumentQuery(query_id, query, tuple(documents))


def _parsed(path: Path, problems: list[InputProblem]) -> object:
    """Return what a JSON file holds; note why it cannot be read."""
    file = str(path)
    try:
        return json.loads(read_text(path, file=file))
    except InputError as error:
        problems.append(error.problem)
    except json.JSONDecodeError as error:
        what = f"the file is not JSON ({error.msg})"
        problems.append(InputProblem(file, error.lineno, None, what, _SHAPE))
    except (RecursionError, ValueError):
        what = "the file is nested too deeply, or holds a number too long"
        problems.append(InputProblem(file, None, None, what, _SHAPE))
    return None


def _documents(given: object, file: str, problems: list[InputProblem]) -> list[Document]:
    """Return the documents without fault; note the faults of the others."""
    if not isinstance(given, list) or not given:
        what = "the list is empty" if given == [] else "the file is not a list"
        problems.append(InputProblem(file, None, None, what, _SHAPE))
        return []
    documents = []
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, entry in enumerate(given, start=1):
        faults = list(_faults(entry))
        problems += [InputProblem(file, place, key, what, _REMEDIES[key]) for key, what in faults]
        if not faults:
            documents.append(Document(entry["id"], entry["content"]))
            places[entry["id"]].append(place)
    for number, (first, *others) in places.items():
        for place in others:
            what = f"{number} is also the id of document {first}"
            problems.append(InputProblem(file, place, "id", what, "Give each its own"))
    return documents


def _faults(entry: object) -> Iterator[tuple[str | None, str]]:
    """Yield what is wrong with a document: key and fault."""
    if not isinstance(entry, dict):
        yield None, "this is not an object"
        return
    number, content = entry.get("id"), entry.get("content")
    if "id" not in entry:
        yield "id", "the document has no id"
    elif not isinstance(number, int) or isinstance(number, bool) or abs(number) > _LARGEST_ID:
        yield "id", "the id is not an integer of 64 bits"
    if "content" not in entry:
        yield "content", "the document has no content"
    elif not isinstance(content, str):
        yield "content", "the content is not text"
    elif not content.strip():
        yield "content", "the content is empty"
