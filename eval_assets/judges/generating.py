"""Generation of responses by the models under test, turn by turn."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from eval_assets.config.judges import Generator
from eval_assets.conversation import Conversation, Turn
from eval_assets.judges.calling.client import ModelClient
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.progress import RunSummary, report_estimates
from eval_assets.judges.calling.requests import Message, ModelRequest, Outcome, RequestFailed
from eval_assets.judges.calling.session import RequestOptions, open_budget, open_clients, run_tasks
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
    """Result of a run: responses by generator, conversation, seed and turn."""

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
    budget = await open_budget(generators, ledger, options)
    async with open_clients(generators, ledger, budget=budget, options=options) as clients:
        threads = {
            client: [
                _Thread(conversation, seed, client, name)
                for conversation in conversations
                for seed in client.model.declared.seeds
            ]
            for client in clients
        }
        for client, group in threads.items():
            client.summary.n_from_ledger = await _recall(group, client)
            for thread in group:
                if not thread.has_ended:  # the remaining turns are each like the next one
                    for _ in range(thread.n_left):
                        client.summary.estimate.add(thread.next_request())
        estimates = [client.summary.estimate for client in clients]
        report_estimates(estimates, left_usd=budget.left_usd, report=options.report)
        work = [
            (client, [thread.go_on for thread in group if not thread.has_ended])
            for client, group in threads.items()
        ]
        await run_tasks(work, report=options.report)
    responses = []
    for client, group in threads.items():
        generated = [response for thread in group for response in thread.responses()]
        client.summary.statuses.update(response.status for response in generated)
        responses += generated
    return GenerationSummary(
        responses=tuple(responses),
        models=tuple(client.summary for client in clients),
        counted_usd=budget.spent_usd,
        budget_left_usd=budget.left_usd,
    )


@dataclass(eq=False)
class _Thread:
    """State of one conversation with one generator for one seed."""

    conversation: Conversation
    seed: int
    client: ModelClient[Generator]
    name: ResponseName
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """Return whether every turn has a response, or one has failed for good."""
        return not self.n_left or any(outcome.status != "ok" for outcome in self.outcomes[-1:])

    @property
    def n_left(self) -> int:
        """Return the number of turns without an outcome."""
        return len(self.conversation.turns) - len(self.outcomes)

    def next_request(self) -> ModelRequest:
        """Return the request for the next turn, with the earlier ones."""
        model = self.client.model
        system = model.declared.system
        messages = [Message("system", system)] if system else []
        for turn, outcome in zip(self.conversation.turns, self.outcomes, strict=False):
            text = outcome.text if isinstance(outcome, Reply) else ""
            messages += [Message("user", turn.text), Message("assistant", text)]
        messages.append(Message("user", self.conversation.turns[len(self.outcomes)].text))
        seed = {"seed": self.seed} if model.capabilities.seed else {}
        return self.client.request(tuple(messages), settings=seed, replicate=self.seed)

    async def go_on(self) -> bool:
        """Send the remaining turns; return whether all have a response."""
        while not self.has_ended:
            turn = self.conversation.turns[len(self.outcomes)]
            response_id = self.name(self.conversation, turn, self.client.model.id, self.seed)
            subject = CallSubject("generation", response_id, replicate=self.seed)
            request = self.next_request()
            self.outcomes.append(await self.client.reply_within_budget(request, subject))
        return self.outcomes[-1].status == "ok"

    def responses(self) -> Iterable[GeneratedResponse]:
        """Yield the result of every turn."""
        missing = RequestFailed("an earlier turn has no response", status="missing")
        outcomes = itertools.chain(self.outcomes, itertools.repeat(missing))
        for turn, outcome in zip(self.conversation.turns, outcomes, strict=False):
            text, error = (outcome.text, "") if isinstance(outcome, Reply) else ("", str(outcome))
            yield GeneratedResponse(
                *(self.conversation, turn, self.client.model.id, self.seed),
                *(outcome.status, text, error),
            )


async def _recall(threads: Sequence[_Thread], client: ModelClient[Generator]) -> int:
    """Continue conversations with replies in the ledger; return their number."""
    n_stored, open_threads = 0, list(threads)
    while open_threads:
        keys = [thread.next_request().key for thread in open_threads]
        replies = await client.stored_replies(keys)
        looked_up, open_threads = zip(open_threads, keys, strict=True), []
        for thread, key in looked_up:
            if (reply := replies.get(key)) is not None:
                n_stored += 1
                thread.outcomes.append(reply)
                open_threads += [] if thread.has_ended else [thread]
    return n_stored
