"""Generation of responses by the models under test, turn by turn."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval_assets.config.judges import Generator
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.budget import Budget
from eval_assets.judges.calling.client import ModelClient
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import Estimate, RunSummary, report_estimates
from eval_assets.judges.calling.requests import Message, ModelRequest, Outcome
from eval_assets.judges.calling.scheduler import run_tasks
from eval_assets.judges.calling.session import RequestOptions, open_clients, require_prices
from eval_assets.ledger import CallSubject, Ledger, Reply, Status


@dataclass(frozen=True)
class GeneratedResponse:
    """A generator's response to one turn, or the reason for its absence.

    Only a status of `ok` is a complete response; the text of a refused or cut-off one is partial.
    """

    conversation: Conversation
    turn: Turn
    generator_id: str
    seed: int
    status: Status
    text: str = ""
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class GenerationSummary(RunSummary):
    """Result of a run.

    Args:
        responses: One per turn, generator and seed.
    """

    responses: tuple[GeneratedResponse, ...]


ResponseName = Callable[[Conversation, Turn, str, int], str]
"""Id of the response to a turn by a generator for a seed."""


async def generate_responses(
    conversations: Sequence[Conversation],
    generators: Sequence[LiveModel[Generator]],
    ledger: Ledger,
    *,
    name: ResponseName,
    options: RequestOptions,
) -> GenerationSummary:
    """Send every prompt to every generator, unless the ledger has the reply.

    A later turn is sent with the earlier ones and their responses. It is not sent if one of them
    failed.

    Raises:
        InputError: If there is a cap and a generator's price is not known.
    """
    budget = Budget(options.budget_usd, ledger)
    require_prices(generators, is_capped=budget.is_capped)
    async with open_clients(generators, ledger, budget=budget, options=options) as clients:
        threads = {
            client: [
                _Thread(conversation, seed, client, name=name)
                for conversation in conversations
                for seed in client.model.declared.seeds
            ]
            for client in clients
        }
        for client, group in threads.items():
            client.summary.n_from_ledger = await _recall(group, client)
            for thread in group:
                thread.add_to(client.summary.estimate)
        estimates = [client.summary.estimate for client in clients]
        report_estimates(estimates, left_usd=await budget.left_usd(), report=options.report)
        await run_tasks(
            [
                (client, [thread.go_on for thread in group if not thread.has_ended])
                for client, group in threads.items()
            ],
            report=options.report,
        )
    responses = {
        client: [response for thread in group for response in thread.responses()]
        for client, group in threads.items()
    }
    for client, generated in responses.items():
        client.summary.statuses.update(response.status for response in generated)
    return GenerationSummary(
        responses=tuple(itertools.chain.from_iterable(responses.values())),
        models=tuple(client.summary for client in clients),
        counted_usd=budget.spent_usd,
        budget_left_usd=await budget.left_usd(),
    )


class _Thread:
    """State of one conversation with one generator for one seed."""

    def __init__(
        self,
        conversation: Conversation,
        seed: int,
        client: ModelClient[Generator],
        *,
        name: ResponseName,
    ) -> None:
        self._conversation = conversation
        self._seed = seed
        self._client = client
        self._name = name
        self._outcomes: list[Outcome] = []

    @property
    def has_ended(self) -> bool:
        """Return whether every turn has a response, or one has failed for good."""
        failed = bool(self._outcomes) and self._outcomes[-1].status != "ok"
        return failed or len(self._outcomes) == len(self._conversation.turns)

    def add_to(self, estimate: Estimate) -> None:
        """Add the remaining turns to the estimate, each like the next one."""
        if not self.has_ended:
            for _ in self._conversation.turns[len(self._outcomes) :]:
                estimate.add(self.next_request())

    def next_request(self) -> ModelRequest:
        """Return the request for the next turn, with the earlier ones."""
        model = self._client.model
        system = model.declared.system
        messages = [Message("system", system)] if system else []
        for turn, outcome in zip(self._conversation.turns, self._outcomes, strict=False):
            text = outcome.text if isinstance(outcome, Reply) else ""
            messages += [Message("user", turn.text), Message("assistant", text)]
        messages.append(Message("user", self._next_turn().text))
        seed = {"seed": self._seed} if model.capabilities.seed else {}
        return self._client.request(tuple(messages), settings=seed, replicate=self._seed)

    def recall(self, replies: Mapping[str, Reply]) -> bool:
        """Take the next reply from stored ones; return whether it was there."""
        reply = replies.get(self.next_request().key)
        if reply is not None:
            self._outcomes.append(reply)
        return reply is not None

    async def go_on(self) -> bool:
        """Send the remaining turns; return whether all have a response."""
        while not self.has_ended:
            turn, generator_id = self._next_turn(), self._client.model.id
            response_id = self._name(self._conversation, turn, generator_id, self._seed)
            subject = CallSubject("generation", response_id, replicate=self._seed)
            self._outcomes.append(
                await self._client.reply_within_budget(self.next_request(), subject)
            )
        return self._outcomes[-1].status == "ok"

    def responses(self) -> Iterable[GeneratedResponse]:
        """Yield the result of every turn."""
        for index, turn in enumerate(self._conversation.turns):
            key = (self._conversation, turn, self._client.model.id, self._seed)
            outcome = self._outcomes[index] if index < len(self._outcomes) else None
            if isinstance(outcome, Reply):
                yield GeneratedResponse(*key, status=outcome.status, text=outcome.text)
            elif outcome is not None:
                yield GeneratedResponse(*key, status=outcome.status, error=str(outcome))
            else:
                error = "an earlier turn has no response"
                yield GeneratedResponse(*key, status="missing", error=error)

    def _next_turn(self) -> Turn:
        return self._conversation.turns[len(self._outcomes)]


async def _recall(threads: Sequence[_Thread], client: ModelClient[Generator]) -> int:
    """Continue conversations with replies in the ledger; return their number."""
    n_stored, open_threads = 0, list(threads)
    while open_threads:
        replies = await client.stored_replies(
            [thread.next_request().key for thread in open_threads]
        )
        continued = [thread for thread in open_threads if thread.recall(replies)]
        n_stored += len(continued)
        open_threads = [thread for thread in continued if not thread.has_ended]
    return n_stored
