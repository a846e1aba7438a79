"""Responses with gold answers, and the calibration of raters by them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval_assets.config.labelling import CALIBRATION
from eval_assets.labelling.assignments import chance
from eval_assets.labelling.rater_queue import WorkUnit, now, work_unit
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import UNDO
from eval_assets.scale import TOLERANCE
from eval_assets.wording import counted


@dataclass(frozen=True)
class Check:
    """A response with its right answers.

    Args:
        response: The rater's view; its questions are those with a right answer.
        answers: The right answers, by question. One of several suffices.
    """

    response: ResponseView
    answers: Mapping[str, frozenset[float]]
    round: int = 1

    def units(self, rater_id: str) -> list[WorkUnit]:
        """Return the questions that a rater answers about the response."""
        return [
            replace(
                work_unit(rater_id, self.round, self.response, question, kind=CALIBRATION),
                gold_answers=self.answers[question.id],
            )
            for question in self.response.questions
        ]


@dataclass(frozen=True)
class GoldResult:
    """Number of a rater's answers that match gold answers.

    It is final once the rater has finished, or may no longer undo the last answer.
    """

    n_units: int
    n_answered: int
    n_right: int
    is_final: bool

    @property
    def is_complete(self) -> bool:
        """Whether every response was answered and no answer can be changed."""
        return self.is_final and self.n_answered == self.n_units


def check_result(units: Iterable[WorkUnit], sessions: SessionFolder) -> GoldResult:
    """Return the number of answered units and of right answers. A skip is not right."""
    n_units = n_answered = n_right = 0
    is_final = True
    for unit in units:
        session = sessions.read(unit.key)
        label = unit.label_in(session)
        if session and session.closed_at is None:
            is_final &= now() - session.updated_at > UNDO
        n_units += 1
        n_answered += label is not None
        n_right += label is not None and label.rating in unit.gold_answers
    return GoldResult(n_units, n_answered, n_right, is_final)


@dataclass(frozen=True)
class CalibrationRound:
    """A round of a rater's calibration.

    Its result is shown once every response was answered and the rater has finished, so that a slip
    can be corrected, but not an answer that is known to be wrong.

    Args:
        pass_mark: Share of right answers that is required.
    """

    number: int
    units: Sequence[WorkUnit]
    result: GoldResult
    pass_mark: float
    is_last: bool

    @property
    def is_passed(self) -> bool:
        """Whether the result reaches the pass mark."""
        least = self.pass_mark * self.result.n_units - TOLERANCE
        return self.result.is_complete and self.result.n_right >= least

    @property
    def is_failed(self) -> bool:
        """Whether the result is below the pass mark."""
        return self.result.is_complete and not self.is_passed

    def progress(self) -> str:
        """Return the state of the round, for the lead."""
        result = self.result
        answered = f"round {self.number}, {result.n_answered} of {result.n_units} answered"
        return f"{answered}, {result.n_right} matched{', failed' if self.is_failed else ''}"

    def sentence(self) -> str:
        """Return the result, or a description of the round before there is one."""
        n_units = self.result.n_units
        if not self.result.is_complete:
            return (
                f"Calibration, round {self.number}: {counted(n_units, 'response')} with known "
                "answers. You are told how many you matched once you finish (Q); "
                f"{self.pass_mark:.0%} opens "
                "the other responses."
            )
        matched = f"Calibration, round {self.number}: {self.result.n_right} of {n_units} matched"
        if self.is_passed:
            return f"{matched}. The other responses are open."
        required = f"{matched}, {self.pass_mark:.0%} are required."
        return f"{required} Tell whoever sent you here." if self.is_last else required


def calibration_rounds(
    checks: Sequence[Check], rater_id: str, sessions: SessionFolder, *, pass_mark: float
) -> list[CalibrationRound]:
    """Return the rounds that a rater has completed, and the one that is open.

    A round opens after the previous one was failed. Answers are those of the rater in any round of
    labelling: a calibration stays valid.
    """
    rounds: list[CalibrationRound] = []
    numbers = sorted({check.round for check in checks})
    for number in numbers:
        units = [
            unit
            for check in sorted(checks, key=lambda c: chance(0, rater_id, c.response.response_id))
            if check.round == number
            for unit in check.units(rater_id)
        ]
        result = check_result(units, sessions)
        rounds.append(
            CalibrationRound(number, units, result, pass_mark, is_last=number == numbers[-1])
        )
        if not rounds[-1].is_failed:
            break
    return rounds
