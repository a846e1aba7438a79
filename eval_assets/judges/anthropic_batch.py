"""Anthropic's message batches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import anthropic
from anthropic.types.messages import MessageBatchIndividualResponse

from eval_assets.judges.anthropic import AnthropicClient, reply_of, request_body
from eval_assets.judges.call import Call, CallFailed, Results
from eval_assets.judges.failures import failure_of, failures_told, filtered, is_filtered
from eval_assets.ledger import Reply

if TYPE_CHECKING:
    from anthropic.types.messages.batch_create_params import Request


class AnthropicBatches:
    """The batch endpoint, by the official client.

    Args:
        client: The client.
    """

    def __init__(self, client: AnthropicClient) -> None:
        self._client = client
        self._batches = client.sdk.messages.batches

    async def submit(self, calls: Sequence[Call]) -> str:
        """Submit a batch; see `BatchClient.submit`."""
        requests = [{"custom_id": call.key, "params": request_body(call)} for call in calls]
        with failures_told(anthropic, api_key=self._client.api_key):
            batch = await self._batches.create(requests=cast("list[Request]", requests))
        return batch.id

    async def has_ended(self, batch_id: str) -> bool:
        """Whether the vendor has done all it will do; see `BatchClient.has_ended`."""
        with failures_told(anthropic, api_key=self._client.api_key):
            batch = await self._batches.retrieve(batch_id)
        return batch.processing_status == "ended"

    async def collect(self, batch_id: str) -> Results:
        """Fetch what came of a batch; see `BatchClient.collect`."""
        with failures_told(anthropic, api_key=self._client.api_key):
            entries = await self._batches.results(batch_id)
            return {entry.custom_id: self._result(entry) async for entry in entries}

    def _result(self, entry: MessageBatchIndividualResponse) -> Reply | CallFailed:
        """What came of one call."""
        match entry.result.type:
            case "succeeded":
                try:
                    return reply_of(
                        entry.result.message, request_id=None, api_key=self._client.api_key
                    )
                except CallFailed as failed:
                    return failed
            case "errored":
                body = entry.result.error.model_dump()
                # Batches tell no HTTP status; the kind of error decides what it would have been.
                is_refused = entry.result.error.error.type == "invalid_request_error"
                status = 400 if is_refused else 500
                if is_filtered(status, body):
                    return filtered(None)
                return failure_of(
                    http_status=status,
                    body=body,
                    headers={},
                    request_id=entry.result.error.request_id,
                    api_key=self._client.api_key,
                )
            case other:
                return CallFailed(f"the call has {other} in its batch", remedy="retry")
