"""The plan of one judge's scores of units: those in the ledger, and those to request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.budget import JointReservations, UnitKey
from eval_assets.judges.calling.client import BUDGET_USED_UP, ModelClient
from eval_assets.judges.calling.progress import Estimate
from eval_assets.judges.calling.requests import ModelRequest, Outcome
from eval_assets.judges.calling.session import Task
from eval_assets.judges.prompts.prompt import PromptTemplate, stricter_request, verdict_schema
from eval_assets.judges.replies import JudgeScore, ParsedReply, combine, read_outcome
from eval_assets.ledger import CallSubject, Reply

_AGAIN = 1_000_000
"""Distance of the replicates that ask again about what could not be read."""

IN_BATCH = ParsedReply("missing", error="in a batch that the vendor works on")
_NOT_ASKED = ParsedReply("missing", error="it was not asked")


@dataclass(frozen=True)
class Unit:
    """One response to rate on one question.

    The history contains prompt and response of each turn before, oldest first; `shown` has columns
    of the response with their texts. Another first replicate asks again.
    """

    response_id: str
    question: RubricQuestion
    prompt_text: str
    response_text: str
    history: tuple[tuple[str, str], ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    first_replicate: int = 0

    @property
    def key(self) -> UnitKey:
        """Response and question."""
        return self.response_id, self.question.id


@dataclass(frozen=True)
class PendingRating:
    """A rating that is not in the ledger.

    After an unreadable reply the stricter request comes next (step 1), which later runs send again
    (steps 2 and on). `latest` is what was read so far, `n_bytes` the length of the next request and
    `most_usd` the most that it or the stricter one may cost.
    """

    unit: Unit
    replicate: int
    step: int = 0
    latest: ParsedReply | None = None
    n_bytes: int = 0
    most_usd: float = 0.0

    @property
    def subject(self) -> CallSubject:
        """The subject of its requests, for the ledger."""
        return CallSubject("judging", *self.unit.key, self.replicate)


class JudgingPlan:
    """One judge's ratings of some units, and the requests still to send; see `look_up`."""

    def __init__(self, client: ModelClient[Judge], template: PromptTemplate) -> None:
        self.client = client
        self.pending: list[PendingRating] = []
        self.estimate = Estimate(client.model)
        self.n_from_ledger = 0
        self._last_step = 2
        self._template = template
        self._parsed_replies: dict[tuple[str, str, int], ParsedReply] = {}

    def tasks(self, reservations: JointReservations) -> list[Task]:
        """Return a task for every pending rating, with its share of the reservations."""
        for rating in self.pending:
            reservations.plan(rating.unit.key, rating.most_usd)
        return [partial(self._rate, rating, reservations) for rating in self.pending]

    def next_request(self, rating: PendingRating) -> ModelRequest:
        """Return the next request for a pending rating."""
        further = _AGAIN * max(0, rating.step - 1)
        request = self.request(rating.unit, rating.replicate + further)
        return self._stricter(request, rating.unit) if rating.step else request

    def score(self, unit: Unit) -> JudgeScore:
        """Return the judge's score of a unit, or the reason for its absence."""
        parsed_replies = [
            self._parsed_replies.get((*unit.key, replicate), _NOT_ASKED)
            for replicate in self._replicates(unit)
        ]
        return combine(parsed_replies, self.client.model.declared, *unit.key)

    def call_keys(self, unit: Unit) -> tuple[str, ...]:
        """Return the keys of all requests about a unit, including possible further ones."""
        return tuple(
            self.next_request(PendingRating(unit, replicate, step)).key
            for replicate in self._replicates(unit)
            for step in range(self._last_step + 1)
        )

    def request(self, unit: Unit, replicate: int) -> ModelRequest:
        """Return the first request about a unit."""
        messages = self._template.render(
            unit.question,
            prompt_text=unit.prompt_text,
            response_text=unit.response_text,
            history=unit.history,
            shown=dict(unit.shown),
        )
        schema = verdict_schema(unit.question.scale) if self._template.form == "json" else None
        return self.client.request(messages, schema=schema, replicate=replicate)

    def keep(self, rating: PendingRating, parsed: ParsedReply) -> None:
        """Keep a parsed reply for the unit's score."""
        self._parsed_replies[*rating.unit.key, rating.replicate] = parsed

    async def look_up(self, units: Sequence[Unit]) -> None:
        """Read the ledger's replies about some units, and add the rest to the pending ratings.

        Raises:
            PromptError: If the template cannot be rendered for a unit.
        """
        pairs = [
            (PendingRating(unit, replicate), self.request(unit, replicate))
            for unit in units
            for replicate in self._replicates(unit)
        ]
        unread, pairs = pairs, []
        while unread:
            replies = await self.client.stored_replies([request.key for _, request in unread])
            looked_up, unread = unread, []
            for rating, request in looked_up:
                parsed = rating.latest
                if (reply := replies.get(request.key)) is not None:
                    parsed = read_outcome(reply, rating.unit.question)
                    if parsed.is_unreadable or parsed.status == "out_of_range":
                        step = max(1 if parsed.is_unreadable else 2, rating.step + 1)
                        self._last_step = max(self._last_step, step)
                        further = replace(rating, step=step, latest=parsed)
                        unread.append((further, self.next_request(further)))
                        continue
                elif self._is_to_ask(rating):
                    pairs.append((rating, request))
                    continue
                if parsed is not None:
                    self.n_from_ledger += 1
                    self.keep(rating, parsed)
        in_batches = await self.client.keys_in_batches([request.key for _, request in pairs])
        for rating, request in pairs:
            if request.key in in_batches:
                self.keep(rating, IN_BATCH)
                continue
            longest = request if rating.step else self._stricter(request, rating.unit)
            most_usd = self.client.model.most_usd(longest)
            self.pending.append(replace(rating, n_bytes=request.n_bytes, most_usd=most_usd))
            self.estimate.add(request)
        if self.pending and not self.client.has_answered:
            # A model that refuses all of its first requests is stopped. Long responses may be
            # refused while the others are answered.
            shortest = min(self.pending, key=lambda rating: rating.n_bytes)
            self.pending.remove(shortest)
            self.pending.insert(0, shortest)

    def _is_to_ask(self, rating: PendingRating) -> bool:
        """Return whether the next request is sent: again once if unreadable, and if wanted."""
        latest = rating.latest
        if latest is None or rating.step == 1 or latest.status in self.client.ask_again:
            return True
        return rating.step == 2 and latest.is_unreadable  # noqa: PLR2004 - the first time again

    def _stricter(self, request: ModelRequest, unit: Unit) -> ModelRequest:
        """Return the request that follows a reply which could not be read."""
        *before, last = request.messages
        text = last.text + stricter_request(unit.question.scale, form=self._template.form)
        return replace(request, messages=(*before, replace(last, text=text)))

    def _replicates(self, unit: Unit) -> range:
        first = unit.first_replicate
        return range(first, first + self.client.model.declared.replicates)

    async def _rate(self, rating: PendingRating, reservations: JointReservations) -> bool:
        """Request one rating within the budget, and keep the result.

        It is requested once more, in stricter words, if the reply is unreadable.
        """
        question, latest = rating.unit.question, rating.latest
        outcome: Outcome = BUDGET_USED_UP
        reservation = await reservations.share(rating.unit.key, rating.most_usd)
        if reservation is not None:
            ask = partial(self.client.reply_to, subject=rating.subject, reservation=reservation)
            try:
                outcome = await ask(self.next_request(rating))
                parsed = read_outcome(outcome, question)
                if rating.step == 0 and parsed.is_unreadable:
                    latest = parsed
                    outcome = await ask(self.next_request(replace(rating, step=1)))
            finally:
                reservation.release()
        parsed = read_outcome(outcome, question)
        if reservation is not None and latest is not None and not isinstance(outcome, Reply):
            parsed = latest
        self.keep(rating, parsed)
        return parsed.status == "ok"
