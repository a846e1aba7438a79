"""All that labelling an evaluation needs: raters, their work, and where their labels go."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling._durable import locked, replace_file
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, work_of
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.session_files import SessionFolder

_KEY_FILE = ".key"

_MOST_CHARACTERS = 240
"""Length of a session's name. File systems take names of 255 bytes, endings included."""


@dataclass(frozen=True)
class Study:
    """An evaluation whose responses people label.

    Without assignments every rater labels everything, except what a judge is certified to score.

    Args:
        evaluation: The evaluation.
        responses: What raters see of each response.
        assignments: Who labels what; None if nobody was assigned anything.
        covered: Responses that a certified judge scores, by question with a certified part.
    """

    evaluation: Evaluation
    responses: Mapping[str, ResponseView]
    assignments: Sequence[Assignment] | None = None
    covered: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters declared, else those with assignments."""
        assigned = (assignment.rater_id for assignment in self.assignments or ())
        return self.evaluation.labelling.raters or tuple(dict.fromkeys(assigned))

    @cached_property
    def sessions(self) -> SessionFolder:
        """Return the store of the labelling sessions."""
        return SessionFolder(self.evaluation.folder)

    @cached_property
    def queues(self) -> dict[str, RaterQueue]:
        """The work of each rater in the current round."""
        return {rater: self.queue(rater) for rater in self.raters}

    def at_round(self, number: int) -> "Study":
        """Return the study as it is in a round."""
        if number == self.evaluation.labelling.round:
            return self
        labelling = replace(self.evaluation.labelling, round=number)
        return replace(self, evaluation=replace(self.evaluation, labelling=labelling))

    def queue(
        self, rater_id: str, *, question_id: str | None = None, run_id: str | None = None
    ) -> RaterQueue:
        """Return a rater's work of the current round: all of it, or that of a question or run.

        Raises:
            InputError: If the names are too long for a session file.
        """
        units = [
            unit
            for unit in work_of(rater_id, self.evaluation, self.responses, self.assignments)
            if question_id in {None, unit.question.id}
            and run_id in {None, unit.key.run_id}
            and (self.assignments is not None or self.needs_person(unit))
        ]
        for session_id in dict.fromkeys(unit.key.session_id for unit in units):
            if len(session_id) > _MOST_CHARACTERS:
                raise InputError(_too_long(session_id))
        return RaterQueue(units, self.sessions)

    def needs_person(self, unit: WorkUnit) -> bool:
        """Return whether no judge is certified to score a unit."""
        return unit.response.response_id not in self.covered.get(unit.question.id, frozenset())

    def secret_for(self, *purpose: str) -> str:
        """Return a secret text for a purpose, the same one every time.

        It comes from a key in the session folder that is made once. Whoever removes that
        file makes every link and offline page of the study invalid.
        """
        text = "\x1f".join(purpose)
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:32]

    @cached_property
    def _key(self) -> bytes:
        path = self.sessions.path / _KEY_FILE
        with locked(self.sessions.path):
            if not path.exists():
                replace_file(self.sessions.path / ".gitignore", f"{_KEY_FILE}\n".encode())
                replace_file(path, secrets.token_hex(32).encode(), mode=0o600)
            return path.read_bytes()


def _too_long(session_id: str) -> InputProblem:
    message = (
        f"the session {session_id[:20]}... of a rater has a name of {len(session_id)} characters, "
        f"of which files take {_MOST_CHARACTERS}"
    )
    remedy = "Shorten the name of the rater, the question or the run"
    return InputProblem("evaluation.yaml", None, "labelling.raters", message, remedy)
