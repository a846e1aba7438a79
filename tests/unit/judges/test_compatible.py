"""Servers that speak OpenAI's format and take less of it than OpenAI: learnt from a refusal."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.client import RetryPolicy
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.judging import JudgingSummary, judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from tests.unit.judges.clients.scripted import KEY, ScriptedServer, scripted
from tests.unit.judges.conftest import IMPATIENT, QUESTION, MemoryLedger, units


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted("openai") as running:
        yield running


def refusal(message: str, *, status: int = 400, param: str | None = None) -> tuple[int, bytes]:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return status, json.dumps({"error": error}).encode()


def rating(score: int = 3) -> tuple[int, bytes]:
    choice = {
        "message": {"role": "assistant", "content": json.dumps({"rationale": "", "score": score})},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return 200, json.dumps({"choices": [choice], "usage": usage, "model": "m"}).encode()


async def judging(
    server: ScriptedServer,
    to_rate: list[Unit],
    ledger: MemoryLedger | None = None,
    model: str = "our-model",
    retry: RetryPolicy = IMPATIENT,
) -> JudgingSummary:
    judge = Judge("own", "openai", model, base_url=f"{server.base_url}/v1")
    evaluation = Evaluation("test", Path(), (QUESTION,), judges=(judge,))
    return await judge_portions(
        [to_rate],
        live_models(evaluation, evaluation.live_judges, environ={}, today=date(2026, 11, 21)),
        ledger or MemoryLedger(),
        template=PromptTemplate.load(None),
        options=RequestOptions({"own": KEY}, report=lambda _: None, retry=retry),
    )


def judge_all(
    server: ScriptedServer,
    to_rate: list[Unit],
    ledger: MemoryLedger | None = None,
    model: str = "our-model",
) -> JudgingSummary:
    return server.loop.run_until_complete(judging(server, to_rate, ledger, model))


def test_a_reply_without_usage_is_charged_by_estimate_with_the_difference(
    server: ScriptedServer,
) -> None:
    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        del body
        return 200, json.dumps({"choices": [{"message": {"content": '{"score": 1}'}}]}).encode()

    server.respond = respond
    ledger = MemoryLedger()
    summary = judge_all(server, units(3), ledger, model="gpt-6-luna")
    assert summary.models[0].spent_usd is None
    assert [attempt.cost_usd for attempt in ledger.attempts] == [None] * 3
    # The output that each may have had, 4,096 tokens at 0.50 USD a million, is the difference.
    assert summary.counted_usd == pytest.approx(summary.models[0].estimated_usd)
    assert summary.counted_usd > 0
    assert summary.counted_usd + summary.models[0].uncertain_usd > 3 * 4096 * 0.5e-6


def test_a_schema_that_is_refused_becomes_json_mode_and_then_plain_text(
    server: ScriptedServer,
) -> None:
    kinds: list[str | None] = []

    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        kind = body.get("response_format", {}).get("type")
        kinds.append(kind)
        return refusal("This response_format type is unavailable now") if kind else rating()

    server.respond = respond
    assert [s.status for s in judge_all(server, units(1)).scores] == ["ok"]
    assert kinds == ["json_schema", "json_object", None]


def test_what_was_refused_once_is_not_sent_again_in_the_run(server: ScriptedServer) -> None:
    def deepseek(body: dict[str, Any]) -> tuple[int, bytes]:
        if body["response_format"]["type"] == "json_schema":
            return refusal("This response_format type is unavailable now")
        return rating()

    server.respond = deepseek
    summary = judge_all(server, units(100))
    assert {score.status for score in summary.scores} == {"ok"}
    # Those in flight together learn it together; a window holds at most 16 at first.
    assert 100 < len(server.received) <= 100 + 32


def test_what_was_refused_once_is_known_to_later_runs(server: ScriptedServer) -> None:
    def mistral(body: dict[str, Any]) -> tuple[int, bytes]:
        if body["response_format"]["type"] == "json_schema":
            return refusal("json_schema is not supported")
        return rating()

    server.respond = mistral
    ledger = MemoryLedger()
    judge_all(server, units(1), ledger)
    assert len(server.received) == 2
    summary = judge_all(server, units(3), ledger)
    assert {score.status for score in summary.scores} == {"ok"}
    assert len(server.received) == 4  # two new units, one request each
    assert summary.models[0].n_from_ledger == 1


@pytest.mark.parametrize(
    ("model", "name", "message", "param"),
    [
        ("our-model", "temperature", "Unsupported value: only 1 is supported", "temperature"),
        ("gpt-6-luna", "reasoning_effort", "Unrecognized request argument: reasoning_effort", None),
        ("our-model", "max_tokens", "Use 'max_completion_tokens' instead", "max_tokens"),
        ("gpt-6-luna", "max_completion_tokens", "unknown field max_completion_tokens", None),
    ],
)
def test_a_setting_that_is_refused_is_left_out(
    server: ScriptedServer, model: str, name: str, message: str, param: str | None
) -> None:
    server.respond = lambda body: refusal(message, param=param) if name in body else rating()
    assert [score.status for score in judge_all(server, units(1), model=model).scores] == ["ok"]
    assert [name in body for body in server.received] == [True, False]
    assert any("max" in key for key in server.received[-1])


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("System role not supported", 400),
        ("Only user and assistant roles are supported!", 400),
        ("Jinja Exception: Conversation roles must alternate user/assistant/user/...", 500),
    ],
)
def test_a_system_message_that_is_refused_goes_before_the_users(
    server: ScriptedServer, message: str, status: int
) -> None:
    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        if body["messages"][0]["role"] == "system":
            return refusal(message, status=status)
        return rating()

    server.respond = respond
    assert [score.status for score in judge_all(server, units(1)).scores] == ["ok"]
    first, second = (body["messages"] for body in server.received)
    assert second == [
        {"role": "user", "content": f"{first[0]['content']}\n\n{first[1]['content']}"}
    ]


def test_one_refused_unit_among_answered_ones_teaches_nothing(server: ScriptedServer) -> None:
    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        if "list_40)" in body["messages"][1]["content"]:
            return refusal("Invalid prompt: 'set temperature of response_format'")
        return rating()

    server.respond = respond
    summary = judge_all(server, units(60))
    assert {s.status for s in summary.scores if s.response_id != "r40"} == {"ok"}
    assert [s.status for s in summary.scores if s.response_id == "r40"] == ["api_error"]
    assert len(server.received) == 60
    assert all(body["response_format"]["type"] == "json_schema" for body in server.received)


def test_a_part_is_not_given_up_if_leaving_it_out_does_not_help(server: ScriptedServer) -> None:
    server.respond = lambda _: refusal("temperature and response_format are wrong, as is the rest")
    summary = judge_all(server, units(1))
    assert [score.status for score in summary.scores] == ["api_error"]
    assert len(server.received) == 4  # as it is, without schema, without JSON, without temperature


def test_a_403_about_one_input_marks_that_unit_and_does_not_stop_the_judge(
    server: ScriptedServer,
) -> None:
    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        text = body["messages"][1]["content"]
        if "list_2)" in text:
            return refusal("Your input was flagged by moderation", status=403)
        return refusal("Forbidden", status=403) if "list_50)" in text else rating()

    server.respond = respond
    summary = judge_all(server, units(60))
    statuses = {score.response_id: score.status for score in summary.scores}
    assert (statuses.pop("r2"), statuses.pop("r50")) == ("content_filter", "api_error")
    assert set(statuses.values()) == {"ok"}
    assert summary.models[0].stopped == ""


def test_a_403_for_every_request_stops_the_judge(server: ScriptedServer) -> None:
    server.respond = lambda _: refusal("Your key may not use this model", status=403)
    (judge,) = judge_all(server, units(60)).models
    assert judge.stopped.startswith("403")
    assert judge.n_attempts <= 16


def test_a_key_that_loses_its_rights_on_the_way_stops_the_judge_in_the_end(
    server: ScriptedServer,
) -> None:
    server.respond = lambda _: (
        rating() if len(server.received) <= 30 else refusal("Forbidden", status=403)
    )
    (judge,) = judge_all(server, units(500)).models
    assert judge.statuses["ok"] == 30
    assert "26 requests in a row failed" in judge.stopped  # one more for each five replies
    assert judge.n_attempts < 300


def test_everything_that_arrives_is_kept_as_it_was_received(server: ScriptedServer) -> None:
    bodies = [
        (500, b'{"error": {"message": "busy"}}'),
        (200, b'{"error": {"message": "broke off", "code": 502}}'),
        (200, b"<html>a gateway</html>"),
        (200, b'{"choices": [{"message": {"content": 3}}], "usage": null}'),
        rating(),
    ]
    replies = iter(bodies)
    server.respond = lambda _: next(replies)
    ledger = MemoryLedger()
    judge_all(server, units(1), ledger)

    assert [attempt.raw_reply for attempt in ledger.attempts] == [
        body.decode() for _, body in bodies
    ]
    statuses = [attempt.status for attempt in ledger.attempts]
    assert statuses == ["api_error", "api_error", "api_error", "unparsable", "ok"]


LLAMA_CPP = (
    "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    "'msg': \"Input should be 'text' or 'json_object'\"}]"
)


def kind_of_reply(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "text"))


@pytest.mark.parametrize(
    ("message", "status", "n_extra"),
    [(LLAMA_CPP, 500, 1), ("Internal Server Error", 500, 2), ("not in this build", 501, 2)],
)
def test_an_unknown_server_is_asked_once_until_it_takes_a_form(
    server: ScriptedServer, message: str, status: int, n_extra: int
) -> None:
    server.respond = lambda body: (
        refusal(message, status=status) if kind_of_reply(body) == "json_schema" else rating()
    )
    ledger = MemoryLedger()
    summary = judge_all(server, units(12), ledger)
    assert {score.status for score in summary.scores} == {"ok"}
    forms = [kind_of_reply(body) for body in server.received]
    assert forms == ["json_schema"] * n_extra + ["json_object"] * 12

    server.received.clear()
    judge_all(server, units(13), ledger)
    assert [kind_of_reply(body) for body in server.received] == ["json_object"]


def test_text_is_the_last_form(server: ScriptedServer) -> None:
    server.respond = lambda body: (
        refusal("grammar is not available", status=501) if "response_format" in body else rating()
    )
    assert {score.status for score in judge_all(server, units(5)).scores} == {"ok"}
    forms = [kind_of_reply(body) for body in server.received]
    assert forms == ["json_schema", "json_object"] + ["text"] * 5


def test_a_server_that_hangs_up_over_a_form_is_asked_in_another(server: ScriptedServer) -> None:
    def respond(body: dict[str, Any]) -> tuple[int, bytes]:
        if "response_format" in body:
            raise ConnectionError
        return rating()

    server.respond = respond
    assert {score.status for score in judge_all(server, units(3)).scores} == {"ok"}
    forms = [kind_of_reply(body) for body in server.received]
    assert forms == ["json_schema"] * 2 + ["json_object"] * 2 + ["text"] * 3


def test_a_server_whose_replies_to_a_form_are_empty_is_asked_in_another(
    server: ScriptedServer,
) -> None:
    empty = 200, b'{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}'
    server.respond = lambda body: empty if "response_format" in body else rating()
    ledger = MemoryLedger()
    assert {score.status for score in judge_all(server, units(3), ledger).scores} == {"ok"}
    forms = [kind_of_reply(body) for body in server.received]
    assert forms == ["json_schema", "json_object"] + ["text"] * 3
    assert len(ledger.attempts) == 5  # what was paid is stored

    server.respond = lambda _: empty
    other = MemoryLedger()
    judge_all(server, units(1), other)
    assert not any(other.refused.values())


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "See OPENAI_API_KEY"), (403, "See OPENAI_API_KEY"), (404, "See model and base_url")],
)
def test_a_judge_that_is_stopped_names_what_to_look_at(
    server: ScriptedServer, status: int, remedy: str
) -> None:
    server.respond = lambda _: refusal("no", status=status)
    assert judge_all(server, units(2)).models[0].stopped.endswith(f": no. {remedy}")


def test_a_long_wait_that_a_server_asks_for_is_told_once(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.further_headers = b"retry-after: 86400\r\n"
    server.respond = lambda _: refusal("too many", status=429)

    async def interrupted() -> None:
        run = asyncio.create_task(judging(server, units(2), retry=RetryPolicy()))
        while not (run.done() or "waits" in caplog.text):  # noqa: ASYNC110 - a log has no events
            await asyncio.sleep(0.01)
        run.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await run

    server.loop.run_until_complete(interrupted())
    assert "own waits 120 s: 429 invalid_request_error: too many" in caplog.text


def test_errors_of_a_server_that_has_answered_change_no_form(server: ScriptedServer) -> None:
    server.respond = lambda _: (
        refusal("Internal Server Error", status=500) if 2 <= len(server.received) <= 5 else rating()
    )
    judge_all(server, units(5))
    assert {kind_of_reply(body) for body in server.received} == {"json_schema"}


def test_a_form_is_not_remembered_as_refused_if_none_is_answered(server: ScriptedServer) -> None:
    server.respond = lambda _: refusal("Internal Server Error", status=500)
    ledger = MemoryLedger()
    judge_all(server, units(1), ledger)
    server.respond = lambda _: rating()
    server.received.clear()
    judge_all(server, units(1), ledger)
    assert [kind_of_reply(body) for body in server.received] == ["json_schema"]


def test_the_number_in_flight_is_remembered_for_the_next_run(server: ScriptedServer) -> None:
    server.respond = lambda _: rating()
    ledger = MemoryLedger()
    judge_all(server, units(3), ledger)
    assert ledger.in_flight == {(f"{server.base_url}/v1", "our-model"): 1}
