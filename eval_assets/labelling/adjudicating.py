"""The work of an adjudicator: rate without seeing, then look, discuss and settle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval_assets.labelling.adjudication import (
    Adjudication,
    Disagreement,
    Step,
    add_adjudication,
    decisions,
    own_rating,
    read_adjudications,
)
from eval_assets.labelling.rater_queue import label_of
from eval_assets.labelling.sessions import Answer, SessionKey
from eval_assets.labelling.study import Study
from eval_assets.labelling.work_items import WorkUnit


@dataclass(frozen=True)
class Case:
    """A disagreement as an adjudicator meets it.

    Args:
        disagreement: Who gave what.
        unit: The response and question, shown as to any rater.
        own: The adjudicator's own rating; None until it is given, and nothing is shown before.
        comments: What was noted in the discussion, in order.
        decision: How it was settled last; None if it is open.
    """

    disagreement: Disagreement
    unit: WorkUnit
    own: float | None
    comments: tuple[Adjudication, ...]
    decision: Adjudication | None


class AdjudicationDesk:
    """Where one adjudicator settles disagreements.

    Args:
        study: The evaluation.
        disagreements: Gives the disagreements as they are now, the worst first.
        by: The adjudicator.
    """

    def __init__(
        self, study: Study, disagreements: Callable[[], Sequence[Disagreement]], *, by: str
    ) -> None:
        self._study = study
        self._disagreements = disagreements
        self._by = by

    def cases(self) -> list[Case]:
        """Return all disagreements on responses that exist, open ones first, the worst first."""
        steps = read_adjudications(self._study.evaluation)
        settled = decisions(steps)
        cases = []
        for found in self._disagreements():
            shown = self._study.responses.get(found.response_id)
            if shown is None:
                continue
            question = self._study.evaluation.question(found.question_id)
            own = own_rating(steps, found.unit, self._by)
            comments = [s for s in steps if s.unit == found.unit and s.step == "comment"]
            cases.append(
                Case(
                    disagreement=found,
                    unit=WorkUnit(_key(self._by, question.id), question, shown),
                    own=own.value if own else None,
                    comments=tuple(comments),
                    decision=settled.get(found.unit),
                )
            )
        return sorted(cases, key=lambda case: case.decision is not None)

    def rate(self, case: Case, value: float, *, at: datetime) -> None:
        """Keep the adjudicator's own rating, given before seeing any other.

        Raises:
            ValueError: If the value is not on the scale.
        """
        label_of(case.unit, Answer(rating=value), at=at)
        self._add(case, "rating", value=value, reason="", at=at)

    def comment(self, case: Case, text: str, *, at: datetime) -> None:
        """Keep what the discussion brought; no label changes."""
        self._add(case, "comment", value=None, reason=text, at=at)

    def settle(self, case: Case, value: float | None, *, reason: str, at: datetime) -> None:
        """Settle the value, or with None leave the response out as ambiguous.

        Raises:
            ValueError: If the adjudicator has not rated it, the value is not on the scale, or
                there is no reason.
        """
        if case.own is None:
            raise ValueError("rate the response yourself before you see and settle the others")
        if value is not None:
            label_of(case.unit, Answer(rating=value), at=at)
        step: Step = "excluded" if value is None else "consensus"
        self._add(case, step, value=value, reason=reason, at=at)

    def reopen(self, case: Case, *, reason: str, at: datetime) -> None:
        """Take back what was settled; the file keeps it.

        Raises:
            ValueError: If nothing was settled, or there is no reason.
        """
        if case.decision is None:
            raise ValueError("this disagreement is open")
        self._add(case, "reopened", value=None, reason=reason, at=at)

    def _add(
        self, case: Case, step: Step, *, value: float | None, reason: str, at: datetime
    ) -> None:
        found = case.disagreement
        add_adjudication(
            self._study.evaluation.folder,
            Adjudication(
                response_id=found.response_id,
                question_id=found.question_id,
                step=step,
                by=self._by,
                at=at,
                value=value,
                reason=reason.strip(),
                # Before their own rating adjudicators are shown none, and the record says so.
                ratings={} if step == "rating" else dict(found.ratings),
                between=found.between,
            ),
        )


def _key(by: str, question_id: str) -> SessionKey:
    return SessionKey(rater_id=by, question_id=question_id)
