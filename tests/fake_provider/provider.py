"""The provider behind the server: which request gets which answer."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from tests.fake_provider.chance import digest, fraction
from tests.fake_provider.completions import completion_of, n_tokens
from tests.fake_provider.exchange import (
    Answer,
    ProviderError,
    Reply,
    Request,
    Silence,
    json_bytes,
    json_object,
    json_reply,
)
from tests.fake_provider.log import ReceivedRequest, RequestLog
from tests.fake_provider.models import Model
from tests.fake_provider.odd_shapes import odd_bytes
from tests.fake_provider.rate_limit import SlidingWindow
from tests.fake_provider.vendors.anthropic import ANTHROPIC
from tests.fake_provider.vendors.anthropic_batches import AnthropicBatches
from tests.fake_provider.vendors.batches import EntryResult
from tests.fake_provider.vendors.compatible import refusal, rewritten
from tests.fake_provider.vendors.model_lists import models_reply
from tests.fake_provider.vendors.openai import OPENAI
from tests.fake_provider.vendors.openai_batches import OpenAIBatches

if TYPE_CHECKING:
    from datetime import date

    from tests.fake_provider.behaviour import Behaviour
    from tests.fake_provider.exchange import JsonObject
    from tests.fake_provider.faults import FaultKind
    from tests.fake_provider.questions import Question
    from tests.fake_provider.vendors.wire import Wire

_COMPLETIONS: Final = {"/v1/chat/completions": OPENAI, "/v1/messages": ANTHROPIC}
_HTML_PAGE: Final = b"<html><body><h1>This is a gateway, not the API.</h1></body></html>"


class FakeProvider:
    """Two vendors behind one address, answering by a rule and misbehaving on demand.

    What goes wrong, and every answer, follow from what is asked and how often it was asked before,
    not from the order of arrival; only `script` in the faults counts arrivals.

    Args:
        behaviour: How it behaves; can be set again at any time, which starts scripts and rate
            limits afresh.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.log = RequestLog(behaviour.log_size)
        self.behaviour = behaviour
        self._n_asked: Counter[str] = Counter()
        self._cached: set[str] = set()
        self._openai_batches = OpenAIBatches(partial(self._entry_result, OPENAI))
        self._anthropic_batches = AnthropicBatches(partial(self._entry_result, ANTHROPIC))

    @property
    def behaviour(self) -> Behaviour:
        """How it behaves now."""
        return self._behaviour

    @behaviour.setter
    def behaviour(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self.may_shift = True
        self._models = {model.id: model for model in behaviour.models}
        self._n_by_key: Counter[str | None] = Counter()
        self._windows: dict[tuple[str | None, str], SlidingWindow] = {}

    def answer(self, request: Request) -> Answer:
        """Return the answer to a request, which is also kept in the log."""
        at_seconds, key = time.monotonic(), request.key
        wire = _wire_of(request)
        ask = self._ask(request.path, request.body)
        fault = self._behaviour.faults.hitting(
            key=key,
            n_before=self._n_by_key[key],
            content=ask.content,
            attempt=ask.attempt,
            completion=request.body if request.path in _COMPLETIONS else None,
        )
        self._n_by_key[key] += 1
        answer = self._answered(request, wire, ask, fault)
        self.log.add(
            ReceivedRequest(
                at_seconds=at_seconds,
                request_id=ask.request_id,
                vendor=wire.vendor,
                method=request.method,
                path=request.path,
                key=key,
                body=request.body,
                fault=fault,
                status=answer.status if isinstance(answer, Reply) else None,
            )
        )
        return answer

    def _ask(self, *parts: str | bytes) -> _Ask:
        content = digest(*parts)
        self._n_asked[content] += 1
        return _Ask(content, self._n_asked[content])

    def _answered(self, request: Request, wire: Wire, ask: _Ask, fault: FaultKind | None) -> Answer:
        if fault == "hang" or fault == "reset":  # noqa: PLR1714 - narrows the type
            return Silence(fault)
        try:
            self._raise_error(fault if request.key else "unauthorized")
            reply = self._routed(request, wire, ask, fault)
        except ProviderError as problem:
            reply = _error_reply(problem, wire, ask)
        named = {**reply.headers, wire.request_id_header: ask.request_id}
        return replace(reply, headers=named, request_id=ask.request_id)

    def _raise_error(self, fault: FaultKind | None) -> None:
        match fault:
            case "rate_limit":
                wait = self._behaviour.retry_after_seconds
                raise ProviderError("rate_limit", retry_after_seconds=wait)
            case "rate_limit_without_hint":
                raise ProviderError("rate_limit")
            case (
                "unavailable"
                | "overloaded"
                | "server_error"
                | "bad_request"
                | "unauthorized"
                | "forbidden"
                | "quota"
                | "no_credit"
            ):
                raise ProviderError(fault)

    def _routed(self, request: Request, wire: Wire, ask: _Ask, fault: FaultKind | None) -> Reply:
        match (request.method, *request.path.split("/")[1:]):
            case ("POST", "v1", "chat", "completions") | ("POST", "v1", "messages"):
                return self._completion_reply(request, wire, ask, fault)
            case (_, "v1", "messages", "batches", *_):
                return self._anthropic_batches.answer(request, self._behaviour)
            case (_, "v1", "files" | "batches", *_):
                return self._openai_batches.answer(request, self._behaviour)
            case ("GET", "v1", "models", *names) if len(names) <= 1:
                return models_reply(
                    self._behaviour.models,
                    vendor=wire.vendor,
                    name=names[0] if names else None,
                    today=self._today,
                )
        raise ProviderError("not_found", f"Unknown request URL: {request.method} {request.path}.")

    def _completion_reply(
        self, request: Request, wire: Wire, ask: _Ask, fault: FaultKind | None
    ) -> Reply:
        requested, like = (
            json_object(request.body),
            self._behaviour.like if wire is OPENAI else None,
        )
        if like and (refused := refusal(requested, like)):
            return refused
        question = wire.read(requested, self._live_model)
        headers = self._admit(request.key, wire, question)
        if fault == "html_page":
            return Reply(200, _HTML_PAGE, headers, content_type="text/html")
        reply = self._completed(question, wire, ask, fault, in_batch=False)
        if like:
            reply = rewritten(reply, like)
        odd = fault == "odd_shape"
        body = odd_bytes(reply, at=fraction("odd", ask.content)) if odd else json_bytes(reply)
        return Reply(200, body, headers, delay_seconds=self._delay_seconds(ask))

    def _delay_seconds(self, ask: _Ask) -> float:
        latency, jitter = self._behaviour.latency_seconds, self._behaviour.jitter_seconds
        if jitter == 0:
            return latency
        return max(latency + jitter * (2 * fraction("jitter", ask.content, ask.attempt) - 1), 0.0)

    def _completed(
        self, question: Question, wire: Wire, ask: _Ask, fault: FaultKind | None, *, in_batch: bool
    ) -> JsonObject:
        cacheable = question.cacheable and digest(question.model, question.cacheable)
        completion = completion_of(
            question,
            id_=digest("duplicate")[:24] if fault == "duplicate" else ask.id,
            fault=fault,
            planted=self._behaviour.planted,
            cache_hit=cacheable in self._cached,
            in_batch=in_batch,
        )
        self._cached.add(cacheable)
        return wire.written(completion)

    def _admit(self, key: str | None, wire: Wire, question: Question) -> dict[str, str]:
        """Return the headers that say where the key stands, if it is within its limit."""
        limit = self._behaviour.limit
        if limit is None:
            return {}
        window = self._windows.setdefault((key, question.model), SlidingWindow(limit))
        allowance = window.ask(now=time.monotonic(), input_tokens=n_tokens(question.prompt))
        if allowance.wait_seconds > 0:
            raise ProviderError("rate_limit", retry_after_seconds=allowance.wait_seconds)
        return wire.limit_headers(limit, allowance)

    def _entry_result(self, wire: Wire, custom_id: str, body: JsonObject) -> EntryResult:
        """Return the result of an entry of a batch."""
        text = json_bytes(body)
        ask = self._ask("batch", text)
        fault = self._behaviour.faults.hitting(
            key=None, n_before=0, content=ask.content, attempt=ask.attempt, completion=text
        )
        if fault == "hang":
            return EntryResult(custom_id, ask.request_id, None, ({},))
        try:
            self._raise_error("server_error" if fault in {"reset", "html_page"} else fault)
            question = wire.read(body, self._live_model)
            status, answer = 200, self._completed(question, wire, ask, fault, in_batch=True)
            bodies = (answer, answer) if fault == "duplicate" else (answer,)
            if fault == "conflict":
                bodies = (answer, self._completed(question, wire, ask, "prose", in_batch=True))
        except ProviderError as problem:
            status, answer = wire.error(problem, ask.request_id)
            bodies = (answer,)
        return EntryResult(custom_id, ask.request_id, status, bodies)

    def _live_model(self, name: str) -> Model | None:
        model = self._models.get(name)
        if model is None and self._behaviour.like:
            return Model(name, "openai", takes="both")
        return None if model is None or model.has_ended(self._today) else model

    @property
    def _today(self) -> date:
        return self._behaviour.today or datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class _Ask:
    """A fingerprint of what is asked, and which time it is."""

    content: str
    attempt: int

    @property
    def id(self) -> str:
        return digest(self.content, self.attempt)[:24]

    @property
    def request_id(self) -> str:
        return f"req_{self.id}"


def _wire_of(request: Request) -> Wire:
    """Return a request's wire format; the models endpoint has one path for both vendors."""
    if "anthropic-version" in request.headers or request.path.startswith("/v1/messages"):
        return ANTHROPIC
    return OPENAI


def _error_reply(problem: ProviderError, wire: Wire, ask: _Ask) -> Reply:
    status, body = wire.error(problem, ask.request_id)
    reply = json_reply(body, status=status)
    if problem.retry_after_seconds is None:
        return reply
    # To the millisecond, where the vendors round up to whole seconds: a test need not wait so long.
    return replace(reply, headers={"retry-after": f"{problem.retry_after_seconds:.3f}"})
