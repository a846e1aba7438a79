"""What failed requests call for, by the bodies that the vendors send."""

import time
from email.utils import formatdate

import httpx2
import pytest

from eval_assets.judges.calling.requests import RequestFailed
from eval_assets.judges.clients.errors import connection_failure, failure_of, is_filtered


def failure(status: int, body: object = None, **headers: str) -> RequestFailed:
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of(
        http_status=status, body=body, headers=shown, request_id="req_1", api_key="sk-1"
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert failure(status).remedy == "retry"
    assert failure(status).is_overload == (status in {429, 503, 529})


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_concerns_every_request_stops_the_judge(status: int) -> None:
    assert failure(status).remedy == "stop"


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_concerns_one_unit_marks_it(status: int) -> None:
    assert failure(status).remedy == "give_up"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"type": "insufficient_quota", "code": "insufficient_quota"}}),
        (429, {"type": "insufficient_quota", "code": "billing_hard_limit_reached"}),
        (
            429,
            {
                "type": "error",
                "error": {
                    "type": "rate_limit_error",
                    "message": "limited",
                    "details": {"error_code": "enforced_spend_limit_reached"},
                },
            },
        ),
        (429, {"error": {"message": "You have reached your specified API usage limits."}}),
        (400, {"error": {"message": "Your credit balance is too low to access the API."}}),
    ],
)
def test_if_only_paying_helps_the_judge_is_stopped(status: int, body: object) -> None:
    assert failure(status, body).remedy == "stop"


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached. Add a payment method at https://example.org/account/billing.",
        "You exceeded your current quota of requests per minute.",
    ],
)
def test_an_ordinary_rate_limit_is_waited_out_whatever_it_mentions(message: str) -> None:
    body = {"error": {"type": "requests", "code": "rate_limit_exceeded", "message": message}}
    assert failure(429, body).remedy == "retry"


def test_a_message_is_one_line_with_kind_and_reason_and_without_the_key() -> None:
    body = {"error": {"type": "a_type", "code": "a_code", "message": "Wrong key\n sk-1 given"}}
    assert str(failure(401, body)) == "401 a_type a_code: Wrong key [key] given"
    assert str(failure(502, "<html>\n<b>Bad gateway</b>")) == "502: <html> <b>Bad gateway</b>"
    assert str(failure(500)) == "500: no reason given"
    assert len(str(failure(500, "x" * 10_000))) < 600


def test_a_wait_may_be_given_in_milliseconds_in_seconds_or_as_a_date() -> None:
    assert failure(429, retry_after="7").retry_after_seconds == 7
    assert failure(429, retry_after="7", retry_after_ms="250").retry_after_seconds == 0.25
    later = failure(429, retry_after=formatdate(time.time() + 30, usegmt=True))
    assert later.retry_after_seconds == pytest.approx(30, abs=2)
    past = failure(429, retry_after=formatdate(time.time() - 30, usegmt=True))
    assert past.retry_after_seconds == 0
    for nonsense in ("soon", "-1", "nan", "inf", ""):
        assert failure(429, retry_after=nonsense).retry_after_seconds is None
    assert failure(429).retry_after_seconds is None


def test_a_filter_answers_400_in_words_of_its_own() -> None:
    assert is_filtered(400, {"error": {"message": "Output blocked by content filtering policy"}})
    assert is_filtered(400, {"error": {"code": "content_filter", "message": "The response was"}})
    assert not is_filtered(400, {"error": {"message": "max_tokens: Field required"}})
    assert not is_filtered(500, {"error": {"code": "content_filter"}})


def test_only_a_connection_that_stood_may_be_billed() -> None:
    request = httpx2.Request("POST", "http://127.0.0.1")
    refused = connection_failure(httpx2.ConnectError("refused", request=request))
    cut = connection_failure(httpx2.ReadError("reset", request=request))
    assert (refused.remedy, refused.may_be_billed) == ("retry", False)
    assert (cut.remedy, cut.may_be_billed) == ("retry", True)
