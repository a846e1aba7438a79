"""OpenAI's batches: calls are uploaded as a file of lines, results are files of lines."""

import json
from collections.abc import Sequence
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from eval_assets.judges.call import Call, CallFailed, Results
from eval_assets.judges.failures import failure_of, failures_told, filtered, is_filtered
from eval_assets.judges.openai import OpenAIClient, reply_of, request_body
from eval_assets.ledger import Reply

_ENDED = ("completed", "expired", "cancelled", "failed")


class OpenAIBatches:
    """The batch endpoint, by the official client.

    Args:
        client: The client.
    """

    def __init__(self, client: OpenAIClient) -> None:
        self._client = client
        self._sdk = client.sdk

    async def submit(self, calls: Sequence[Call]) -> str:
        """Submit a batch; see `BatchClient.submit`."""
        lines = [
            json.dumps(
                {
                    "custom_id": call.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": request_body(call, self._client.capabilities),
                }
            )
            for call in calls
        ]
        with failures_told(openai, api_key=self._client.api_key):
            file = await self._sdk.files.create(
                file=("calls.jsonl", "\n".join(lines).encode()), purpose="batch"
            )
            batch = await self._sdk.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
        return batch.id

    async def has_ended(self, batch_id: str) -> bool:
        """Whether the vendor has done all it will do; see `BatchClient.has_ended`."""
        with failures_told(openai, api_key=self._client.api_key):
            batch = await self._sdk.batches.retrieve(batch_id)
        return batch.status in _ENDED

    async def collect(self, batch_id: str) -> Results:
        """Fetch what came of a batch; see `BatchClient.collect`."""
        with failures_told(openai, api_key=self._client.api_key):
            batch = await self._sdk.batches.retrieve(batch_id)
            files = [
                await self._sdk.files.content(file)
                for file in (batch.output_file_id, batch.error_file_id)
                if file
            ]
        lines = [json.loads(line) for file in files for line in file.text.splitlines() if line]
        return {line["custom_id"]: self._result(line) for line in lines}

    def _result(self, line: dict[str, Any]) -> Reply | CallFailed:
        """What came of one call."""
        response = line.get("response")
        if response is None:
            what = (line.get("error") or {}).get("message", "no reply in the batch")
            return CallFailed(what, remedy="retry")
        status, body, request_id = (
            response["status_code"],
            response["body"],
            response.get("request_id"),
        )
        if status != 200:  # noqa: PLR2004 - HTTP's number for a good answer
            if is_filtered(status, body):
                return filtered(request_id)
            return failure_of(
                http_status=status,
                body=body,
                headers={},
                request_id=request_id,
                api_key=self._client.api_key,
            )
        try:
            with failures_told(openai, api_key=self._client.api_key):
                completion = ChatCompletion.model_validate(body)
            return reply_of(completion, request_id=request_id, api_key=self._client.api_key)
        except CallFailed as failed:
            return failed
