"""The judges' prompt: identical for every judge, and safe against instructions in its material."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from eval_assets.config.evaluation import SHIPPED_PROMPTS
from eval_assets.config.judges import ReplyForm
from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import PromptError
from eval_assets.judges.calling.requests import Message
from eval_assets.scale import Scale
from eval_assets.tuning.tuned_prompts import shown_columns

DEFAULT_TEMPLATE, RELEVANCE_TEMPLATE, NUMBER_TEMPLATE = SHIPPED_PROMPTS
_MARK_LENGTH = 16
_NO_MARK = re.compile(r"[^\w-]+")
_RESPONSE = re.compile(r"\{\{ response(?:\.named\([^)]*\))? \}\}")
_FAULTS = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors that an expression in a template may raise, such as `{{ 1 / 0 }}`."""


@dataclass(frozen=True)
class Material:
    """A text to be rated, which must not pass for instructions.

    It is printed between two marks with a fingerprint of the text. A text cannot contain its own
    fingerprint, so nothing in it can end it. Unlike a random mark, the fingerprint is the same in
    every run, so that a request is found again in the ledger.

    Examples:
        >>> print(Material("Yes.", name="response"))
        <response-5f9a2b795615ba6a>
        Yes.
        </response-5f9a2b795615ba6a>
    """

    text: str
    name: str

    def named(self, name: str) -> "Material":
        """Return the same text between marks of another name."""
        return Material(self.text, name)

    def __str__(self) -> str:
        mark = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
        return f"<{self.name}-{mark}>\n{self.text}\n</{self.name}-{mark}>"


class _ShownColumns:
    """Columns of a response by name, each a Material; a column without a value is empty."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __getitem__(self, column: str) -> Material:
        """Return the text of a column."""
        return Material(self._texts.get(column, ""), _NO_MARK.sub("-", column))


class PromptTemplate:
    """A template of the judges' prompt, and `columns` of the responses that it shows.

    Args:
        source: Text of the template, with a block `user` and optionally a block `system`.
        form: Form of the reply that it asks for.
        wordings: Questions as judges are asked them, by id, where another wording is declared now.

    Raises:
        PromptError: If it is not a template, lacks block `user`, does not show the response, or
            uses names that do not exist.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str,
        form: ReplyForm = "json",
        wordings: Mapping[str, RubricQuestion] = MappingProxyType({}),
    ) -> None:
        self.source = source
        self.wordings = wordings
        self.form = form
        self.name = name
        self.columns = shown_columns(source)
        # Sandboxed, because a template comes with data; strict, because a hole in a prompt would
        # cost the whole run and show in no reply. The prompt is text, so nothing is escaped.
        environment = ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            keep_trailing_newline=False,
        )
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise PromptError(f"{name}:{error.lineno}: {error.message}. Fix it.") from error
        if "user" not in self._template.blocks:
            raise PromptError(
                f"{name}: there is no block `user`. Put what each unit is shown between "
                "{% block user %} and {% endblock %}."
            )
        first, second = (
            self.render(_TRIAL_QUESTION, prompt_text="?", response_text=text) for text in "ab"
        )
        if first == second:
            raise PromptError(
                f"{name}: judges would not see the response. Put {{{{ response }}}} into block "
                "`user`."
            )

    @classmethod
    def load(cls, path: Path | None, *, columns: Sequence[str] = ()) -> "PromptTemplate":
        """Return the template of a file, or one that ships: the default for None, others by name.

        One that ships shows the columns of the responses as well.

        Raises:
            PromptError: If it cannot be read or used.
        """
        if path is None or is_shipped(path):
            name = f"{path.name if path else DEFAULT_TEMPLATE}.jinja"
            form: ReplyForm = "number" if name.startswith(NUMBER_TEMPLATE) else "json"
            templates = resources.files("eval_assets.judges.prompts").joinpath("templates")
            source = templates.joinpath(name).read_text("utf-8")
            return cls(_with_columns(source, columns), name=name, form=form)
        try:
            return cls(path.read_text("utf-8"), name=str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(f"{path}: cannot be read ({error}). Fix judge_prompt.") from error

    def render(
        self,
        question: RubricQuestion,
        *,
        prompt_text: str,
        response_text: str,
        history: Sequence[tuple[str, str]] = (),
        shown: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[Message, ...]:
        """Return the messages about one unit: the system message, if any, and the user's.

        `history` contains prompt and response of each turn before, oldest first; `shown` the texts
        of the columns.

        Raises:
            PromptError: If the template cannot be rendered.
        """
        question = self.wordings.get(question.id, question)
        names = {
            "question": question,
            "scale": in_words(question.scale),
            "low": question.scale.low,
            "high": question.scale.high,
            "prompt": Material(prompt_text, name="prompt"),
            "query": Material(prompt_text, name="query"),
            "response": Material(response_text, name="response"),
            "history": "\n\n".join(
                f"{Material(prompt, 'earlier-prompt')}\n\n{Material(text, 'earlier-response')}"
                for prompt, text in history
            ),
            "shown": _ShownColumns(shown),
        }
        try:
            system, user = self._block("system", names), self._block("user", names)
        except _FAULTS as error:
            raise PromptError(f"{self.name}: {error}. Fix the template.") from error
        messages = (Message("system", system), Message("user", user))
        return messages if system else messages[1:]

    def _block(self, block: str, names: dict[str, Any]) -> str:
        if block not in self._template.blocks:
            return ""
        context = self._template.new_context(names)
        return "".join(self._template.blocks[block](context)).strip()


def is_shipped(path: Path | None) -> bool:
    """Return whether `judge_prompt` names a template that ships, as it does by default."""
    return path is None or (path.name in SHIPPED_PROMPTS and not path.exists())


def _with_columns(source: str, columns: Sequence[str]) -> str:
    """Return a template that ships with columns behind the response; unchanged without any."""
    if not columns:
        return source
    parts = [
        f"{{% if shown[{name}].text %}}\n\n{{{{ shown[{name}] }}}}{{% endif %}}"
        for name in map(repr, columns)
    ]
    addition = f"\n\nWhat raters are told about it:{''.join(parts)}"
    return _RESPONSE.sub(lambda response: response[0] + addition, source, count=1)


def in_words(scale: Scale) -> str:
    """Return the possible scores in words for a judge."""
    if scale.values is None:
        return scale.described()
    return "one of " + ", ".join(f"{value:g}" for value in scale.values)


def stricter_request(scale: Scale, *, form: ReplyForm) -> str:
    """Return the addition to a prompt after a reply that could not be read."""
    if form == "number":
        return (
            "\n\nYour last reply could not be read as a rating. Reply with the number alone, no"
            f" other text before or after it. The number is {in_words(scale)}."
        )
    return (
        "\n\nYour last reply could not be read as a rating. Reply with the JSON object alone, no"
        ' other text before or after it: {"rationale": "your reasons", "score": a number}.'
        f" The score is {in_words(scale)}."
    )


def verdict_schema(scale: Scale) -> dict[str, Any]:
    """Return the JSON schema of a rating: reasons first, so that the score follows from them.

    Examples:
        >>> verdict_schema(Scale.from_steps(low=1, high=3))["properties"]["score"]
        {'type': 'number', 'enum': [1, 2, 3]}
    """
    score: dict[str, Any] = {"type": "number"}
    if scale.values is None:
        # Described too, because not every vendor takes the bounds.
        described = f"A number from {scale.low:g} to {scale.high:g}"
        score |= {"description": described, "minimum": scale.low, "maximum": scale.high}
    else:
        score |= {"enum": [int(v) if float(v).is_integer() else v for v in scale.values]}
    return {
        "type": "object",
        "properties": {"rationale": {"type": "string"}, "score": score},
        "required": ["rationale", "score"],
        "additionalProperties": False,
    }


_TRIAL_QUESTION = RubricQuestion(
    id="trial", question="?", scale=Scale(low=0, high=1), level="interval", guidelines="?"
)
"""A unit for a trial of a template before anything is spent."""
