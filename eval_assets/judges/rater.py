"""One judge at work on its units."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from eval_assets.evaluation import Aggregate, RubricQuestion
from eval_assets.judges.call import Call
from eval_assets.judges.caller import Caller, Outcome, Subject
from eval_assets.judges.lane import Lane
from eval_assets.judges.live import LiveModel
from eval_assets.judges.progress import Estimate
from eval_assets.judges.prompt import PromptTemplate, stricter_request, verdict_schema
from eval_assets.judges.run import Job
from eval_assets.judges.scores import JudgeScore, Reading, combine, read
from eval_assets.judges.verdict import Status


@dataclass(frozen=True)
class Unit:
    """One response to rate on one question.

    Args:
        response_id: The response.
        question: The question.
        prompt_text: What the system was asked.
        response_text: What it answered; may be empty.
    """

    response_id: str
    question: RubricQuestion
    prompt_text: str
    response_text: str


@dataclass(frozen=True)
class LiveJudge:
    """A judge that can be called.

    Args:
        model: Its model.
        replicates: How often it is asked about each unit.
        aggregate: What the score of several replicates is.
        only: Responses that it is asked about; None for all.
    """

    model: LiveModel
    replicates: int = 1
    aggregate: Aggregate = "mean"
    only: frozenset[str] | None = None

    def is_asked_about(self, unit: Unit) -> bool:
        """Whether it is asked about a unit at all."""
        return self.only is None or unit.response_id in self.only


@dataclass(frozen=True)
class JudgeSummary:
    """What came of one judge.

    Args:
        judge_id: The judge.
        statuses: Units by status.
        n_attempts: Calls made in this run, retries included.
        n_from_ledger: Ratings that were answered before and not asked for again.
        spent_usd: Cost in this run; None where some of it is not known.
        estimate: What was expected of this run before its first call.
        stopped: Why the judge was stopped early; empty where it was not.
    """

    judge_id: str
    statuses: Mapping[Status, int]
    n_attempts: int
    n_from_ledger: int
    spent_usd: float | None
    estimate: Estimate
    stopped: str


class Rater:
    """Asks one judge about units and keeps what it says.

    Args:
        judge: The judge.
        lane: Where it is called.
        caller: Who calls it.
        template: The judges' prompt.
    """

    def __init__(
        self, judge: LiveJudge, lane: Lane, *, caller: Caller, template: PromptTemplate
    ) -> None:
        self.lane = lane
        self.estimate = Estimate(judge.model)
        self._judge = judge
        self._caller = caller
        self._template = template
        self._taken_up: list[tuple[Unit, int, Call]] = []
        self._pending: list[tuple[Unit, int]] = []
        self._readings: dict[tuple[str, str, int], Reading] = {}
        self._statuses: Counter[Status] = Counter()
        self._n_from_ledger = 0

    def prepare(self, units: Sequence[Unit]) -> list[str]:
        """Take up the next units; return the keys of their calls, which are to be looked up."""
        self._taken_up = [
            (unit, replicate, self._call(unit, replicate))
            for unit in units
            if self._judge.is_asked_about(unit)
            for replicate in range(self._judge.replicates)
        ]
        return [call.key for _, _, call in self._taken_up]

    def doubtful(self) -> list[str]:
        """Keys of the calls that follow a stored reply which cannot be read."""
        return [
            _stricter(call, unit).key
            for unit, _, call in self._taken_up
            if (known := self._caller.stored(call.key)) is not None
            and read(known, unit.question.scale).is_unreadable
        ]

    def plan(self) -> None:
        """Read what the ledger held for the units taken up, and count what is to be asked."""
        for unit, replicate, call in self._taken_up:
            reading = self._known(unit, call)
            if reading is None:
                self._pending.append((unit, replicate))
                self.estimate.add(call)
            else:
                self._n_from_ledger += 1
                self._readings[unit.response_id, unit.question.id, replicate] = reading
        self._taken_up = []

    def pending_calls(self) -> dict[str, tuple[Call, Subject]]:
        """The next call about every unit that has no reading yet, by call key."""
        pending = {}
        for unit, replicate in self._pending:
            call = self._next_call(unit, replicate)
            pending[call.key] = (call, _subject(unit, replicate))
        return pending

    def recall(self) -> None:
        """Read what was looked up since; what is still missing stays pending."""
        pending, self._pending = self._pending, []
        for unit, replicate in pending:
            reading = self._known(unit, self._call(unit, replicate))
            if reading is None:
                self._pending.append((unit, replicate))
            else:
                self._readings[unit.response_id, unit.question.id, replicate] = reading

    def leave(self, reading_of: Callable[[str], Reading]) -> None:
        """Ask no more: pending units get the reading that belongs to the key of their next call."""
        for unit, replicate in self._pending:
            reading = reading_of(self._next_call(unit, replicate).key)
            self._readings[unit.response_id, unit.question.id, replicate] = reading
        self._pending = []

    def jobs(self) -> list[Job]:
        """What is to be asked, in the order planned."""
        return [partial(self._rate, unit, replicate) for unit, replicate in self._pending]

    def score(self, unit: Unit) -> JudgeScore | None:
        """The judge's score of a unit, when its jobs are done; None if it was not asked."""
        if not self._judge.is_asked_about(unit):
            return None
        score = combine(
            [
                self._readings[unit.response_id, unit.question.id, replicate]
                for replicate in range(self._judge.replicates)
            ],
            response_id=unit.response_id,
            question_id=unit.question.id,
            judge_id=self._judge.model.id,
            aggregate=self._judge.aggregate,
        )
        self._statuses[score.status] += 1
        return score

    def summary(self) -> JudgeSummary:
        """What came of the judge, when its scores are fetched."""
        return JudgeSummary(
            judge_id=self._judge.model.id,
            statuses=dict(self._statuses),
            n_attempts=self.lane.n_attempts,
            n_from_ledger=self._n_from_ledger,
            spent_usd=None if self.lane.n_unpriced else self.lane.spent_usd,
            estimate=self.estimate,
            stopped=self.lane.stopped,
        )

    async def _rate(self, unit: Unit, replicate: int) -> bool:
        """Ask about one unit, once more and more strictly if the reply cannot be read."""
        call = self._call(unit, replicate)
        subject = _subject(unit, replicate)
        reading = read(await self._caller.ask(call, self.lane, subject), unit.question.scale)
        if reading.is_unreadable:
            outcome = await self._caller.ask(_stricter(call, unit), self.lane, subject)
            reading = _better(reading, outcome, unit)
        self._readings[unit.response_id, unit.question.id, replicate] = reading
        return reading.status == "ok"

    def _known(self, unit: Unit, call: Call) -> Reading | None:
        """What the ledger's replies say; None where a call is still to be made."""
        if (outcome := self._caller.stored(call.key)) is None:
            return None
        reading = read(outcome, unit.question.scale)
        if not reading.is_unreadable:
            return reading
        if (outcome := self._caller.stored(_stricter(call, unit).key)) is None:
            return None
        return _better(reading, outcome, unit)

    def _next_call(self, unit: Unit, replicate: int) -> Call:
        """The call about a unit, or the stricter one where its reply could not be read."""
        call = self._call(unit, replicate)
        return call if self._caller.stored(call.key) is None else _stricter(call, unit)

    def _call(self, unit: Unit, replicate: int) -> Call:
        """The call about a unit."""
        model = self._judge.model
        prompt = self._template.render(
            unit.question, prompt_text=unit.prompt_text, response_text=unit.response_text
        )
        return Call(
            endpoint=model.endpoint,
            messages=prompt.messages(),
            settings=model.settings,
            max_tokens=model.max_tokens,
            schema=verdict_schema(unit.question.scale) if model.capabilities.json_schema else None,
            replicate=replicate,
        )


def _subject(unit: Unit, replicate: int) -> Subject:
    return Subject("judging", unit.response_id, unit.question.id, replicate)


def _stricter(call: Call, unit: Unit) -> Call:
    """The call that follows a reply which could not be read."""
    *before, last = call.messages
    text = last.text + stricter_request(unit.question.scale)
    return replace(call, messages=(*before, replace(last, text=text)))


def _better(unreadable: Reading, second: Outcome, unit: Unit) -> Reading:
    """The second reply where one arrived, else the first, which was not readable."""
    return read(second, unit.question.scale) if second.has_reply else unreadable
