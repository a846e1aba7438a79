"""The parts of official clients that vendors have in common."""

import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import httpx2

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import BatchResults, ModelRequest, Outcome, RequestFailed
from eval_assets.judges.clients.failures import (
    decoded,
    failure_of,
    mapping,
    named,
    outcome_of,
    token_count,
    translate_errors,
    unreadable,
)
from eval_assets.judges.credentials import one_line, without_keys
from eval_assets.ledger import Batch, Reply, ReplyStatus
from eval_assets.wording import storable

_PAGE_SIZE = 100
_BAD_GATEWAY = 502
_LONGEST_HOST = 100
_LONGEST_CONFLICT = 1000


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the shared context of all clients, because loading the certificates takes 40 ms."""
    return httpx2.create_ssl_context()


async def _refuse_other_hosts(response: httpx2.Response) -> None:
    """Raise RequestFailed for a redirect to another host, which would receive prompts and key."""
    if not response.has_redirect_location:
        return
    target = response.request.url.join(response.headers["location"])
    if (target.host, target.port) != (response.request.url.host, response.request.url.port):
        raise RequestFailed(
            f"{response.status_code}: {response.request.url.host} redirects to another host, "
            f"{one_line(target.host, longest=_LONGEST_HOST)}, which is not followed. Set base_url "
            "if that is the right one",
            remedy="stop",
            http_status=response.status_code,
        )


class OfficialClient(ABC):
    """The official client of a vendor; each method is one attempt, without a deadline.

    Raw bodies are read, because the client's own types fail on what servers really send. No reply
    and no failure shows any of the `keys`. The batch methods raise RequestFailed if the vendor does
    not do what is asked.
    """

    sdk_class: ClassVar[Any]
    errors: ClassVar[ModuleType]
    """The class of the SDK's client, and the SDK, which has its errors."""
    chat_path: ClassVar[str]
    batches_path: ClassVar[str]
    request_id_header: ClassVar[str]
    page_name: ClassVar[str]
    """Parameter of the batch after which a list of batches continues."""
    batch_state: ClassVar[str]
    ended_states: ClassVar[Collection[str]]
    counted_results: ClassVar[Collection[str]]
    """Field of a batch's state, its values at the end, and the counts of its results."""

    def __init__(self, *, base_url: str, api_key: str, keys: Collection[str]) -> None:
        self.keys = keys
        # Without retries (one retry policy, one ledger row per attempt) and without a timeout (the
        # caller's holds), with the SDK's own limits of connections.
        hooks = {"response": [_refuse_other_hosts]}
        client = self.errors.DefaultAsyncHttpxClient(verify=_ssl_context(), event_hooks=hooks)
        self.sdk = self.sdk_class(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None, http_client=client
        )

    @staticmethod
    @abstractmethod
    def request_body(request: ModelRequest) -> dict[str, Any]:
        """Return the body of the HTTP request, as JSON."""

    @abstractmethod
    def _has_reply(self, body: Mapping[str, Any]) -> bool:
        """Return whether a body contains a reply, also one without text."""

    @abstractmethod
    def _content_of(self, body: Mapping[str, Any]) -> tuple[str | None, ReplyStatus]:
        """Return the text of a reply, None if there is none, and the reason of its end."""

    @abstractmethod
    def _usage_of(self, usage: Mapping[str, Any]) -> Usage | None:
        """Return the vendor's counts of tokens; None if they are implausible."""

    @abstractmethod
    def _result_paths(self, batch: Mapping[str, Any]) -> Sequence[str]:
        """Return the paths of an ended batch's results."""

    @abstractmethod
    def _batched_outcome(self, result: Mapping[str, Any]) -> Outcome:
        """Return the outcome of one request of a batch."""

    def _refusal_of(self, batch: Mapping[str, Any]) -> str | None:
        """Return why a batch was refused as a whole; None if a bad request fails alone."""
        del batch
        return None

    @abstractmethod
    async def submit_batch(self, requests: Sequence[ModelRequest], *, intent_id: str) -> str:
        """Submit a batch and return the vendor's name of it; `intent_id` is our name of it."""

    @abstractmethod
    async def find_batch(self, batch: Batch, *, known_ids: Collection[str]) -> str | None:
        """Return the vendor's name of a batch that may have been submitted; None if it was not.

        `known_ids` are the names of other batches.

        Raises:
            BatchUndecided: If that is not known before another batch has ended.
        """

    async def ask(self, request: ModelRequest) -> Outcome:
        """Return the reply to a request, or the reason for its absence."""
        try:
            response = await self.send(self.chat_path, self.request_body(request))
        except RequestFailed as failure:
            return outcome_of(failure)
        return self.read_reply(response.text, response.headers.get(self.request_id_header))

    async def close(self) -> None:
        """Close the connections."""
        await self.sdk.close()

    async def send(
        self, path: str, body: Mapping[str, Any] | None = None, **params: str | int
    ) -> httpx2.Response:
        """Send a body, or read something without one; errors are RequestFailed."""
        with translate_errors(self.errors, keys=self.keys):
            if body is None:
                sending = self.sdk.get(path, options={"params": params}, cast_to=httpx2.Response)
            else:
                sending = self.sdk.post(path, body=body, cast_to=httpx2.Response)
            response: httpx2.Response = await sending
        return response

    async def collect_batch(self, batch_id: str) -> BatchResults | None:
        """Return the results of a batch; None while the vendor works on it."""
        response = await self.send(f"{self.batches_path}/{batch_id}")
        batch = self.batch_in(response, key=self.batch_state)
        if batch[self.batch_state] not in self.ended_states:
            return None
        results = [
            (key, self._batched_outcome(result))
            for path in self._result_paths(batch)
            for result in map(decoded, (await self.send(path)).text.splitlines())
            if isinstance(key := mapping(result).get("custom_id"), str)
        ]
        counts = mapping(batch.get("request_counts"))
        n_expected = sum(token_count(counts.get(name)) or 0 for name in self.counted_results)
        failure = RequestFailed("not among the results of its batch", remedy="retry")
        if (reason := self._refusal_of(batch)) is not None:
            message = named(f"the batch failed: {reason}", keys=self.keys)
            failure = RequestFailed(message, remedy="stop")
        return BatchResults(_without_conflicts(results), n_expected, failure)

    async def batches(self) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the batches of the account as the vendor describes them, the latest first."""
        after: dict[str, Any] = {}
        while True:
            response = await self.send(self.batches_path, limit=_PAGE_SIZE, **after)
            page = mapping(decoded(response.text))
            batches = page.get("data")
            if not isinstance(batches, list):
                raise unreadable(response.text, keys=self.keys)
            for batch in map(mapping, batches):
                yield batch
            if not batches or not page.get("has_more"):
                return
            after = {self.page_name: str(mapping(batches[-1]).get("id"))}

    def batch_in(self, response: httpx2.Response, *, key: str) -> Mapping[str, Any]:
        """Return the vendor's description of a batch, which must have a text under `key`."""
        batch = mapping(decoded(response.text))
        if not isinstance(batch.get(key), str):
            raise unreadable(response.text, keys=self.keys)
        return batch

    def read_reply(self, text: str, request_id: object = None) -> Outcome:
        """Return the reply in the body of a good reply of any shape.

        It is a failure if the body is not JSON, or describes an error.
        """
        body = decoded(text)
        if not isinstance(body, dict):
            return unreadable(text, keys=self.keys)
        received = storable(without_keys(text, self.keys))
        if body.get("error") and not self._has_reply(body):
            # A good status comes with a failure if a model breaks off at work.
            code = mapping(body["error"]).get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else _BAD_GATEWAY  # noqa: PLR2004
            failure = failure_of(status, body, request_id=request_id, keys=self.keys)
            failure.may_be_billed, failure.body = True, received
            return outcome_of(failure)
        content, reply_status = self._content_of(body)
        model = body.get("model")
        return Reply(
            text=received if content is None else storable(without_keys(content, self.keys)),
            status="unparsable" if content is None else reply_status,
            usage=self._usage_of(mapping(body.get("usage"))),
            model_returned=named(model, keys=self.keys) if isinstance(model, str) else None,
            request_id=named(request_id, keys=self.keys) if request_id else None,
            body=received,
            completion_id=body["id"] if isinstance(body.get("id"), str) else None,
        )


def _without_conflicts(results: Iterable[tuple[str, Outcome]]) -> dict[str, Outcome]:
    """Return the results of a batch by request key; of two different ones of a request neither."""
    outcomes: dict[str, Outcome] = {}
    for key, outcome in results:
        first = outcomes.setdefault(key, outcome)
        texts = [item.text if isinstance(item, Reply) else str(item) for item in (first, outcome)]
        if texts[0] != texts[1]:
            message = f"the batch has two results for this request: {' / '.join(texts)}"
            outcomes[key] = RequestFailed(
                one_line(message, longest=_LONGEST_CONFLICT),
                remedy="retry",
                reply=first if isinstance(first, Reply) else None,
            )
    return outcomes
