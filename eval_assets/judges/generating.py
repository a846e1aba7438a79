"""Generating: the prompts go to the models under test, turn by turn, by the judges' machinery."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from eval_assets.conversation import Conversation, Turn
from eval_assets.evaluation import Evaluation, Generator
from eval_assets.judges.call import Call, Message
from eval_assets.judges.caller import Caller, Outcome, Subject
from eval_assets.judges.lane import Lane
from eval_assets.judges.live import LiveModel, live_model
from eval_assets.judges.progress import Estimate
from eval_assets.judges.run import Job, RunOptions, budget_for, open_lanes, run_jobs
from eval_assets.judges.verdict import Status
from eval_assets.ledger import Ledger


@dataclass(frozen=True)
class LiveGenerator:
    """A generator that can be called.

    Args:
        model: Its model.
        system: System prompt; empty for none.
        seeds: One answer is made for each.
    """

    model: LiveModel
    system: str = ""
    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class GeneratedResponse:
    """What a generator answered to one turn, or why it did not.

    Args:
        conversation: The conversation.
        turn: Its turn.
        generator_id: Who answered.
        seed: For which seed.
        status: `ok` for a whole answer; only then it is one to be judged.
        text: The answer; of a refused or cut-off one what there is.
        error: What went wrong where there is no answer.
    """

    conversation: Conversation
    turn: Turn
    generator_id: str
    seed: int
    status: Status
    text: str
    error: str


@dataclass(frozen=True)
class GenerationSummary:
    """What came of a run.

    Args:
        responses: One a turn, generator and seed.
        n_attempts: Calls made in this run, retries included.
        n_from_ledger: Answers that were made before.
        spent_usd: Cost in this run; None where some of it is not known.
        budget_left_usd: What the run might still have spent; None without a cap.
        estimates: What was expected of each generator.
        stopped: Generators that were stopped early, with the reason.
    """

    responses: tuple[GeneratedResponse, ...]
    n_attempts: int
    n_from_ledger: int
    spent_usd: float | None
    budget_left_usd: float | None
    estimates: tuple[Estimate, ...]
    stopped: Mapping[str, str]


ResponseName = Callable[[Conversation, Turn, str, int], str]
"""Id of the response to a turn by a generator for a seed."""


def live_generators(
    evaluation: Evaluation, *, environ: Mapping[str, str], today: date
) -> list[LiveGenerator]:
    """Make the declared generators ready.

    Args:
        evaluation: Where they, and other prices and capabilities, are declared.
        environ: Environment, which may name other endpoints.
        today: Day whose prices hold.
    """

    def ready(generator: Generator) -> LiveModel:
        return live_model(
            generator, evaluation=evaluation, defaults={}, environ=environ, today=today
        )

    return [
        LiveGenerator(ready(generator), generator.system, generator.seeds)
        for generator in evaluation.generators
    ]


async def generate_responses(
    conversations: Sequence[Conversation],
    generators: Sequence[LiveGenerator],
    ledger: Ledger,
    *,
    name: ResponseName,
    options: RunOptions,
) -> GenerationSummary:
    """Ask every generator every prompt, except for what the ledger already answers.

    A later turn is asked with the answers to the earlier ones before it; where one of them failed
    it is not asked, because nobody would have said it.

    Args:
        conversations: The prompts.
        generators: Who answers.
        ledger: Where attempts are kept, across runs.
        name: Id of a response.
        options: How the run goes.

    Raises:
        InputError: If the run is capped and a generator's price is not known.
    """
    models = [generator.model for generator in generators]
    budget = budget_for(models, options)
    async with open_lanes(models, ledger, budget=budget, options=options) as (caller, lanes):
        threads = [
            [
                _Thread(conversation, generator, seed, lane=lane, caller=caller, name=name)
                for conversation in conversations
                for seed in generator.seeds
            ]
            for generator, lane in zip(generators, lanes, strict=True)
        ]
        n_from_ledger = await _recall([each for group in threads for each in group], caller)
        estimates = tuple(
            _estimate(model, group) for model, group in zip(models, threads, strict=True)
        )
        for estimate in estimates:
            options.report(estimate)
        jobs = [(lane, _jobs(group)) for lane, group in zip(lanes, threads, strict=True)]
        await run_jobs(jobs, options=options)
    return GenerationSummary(
        responses=tuple(r for group in threads for thread in group for r in thread.responses()),
        n_attempts=sum(lane.n_attempts for lane in lanes),
        n_from_ledger=n_from_ledger,
        spent_usd=None if any(lane.n_unpriced for lane in lanes) else budget.spent_usd,
        budget_left_usd=None if options.budget_usd is None else budget.left_usd,
        estimates=estimates,
        stopped={lane.model.id: lane.stopped for lane in lanes if lane.stopped},
    )


class _Thread:
    """One conversation with one generator for one seed, as far as it has come."""

    def __init__(  # noqa: PLR0913 - what a conversation is, and by whom it is held
        self,
        conversation: Conversation,
        generator: LiveGenerator,
        seed: int,
        *,
        lane: Lane,
        caller: Caller,
        name: ResponseName,
    ) -> None:
        self._conversation = conversation
        self._generator = generator
        self._seed = seed
        self._lane = lane
        self._caller = caller
        self._name = name
        self._outcomes: list[Outcome] = []

    @property
    def has_ended(self) -> bool:
        """Whether every turn is answered, or one of them never will be."""
        failed = bool(self._outcomes) and self._outcomes[-1].status != "ok"
        return failed or len(self._outcomes) == len(self._conversation.turns)

    @property
    def n_turns_left(self) -> int:
        """Turns still to be asked, if all goes well."""
        return 0 if self.has_ended else len(self._conversation.turns) - len(self._outcomes)

    def next_call(self) -> Call:
        """The next turn, with all that was said before it."""
        model = self._generator.model
        messages = [Message("system", self._generator.system)] if self._generator.system else []
        for turn, outcome in zip(self._conversation.turns, self._outcomes, strict=False):
            messages += [Message("user", turn.text), Message("assistant", outcome.text)]
        messages.append(Message("user", self._next_turn().text))
        seed = {"seed": self._seed} if model.capabilities.seed else {}
        return Call(
            endpoint=model.endpoint,
            messages=tuple(messages),
            settings={**model.settings, **seed},
            max_tokens=model.max_tokens,
            replicate=self._seed,
        )

    def recall(self) -> bool:
        """Take the next answer from what was looked up; tell whether it was there."""
        outcome = self._caller.stored(self.next_call().key)
        if outcome is not None:
            self._outcomes.append(outcome)
        return outcome is not None

    async def go_on(self) -> bool:
        """Ask the turns that are left; tell whether all are answered."""
        while not self.has_ended:
            turn = self._next_turn()
            response_id = self._name(self._conversation, turn, self._generator.model.id, self._seed)
            subject = Subject("generation", response_id, replicate=self._seed)
            self._outcomes.append(await self._caller.ask(self.next_call(), self._lane, subject))
        return self._outcomes[-1].status == "ok"

    def responses(self) -> Iterable[GeneratedResponse]:
        """What came of every turn."""
        unasked = Outcome("missing", error="an earlier turn was not answered")
        for place, turn in enumerate(self._conversation.turns):
            outcome = self._outcomes[place] if place < len(self._outcomes) else unasked
            yield GeneratedResponse(
                conversation=self._conversation,
                turn=turn,
                generator_id=self._generator.model.id,
                seed=self._seed,
                status=outcome.status,
                text=outcome.text,
                error=outcome.error,
            )

    def _next_turn(self) -> Turn:
        return self._conversation.turns[len(self._outcomes)]


async def _recall(threads: Sequence[_Thread], caller: Caller) -> int:
    """Bring conversations as far as the ledger does; return how many answers it held."""
    n_found, open_threads = 0, list(threads)
    while open_threads:
        await caller.look_up([thread.next_call().key for thread in open_threads])
        found = [thread for thread in open_threads if thread.recall()]
        n_found += len(found)
        open_threads = [thread for thread in found if not thread.has_ended]
    return n_found


def _estimate(model: LiveModel, threads: Sequence[_Thread]) -> Estimate:
    """What the turns left will come to, each taken for as long as the next one."""
    estimate = Estimate(model)
    for thread in threads:
        for _ in range(thread.n_turns_left):
            estimate.add(thread.next_call())
    return estimate


def _jobs(threads: Sequence[_Thread]) -> list[Job]:
    return [partial(_Thread.go_on, thread) for thread in threads if not thread.has_ended]
