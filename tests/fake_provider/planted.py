"""A judge with a known error, part of which disappears when certain words are in its prompt."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.fake_provider.chance import fraction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.fake_provider.questions import Question

_REASON: Final = "Planted: the score was given beforehand, it is not a judgement."
_ID: Final = re.compile(r"^Id: (.+)$", re.MULTILINE)
_MOST_SOURCES: Final = 2


@dataclass(frozen=True, kw_only=True)
class Planted:
    """Planted answers of a judge to known responses, and its texts about prompts.

    Args:
        scores: Score of each response by its text: with the error, and without it.
        cures: Texts, such as a rule or an example; with one of them in its prompt a judge answers
            without the error. None of them: the error stays.
        verbatim: Whole text of the answer, for a text in the prompt.
        writes: Rules that a writer proposes, one of them for each request.
    """

    scores: Mapping[str, tuple[float, float]]
    cures: tuple[str, ...] = ()
    verbatim: Mapping[str, str] = field(default_factory=dict)
    writes: tuple[str, ...] = field(default=("Rate with care.",))

    @classmethod
    def read(cls, path: Path) -> Planted:
        """Return what a JSON file plants.

        It is an object with `responses`, a list of `text`, `score` and `cured`, and optionally
        `cures` and `writes`, lists of texts.

        Raises:
            ValueError: If the file is no such object.
        """
        try:
            inputs: dict[str, Any] = json.loads(path.read_text("utf-8"))
            scores = {
                str(item["text"]).strip(): (float(item["score"]), float(item["cured"]))
                for item in inputs["responses"]
            }
            lists: dict[str, Any] = {
                name: tuple(map(str, inputs[name]))
                for name in ("cures", "writes")
                if name in inputs
            }
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path.name}: it does not plant scores ({error!r}). Give responses, each with "
                "text, score and cured"
            ) from error
        return cls(scores=scores, **lists)

    def answer(self, question: Question) -> str | None:
        """Return what is answered to a question; None if nothing is planted for it."""
        prompt = question.prompt
        for part, answer in self.verbatim.items():
            if part in prompt:
                return answer
        text = self.writes[int(fraction("writes", prompt) * len(self.writes))]
        if '{"rules":' in prompt:
            sources = _ID.findall(prompt)[:_MOST_SOURCES]
            return json.dumps({"rules": [{"rule": text, "ids": sources}]})
        if question.subject not in self.scores:
            return None
        is_cured = any(cure in prompt for cure in self.cures)
        score = self.scores[question.subject][is_cured]
        whole = int(score) if score.is_integer() else score
        return json.dumps({"rationale": _REASON, "score": whole})
