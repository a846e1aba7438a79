"""`eval-assets fake-provider`: a stand-in for OpenAI and Anthropic on loopback, without keys.

It answers the chat protocols of both vendors. A score follows from a hash of the text between
`<response…>` and `</response…>`, moved a little by a hash of model and prompt: two judges agree
well but not perfectly, and an equal request always gets an equal reply.
"""

import itertools
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import click

LOOPBACK: Final = "127.0.0.1"

_KEY: Final = "sk-fake-provider"
_RATIONALE: Final = "Made up by the stand-in: the score is a hash of the text, not a judgement."
_DEVIATION: Final = 0.1
"""Most that a model moves a score, as a share of the scale: interval alpha is about .9 then."""

_OPENAI: Final = "/v1/chat/completions"
_ANTHROPIC: Final = "/v1/messages"
_CHARACTERS_PER_TOKEN: Final = 4
_N_STEPS: Final = 100
"""Steps that a scale of any number is cut into."""

_RESPONSE: Final = re.compile(r"<(response[\w-]*)\b[^>]*>(.*)</\1>", re.DOTALL | re.IGNORECASE)
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_RANGE: Final = re.compile(rf"({_NUMBER}) to ({_NUMBER})")
_LISTED: Final = re.compile(rf"score is one of ({_NUMBER}(?:, {_NUMBER})*)", re.IGNORECASE)
_SCALE: Final = re.compile(rf"a number from ({_NUMBER}) to ({_NUMBER})", re.IGNORECASE)
_BARE: Final = "Reply with the number alone"


@click.command("fake-provider")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Where to listen; 0 picks a port.",
)
@click.option(
    "--latency",
    "latency_seconds",
    type=click.FloatRange(min=0),
    default=0.2,
    show_default=True,
    help="Seconds until an answer.",
)
@click.option(
    "--faults",
    "fault_share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of requests that are refused for the moment.",
)
@click.option("--model", multiple=True, hidden=True, expose_value=False)  # every name is answered
def fake_provider(*, port: int, latency_seconds: float, fault_share: float) -> None:
    """Serve a stand-in for OpenAI and Anthropic on this machine until Ctrl-C.

    It speaks both vendors' chat protocols, needs no keys, answers for any model, and makes its
    scores up: a hash of the text, not a judgement. Set the variables that it prints in the shell
    that starts the run.
    """
    from eval_assets.wording import counted

    try:
        server = StandIn(port, latency_seconds=latency_seconds, fault_share=fault_share)
    except OSError as error:
        raise click.ClickException(f"{error.strerror}: {LOOPBACK}:{port}.") from error
    with server:
        click.echo(f"Listening on {server.environment['ANTHROPIC_BASE_URL']}. Ctrl-C ends it.")
        for name, value in server.environment.items():
            click.echo(f"export {name}={value}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo(f"{counted(server.n_received, 'request')} answered.")


class StandIn(ThreadingHTTPServer):
    """The server; each connection has a thread, which ends with the process.

    A share of the requests is refused for the moment.

    Raises:
        OSError: If the port is taken.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, port: int, *, latency_seconds: float, fault_share: float) -> None:
        super().__init__((LOOPBACK, port), _Connection)
        self.latency_seconds = latency_seconds
        self._fault_share = fault_share
        self.n_received = 0
        self._numbers = itertools.count(1)

    @property
    def environment(self) -> dict[str, str]:
        """The SDKs' own variables, set so that a run in another process finds this server."""
        url = f"http://{LOOPBACK}:{self.server_port}"
        return {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": _KEY,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": _KEY,
        }

    def handle_error(self, request: object, client_address: object) -> None:
        """Report an error, except that a caller has hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def is_refused(self) -> bool:
        """Count a request; return whether it is to be refused, which depends on its number."""
        self.n_received = number = next(self._numbers)
        return _fraction("fault", str(number)) < self._fault_share


class _Connection(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"
    # Head and body leave as one packet: apart, delayed acknowledgements cost 40 ms a reply.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_refused = self.server.is_refused()
        if not (self.headers.get("x-api-key") or self.headers.get("authorization")):
            self._send_error(401, "authentication_error", "there is no API key")
        elif self.path not in (_OPENAI, _ANTHROPIC):
            self._send_error(404, "not_found_error", "the stand-in answers chat requests only")
        elif is_refused:
            self._send_error(503, "overloaded_error", "overloaded for the moment")
        else:
            try:
                model, prompt, schema = _chat(json.loads(body))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self._send_error(400, "invalid_request_error", f"malformed request: {error!r}")
                return
            time.sleep(self.server.latency_seconds)
            text = _reply_text(model, prompt, schema)
            self._send(200, _reply(self.path, model, prompt, text))

    def do_GET(self) -> None:
        """Refuse everything else, such as batches."""
        self._send_error(404, "not_found_error", "the stand-in answers chat requests only")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Keep the terminal free of a line for each request."""

    def _send_error(self, status: int, kind: str, message: str) -> None:
        self._send(status, {"type": "error", "error": {"type": kind, "message": message}})

    def _send(self, status: int, value: Mapping[str, object]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _reply_text(model: str, prompt: str, schema: Mapping[str, Any]) -> str:
    """Return a rating if the schema or prompt ask for one, else a text."""
    scores = _scores(prompt, schema)
    if not scores:
        return f"This text was made up in place of {model}: {_digest(model, prompt)}"
    responses = _RESPONSE.findall(prompt)  # the last: instructions show what the marks look like
    subject = responses[-1][1].strip() if responses else prompt
    taste = 2 * _fraction("taste", model, prompt) - 1
    position = _fraction("quality", subject) + _DEVIATION * taste
    index = min(max(int(position * len(scores)), 0), len(scores) - 1)
    if _BARE in prompt:
        return json.dumps(scores[index])
    return json.dumps({"rationale": _RATIONALE, "score": scores[index]})


def _scores(prompt: str, schema: Mapping[str, Any]) -> Sequence[object]:
    """Return the scores that a schema or else a prompt allows, lowest first; none if none."""
    score = schema.get("properties", {}).get("score")
    if score is None:
        if listed := _LISTED.search(prompt):
            return [json.loads(value) for value in listed[1].split(", ")]
        bounds = _SCALE.search(prompt)
        if bounds is None:
            return []
        score = {}
    elif "enum" in score:
        return list(score["enum"])
    else:
        bounds = _RANGE.search(score.get("description", ""))
    low, high = map(float, bounds.groups()) if bounds else (0.0, 1.0)
    low, high = score.get("minimum", low), score.get("maximum", high)
    return [round(low + (high - low) * step / _N_STEPS, 9) for step in range(_N_STEPS + 1)]


def _chat(body: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    """Return the model, prompt and schema of a request in either protocol."""
    openai_form = (body.get("response_format") or {}).get("json_schema")
    form = openai_form or (body.get("output_config") or {}).get("format") or {}
    contents = [body.get("system", ""), *(message["content"] for message in body["messages"])]
    # A content is a string, or a list of text blocks.
    prompt = "\n".join(
        "\n".join(block["text"] for block in content) if isinstance(content, list) else str(content)
        for content in contents
    )
    return str(body["model"]), prompt, form.get("schema") or {}


def _reply(path: str, model: str, prompt: str, text: str) -> dict[str, object]:
    name = _digest(model, prompt)[:24]
    n_input, n_output = (-(-len(part) // _CHARACTERS_PER_TOKEN) for part in (prompt, text))
    if path == _ANTHROPIC:
        return {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": n_input, "output_tokens": n_output},
        }
    message = {"role": "assistant", "content": text, "refusal": None}
    usage = {"prompt_tokens": n_input, "completion_tokens": n_output}
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage | {"total_tokens": n_input + n_output},
    }


def _fraction(*parts: str) -> float:
    """Return a number in [0, 1), the same for the same parts on every machine."""
    return int(_digest(*parts)[:16], 16) / 2**64


def _digest(*parts: str) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
