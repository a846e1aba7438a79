"""Labelling of an evaluation: raters, their work, sessions and links."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import DISCUSSION
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.adjudication import (
    NOTICE,
    AdjudicationQueue,
    Disagreement,
    discussion_units,
    is_complete,
)
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.durable import locked, replace_file
from eval_assets.labelling.gold_answers import (
    CalibrationRound,
    Check,
    GoldResult,
    calibration_rounds,
    check_result,
)
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now, work_of, work_unit
from eval_assets.labelling.rater_view import KeyedCodes, ResponseView, keyed_codes
from eval_assets.labelling.session_files import SessionFolder, session_folder
from eval_assets.labelling.sessions import UNDO, Label


@dataclass(frozen=True)
class Study:
    """An evaluation whose responses people label.

    Without assignments every rater labels everything, except what a judge is certified to score.

    Args:
        covered: Responses that a certified judge scores, by question with a certified part.
        calibration: Responses that a rater answers before any other.
        labels: Returns all labels as their files are now, if raters may discuss them.
        rated: Response, question, rater and round of the ratings in other files than sessions.
    """

    evaluation: Evaluation
    responses: Mapping[str, ResponseView]
    assignments: Sequence[Assignment] | None = None
    covered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    calibration: Sequence[Check] = ()
    labels: Callable[[], pd.DataFrame] | None = None
    rated: frozenset[tuple[str, str, str, int]] = frozenset()

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters declared, else those with assignments, else those with labels."""
        if self.evaluation.labelling.raters:
            return self.evaluation.labelling.raters
        assigned = dict.fromkeys(assignment.rater_id for assignment in self.assignments or ())
        if assigned or self.labels is None:
            return tuple(assigned)
        return tuple(sorted(map(str, self.labels()["rater_id"].unique())))

    @property
    def codes(self) -> KeyedCodes | None:
        """Codes of models and responses in sheets; None if raters are shown the model."""
        if "model_name" in self.evaluation.labelling.show:
            return None
        return keyed_codes(self.evaluation.folder)

    @property
    def sessions(self) -> SessionFolder:
        """Return the store of the labelling sessions."""
        return session_folder(self.evaluation.folder)

    @cached_property
    def queues(self) -> dict[str, RaterQueue]:
        """Queue of each rater in the current round, open or not."""
        return {rater: self._whole_work(rater) for rater in self.raters}

    @cached_property
    def n_assigned(self) -> Counter[tuple[str, str]]:
        """Number of responses that each rater has to label, by (rater, question)."""
        return Counter(
            (unit.key.rater_id, unit.key.question_id)
            for queue in self.queues.values()
            for unit in queue.units
            if unit.is_counted
        )

    @cached_property
    def _whole_work(self) -> Callable[[str], RaterQueue]:
        return cache(self.work)

    def at_round(self, number: int) -> "Study":
        """Return the study in a round."""
        if number == self.evaluation.labelling.round:
            return self
        labelling = replace(self.evaluation.labelling, round=number)
        return replace(self, evaluation=replace(self.evaluation, labelling=labelling))

    def queue(
        self, rater_id: str, *, question_id: str | None = None, run_id: str | None = None
    ) -> RaterQueue:
        """Return a rater's current queue: calibration, then the round, then discussion.

        Raises:
            InputError: If the names are too long for a session file.
        """
        rounds = self.calibration_rounds(rater_id)
        if rounds and not rounds[-1].is_passed:
            units = () if rounds[-1].is_failed else rounds[-1].units
            notice = " ".join(item.sentence() for item in rounds[-2:])
            return RaterQueue(units, self.sessions, notice=notice, has_sequel=bool(units))
        is_all = question_id is None and run_id is None
        work = self._whole_work(rater_id) if is_all else self.work(rater_id, question_id, run_id)
        discussed = self.discussed_units(rater_id) if work.n_labels() >= len(work.units) else []
        discussed = [unit for unit in discussed if _is_of(unit, question_id, run_id)]
        if discussed:
            return RaterQueue(discussed, self.sessions, notice=NOTICE)
        if rounds and not work.n_labels():
            return RaterQueue(work.units, self.sessions, notice=rounds[-1].sentence())
        return work

    def work(
        self, rater_id: str, question_id: str | None = None, run_id: str | None = None
    ) -> RaterQueue:
        """Return a rater's work of the current round, open or not, without what files answer.

        Raises:
            InputError: If the names are too long for a session file.
        """
        units = [
            unit
            for unit in work_of(rater_id, self.evaluation, self.responses, self.assignments)
            if _is_of(unit, question_id, run_id)
            and (self.assignments is not None or self.needs_person(unit))
            and (unit.is_repeat or unit.rating_key not in self.rated)
        ]
        return RaterQueue(units, self.sessions)

    def sheet_units(self, rater_id: str) -> list[WorkUnit]:
        """Return a rater's units for a sheet; none before the calibration."""
        rounds = self.calibration_rounds(rater_id)
        return list(self.work(rater_id).units) if not rounds or rounds[-1].is_passed else []

    def discussed_units(self, rater_id: str) -> list[WorkUnit]:
        """Return the disagreements that a rater discusses.

        None until all raters are done, and none in the minute in which they may undo labels.
        """
        if self.labels is None or not self.evaluation.labelling.discussion:
            return []
        latest = [session.updated_at for session in self.sessions.readable()[0]]
        if latest and now() - max(latest) <= UNDO:
            return []  # the last label may still be replaced
        labels = self.labels()
        if not is_complete(labels, self.queues, self.evaluation):
            return []
        return discussion_units(rater_id, labels, self.evaluation, self.responses)

    def second_ratings(self) -> dict[tuple[str, str], dict[str, Label]]:
        """Return the ratings after the discussion, by response and question, then by rater."""
        labels: dict[tuple[str, str], dict[str, Label]] = {}
        for session in self.sessions.readable(DISCUSSION)[0]:
            if session.key.round == self.evaluation.labelling.round:
                for label in session.labels:
                    unit = (label.response_id, session.key.question_id)
                    labels.setdefault(unit, {})[session.key.rater_id] = label
        return labels

    def adjudication_queue(
        self, disagreements: Callable[[], Sequence[Disagreement]], *, by: str
    ) -> AdjudicationQueue:
        """Return the disagreements that an adjudicator settles."""
        return AdjudicationQueue(
            self.evaluation, self.responses, disagreements, self.second_ratings, by
        )

    def calibration_rounds(self, rater_id: str) -> list[CalibrationRound]:
        """Return the rounds of a rater's calibration up to the open one; none if none is declared.

        Raises:
            InputError: If a session is damaged.
        """
        pass_mark = self.evaluation.labelling.pass_mark
        return calibration_rounds(self.calibration, rater_id, self.sessions, pass_mark=pass_mark)

    def possible_units(self, rater_id: str) -> dict[str, WorkUnit]:
        """Return all possible units for the rater in the current round, by code."""
        labelling = self.evaluation.labelling
        kinds = [("", False), ("", True), *([(DISCUSSION, False)] if labelling.discussion else [])]
        units = [
            work_unit(rater_id, labelling.round, response, question, is_repeat=is_repeat, kind=kind)
            for response in self.responses.values()
            for question in response.questions
            for kind, is_repeat in kinds
        ]
        units += [unit for check in self.calibration for unit in check.units(rater_id)]
        return {unit.code: unit for unit in units}

    def calibration_results(self) -> dict[tuple[str, str], GoldResult]:
        """Return raters' results in their latest round of the calibration, by rater and question.

        Damaged sessions are left out.
        """
        results = {}
        for rater in self.raters:
            units: dict[str, list[WorkUnit]] = {}
            with suppress(InputError):
                for unit in [u for item in self.calibration_rounds(rater)[-1:] for u in item.units]:
                    units.setdefault(unit.question.id, []).append(unit)
                for question_id, of_question in units.items():
                    results[rater, question_id] = check_result(of_question, self.sessions)
        return results

    def needs_person(self, unit: WorkUnit) -> bool:
        """Return whether a unit is not scored by a certified judge."""
        return unit.response.response_id not in self.covered.get(unit.question.id, frozenset())

    def secret_for(self, *purpose: str) -> str:
        """Return the secret text of a purpose.

        It is derived from a key file in the session folder. Removing that file invalidates every
        link of the study.
        """
        return keyed_codes(self.evaluation.folder).secret(*purpose)


def _is_of(unit: WorkUnit, question_id: str | None, run_id: str | None) -> bool:
    """Return whether a unit is of a question and a run; None stands for all."""
    return question_id in {None, *unit.question.names} and run_id in {None, unit.key.run_id}


_LINK_FILE = ".links.json"


@dataclass(frozen=True)
class _Link:
    """Number of replacements of a person's links, and whether the last ones are revoked."""

    number: int = 0
    is_revoked: bool = False


_LINKS = TypeAdapter(dict[str, _Link])


def adjudicators_by_token(study: Study) -> dict[str, str]:
    """Return the adjudicator of each link that is valid, by the link's secret part."""
    return _by_token(study, "adjudicator", study.evaluation.labelling.adjudicators)


def raters_by_token(study: Study) -> dict[str, str]:
    """Return the rater of each link that is valid, by the link's secret part."""
    return _by_token(study, "rater", study.raters)


def replace_link(study: Study, name: str) -> None:
    """Revoke the links of a rater or adjudicator and create new ones."""
    _change(study, name, lambda link: _Link(number=link.number + 1))


def revoke_link(study: Study, name: str) -> None:
    """Revoke the links of a rater or adjudicator."""
    _change(study, name, lambda link: replace(link, is_revoked=True))


def _change(study: Study, name: str, change: Callable[[_Link], _Link]) -> None:
    with locked(study.sessions.path):
        links = _links(study)
        link = change(links.get(name, _Link()))
        content = _LINKS.dump_json({**links, name: link}, indent=1)
        replace_file(study.sessions.path / _LINK_FILE, content)


def _by_token(study: Study, role: str, names: Iterable[str]) -> dict[str, str]:
    last_day = study.evaluation.labelling.links_valid_until
    if last_day is not None and now().date() > last_day:
        return {}
    links = _links(study)
    people = ((name, links.get(name, _Link())) for name in names)
    return {
        study.secret_for(role, name, *([str(link.number)] if link.number else [])): name
        for name, link in people
        if not link.is_revoked
    }


def _links(study: Study) -> dict[str, _Link]:
    path = study.sessions.path / _LINK_FILE
    try:
        return _LINKS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        message, remedy = "the file cannot be read", "Restore it, or remove it and revoke again"
        raise InputError(InputProblem(str(path), None, None, message, remedy)) from error
