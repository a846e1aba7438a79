"""OpenAI's chat completions, which many other servers speak too."""

from typing import Any

import openai
import openai.resources.chat.completions  # else the first call does, in its own time
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

from eval_assets.judges.call import BatchClient, Call, CallFailed
from eval_assets.judges.failures import failures_told, filtered, is_filtered, without_key
from eval_assets.ledger import Reply, ReplyStatus
from eval_assets.models import Capabilities, Usage

_STATUSES: dict[str, ReplyStatus] = {"length": "truncated", "content_filter": "content_filter"}


class OpenAIClient:
    """The official client, asked once per call.

    Args:
        base_url: Endpoint, with its version: `https://api.openai.com/v1`.
        api_key: Key, which appears in no reply and no failure.
        capabilities: What the model takes.
    """

    def __init__(self, *, base_url: str, api_key: str, capabilities: Capabilities) -> None:
        self.api_key = api_key
        self.capabilities = capabilities
        # No retries: one retry policy, one ledger row per attempt. No timeout: the caller's holds.
        self.sdk = openai.AsyncOpenAI(
            api_key=api_key, base_url=base_url, max_retries=0, timeout=None
        )

    async def ask(self, call: Call) -> Reply:
        """Ask once; see `Client.ask`."""
        body = request_body(call, self.capabilities)
        with failures_told(openai, api_key=self.api_key):
            try:
                # All of it as extra body, which goes before the arguments: these know less than
                # the models do, and walking through typed messages costs a fifth of a call.
                response = await self.sdk.chat.completions.with_raw_response.create(
                    model=call.endpoint.model, messages=[], extra_body=body
                )
            except openai.BadRequestError as error:
                if is_filtered(error.status_code, error.body):
                    return filtered(error.request_id)
                raise
            completion: object = response.parse()
        request_id = response.headers.get("x-request-id")
        return reply_of(completion, request_id=request_id, api_key=self.api_key)

    def batches(self) -> BatchClient:
        """The vendor's batch endpoint."""
        from eval_assets.judges.openai_batch import OpenAIBatches  # noqa: PLC0415 - it needs this module

        return OpenAIBatches(self)

    async def close(self) -> None:
        """Close the connections."""
        await self.sdk.close()


def request_body(call: Call, capabilities: Capabilities) -> dict[str, Any]:
    """The body of the request, as JSON."""
    settings = dict(call.settings)
    body: dict[str, Any] = {
        "model": call.endpoint.model,
        "messages": [{"role": m.role, "content": m.text} for m in call.messages],
        capabilities.max_tokens_name: call.max_tokens,
    }
    if call.schema is not None:
        schema = {"name": "verdict", "strict": True, "schema": dict(call.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if (effort := settings.pop("effort", None)) is not None:
        body["reasoning_effort"] = effort
    return body | settings


def reply_of(completion: object, *, request_id: str | None, api_key: str) -> Reply:
    """What a completion says.

    Raises:
        CallFailed: If it is none: compatible servers send all sorts of things.
    """
    match completion:
        case ChatCompletion(choices=[Choice(message=ChatCompletionMessage() as message), *_]):
            status = _STATUSES.get(completion.choices[0].finish_reason, "ok")
        case _:
            raise CallFailed("the reply holds no completion", remedy="retry", may_be_billed=True)
    text = message.content or ""
    if message.refusal:
        text, status = message.refusal, "refused"
    return Reply(
        text=without_key(text, api_key),
        status=status,
        usage=_usage(completion.usage),
        model_returned=completion.model,
        request_id=request_id,
    )


def _usage(usage: CompletionUsage | None) -> Usage | None:
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=(details and details.cached_tokens) or 0,
        cache_write_tokens=(details and details.cache_write_tokens) or 0,
    )
