"""The parts of a response that raters see, and the codes that stand for it."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import SESSIONS
from eval_assets.config.rubric import PAIR_COLUMNS, RubricQuestion
from eval_assets.errors import InputProblem, raise_all
from eval_assets.labelling.durable import locked, replace_file
from eval_assets.labelling.sessions import TextHashes

_KEY_FILE = ".key"

_LENGTH = 12
"""Digits of a code: no two of a million responses share one, in all likelihood."""


class KeyedCodes:
    """Codes of an evaluation folder, made with a key file in its folder of sessions.

    Nobody can compute the code of an id that they guess. Without the key file, the links of a
    study and the codes in its sheets are void.
    """

    def __init__(self, folder: Path | None) -> None:
        """Make nothing yet; the first code makes the key, which is not stored without a folder."""
        self._sessions = None if folder is None else folder / SESSIONS

    def of(self, *parts: str | None) -> str:
        """Return the code of some texts; its letter keeps spreadsheets from reading a number."""
        return f"r{self.secret(*parts)[:_LENGTH]}"

    def of_model(self, indicator_id: str | None, convo_id: str | None, model: str | None) -> str:
        """Return the code of a model, which differs in each conversation."""
        return f"m{self.secret('model', indicator_id, convo_id, model)[:_LENGTH]}"

    def secret(self, *parts: str | None) -> str:
        """Return the secret text of a purpose."""
        text = "\x1f".join(part or "" for part in parts)
        return hmac.digest(self._key, text.encode(), "sha256").hex()[:32]

    @property
    def is_used(self) -> bool:
        """Whether there is a key, and may be codes."""
        return self._sessions is not None and (self._sessions / _KEY_FILE).exists()

    @cached_property
    def _key(self) -> bytes:
        if self._sessions is None:
            return secrets.token_bytes(32)
        path = self._sessions / _KEY_FILE
        with locked(self._sessions):
            if not path.exists():
                replace_file(self._sessions / ".gitignore", f"{_KEY_FILE}\n".encode())
                replace_file(path, secrets.token_hex(32).encode(), mode=0o600)
            return path.read_bytes()


UNSTORED = KeyedCodes(None)
"""Codes that last as long as the process."""


@lru_cache(maxsize=8)
def keyed_codes(folder: Path) -> KeyedCodes:
    """Return the codes of an evaluation folder, whose key is read once in a process."""
    return KeyedCodes(folder)


_BRIEF = 40
"""Characters that a column may have in a title."""

CONVERSATION = ["indicator_id", "convo_id", "model_name", "seed"]
"""Columns that name the conversation of a response."""


@dataclass(frozen=True)
class EarlierTurn:
    """An earlier exchange of the conversation that a response belongs to."""

    prompt: str
    response: str


@dataclass(frozen=True)
class ResponseView:
    """A response as raters see it, without data of judges or other raters.

    Args:
        response_id: The response; identifies it and is not shown, since it may name the model.
        questions: Rubric questions about it, in the rubric's order.
        run_id: Run that it comes from; None if the evaluation has no runs.
        earlier: The turns before, oldest first.
        facts: Columns that the evaluation shows, each with one text or with several lines.
        brief: Those of them that are short in every response, and stand in its title.
        pair: The two responses to compare; None if there is one.
        codes: Makes the code that stands for it before raters.
    """

    response_id: str
    prompt: str
    response: str
    questions: tuple[RubricQuestion, ...] = ()
    run_id: str | None = None
    earlier: tuple[EarlierTurn, ...] = ()
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    brief: frozenset[str] = frozenset()
    pair: tuple[str, str] | None = None
    codes: KeyedCodes = field(default=UNSTORED, compare=False)

    def hashes(self, question: RubricQuestion) -> TextHashes:
        """Return hashes of the prompt with the turns before it, the response and the question."""
        prompt, response = self._text_hashes
        return TextHashes(prompt=prompt, response=response, guidelines=guideline_hash(question))

    @cached_property
    def _text_hashes(self) -> tuple[str, str]:
        texts = [*((turn.prompt, turn.response) for turn in self.earlier), self.prompt]
        return _hash(texts), _hash([self.response, *self.pair] if self.pair else self.response)

    @property
    def is_pair(self) -> bool:
        """Whether all questions about the response are comparisons."""
        return {question.type for question in self.questions} == {"pairwise"}


def guideline_hash(question: RubricQuestion) -> str:
    """Return a hash of question, guidelines and scale.

    Examples:
        >>> from eval_assets.config.rubric import RubricQuestion
        >>> from eval_assets.scale import BINARY
        >>> one = RubricQuestion("q", "Is it right?", BINARY, "nominal")
        >>> other = RubricQuestion("q", "Is it right?", BINARY, "nominal", "1 yes, 0 no")
        >>> guideline_hash(one) == guideline_hash(other), len(guideline_hash(one))
        (False, 12)
    """
    return _hash([question.question, question.guidelines, question.scale.described()])


def response_views(evaluation: Evaluation, responses: pd.DataFrame) -> dict[str, ResponseView]:
    """Return the rater's view of each response, by its id.

    Raises:
        ExceptionGroup: Of an InputError for each column named that no response has.
    """
    labelling = evaluation.labelling
    rows = response_records(responses)
    _check_columns(rows, evaluation)
    earlier = _earlier_turns(responses)
    columns = ("indicator_id", *evaluation.filter_columns)

    @cache
    def questions_of(*cells: str | None) -> tuple[RubricQuestion, ...]:
        return evaluation.asked(dict(zip(columns, cells, strict=True)))

    codes = keyed_codes(evaluation.folder)
    brief = frozenset(
        column
        for column in labelling.show
        if all(_is_brief(cell_lines(row[column])) for row in rows if _is_shown(row, column))
    )
    questions_by_response = {
        row["response_id"]: questions_of(*(_cell(row.get(column)) for column in columns))
        for row in rows
    }
    return {
        row["response_id"]: ResponseView(
            response_id=row["response_id"],
            prompt="" if "prompt_text" in labelling.hide else row["prompt_text"] or "",
            response=row["response_text"] or "",
            codes=codes,
            pair=_pair(row, questions_by_response[row["response_id"]]),
            questions=questions_by_response[row["response_id"]],
            run_id=_cell(row.get(labelling.run_column)),
            earlier=earlier.get(row["response_id"], ()),
            facts=tuple(
                (column, cell_lines(row[column]))
                for column in labelling.show
                if _is_shown(row, column)
            ),
            brief=brief,
        )
        for row in rows
    }


def _is_shown(row: Mapping[str, Any], column: str) -> bool:
    return row.get(column) not in (None, "", [])


def _is_brief(lines: tuple[str, ...]) -> bool:
    return len(lines) == 1 and len(lines[0]) <= _BRIEF and "\n" not in lines[0]


def _pair(row: Mapping[str, Any], questions: Iterable[RubricQuestion]) -> tuple[str, str] | None:
    if not any(question.type == "pairwise" for question in questions):
        return None
    first, second = (_text(row.get(column) or "") for column in PAIR_COLUMNS)
    return first, second


def response_records(responses: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the responses as records, whose attributes are keys beside the columns."""
    records = responses.astype(object).where(responses.notna(), None).to_dict("records")
    return [{**json.loads(row.pop("attributes") or "{}"), **row} for row in records]


def _check_columns(rows: Iterable[Mapping[str, Any]], evaluation: Evaluation) -> None:
    labelling = evaluation.labelling
    is_pairwise = any(question.type == "pairwise" for question in evaluation.rubric)
    keys = {
        "labelling.show": labelling.show,
        "labelling.hide": labelling.hide,
        "rubric": PAIR_COLUMNS if is_pairwise else (),
    }
    if not any(keys.values()):
        return
    columns = {column for row in rows for column in row}
    remedy = f"Use columns of the responses: {', '.join(sorted(columns))}"
    raise_all(
        [
            InputProblem(
                "evaluation.yaml", None, key, f'the responses have no column "{column}"', remedy
            )
            for key, named in keys.items()
            for column in named
            if columns and column not in columns
        ],
        source="evaluation.yaml",
    )


def _earlier_turns(responses: pd.DataFrame) -> dict[str, tuple[EarlierTurn, ...]]:
    """Return the turns before each response in its own conversation, by response id."""
    turns = responses[responses["convo_id"].notna() & responses["turn_index"].notna()]
    earlier: dict[str, tuple[EarlierTurn, ...]] = {}
    for _, conversation in turns.groupby(CONVERSATION, dropna=False, sort=False):
        before: tuple[EarlierTurn, ...] = ()
        in_order = conversation.sort_values("turn_index", kind="stable")
        for response_id, prompt, response in zip(
            in_order["response_id"], in_order["prompt_text"], in_order["response_text"], strict=True
        ):
            earlier[response_id] = before
            before = (*before, EarlierTurn(prompt or "", response or ""))
    return earlier


def cell_lines(value: object) -> tuple[str, ...]:
    """Return a cell as lines of text; a list, also one written as JSON, has a line for each entry.

    Examples:
        >>> cell_lines('["Skill: lint", "Read: app.py"]')
        ('Skill: lint', 'Read: app.py')
    """
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return (_text(value),)
    if isinstance(value, list):
        return tuple(_text(entry) for entry in value)
    return (_text(value),)


def _cell(value: object) -> str | None:
    return None if value in (None, "") else _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]
