"""Responses to failed requests, by the bodies that the vendors send."""

import socket
import ssl
import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate

import httpx2
import pytest

from eval_assets.config.models import Usage
from eval_assets.judges.calling.requests import RequestFailed
from eval_assets.judges.clients.failures import connection_failure, failure_of, outcome_of
from eval_assets.ledger import Reply

KEY = "sk-of-this-test"


def failure(status: int, body: object = None, **headers: str) -> RequestFailed:
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of(status, body, headers=shown, request_id="req_1", keys=[KEY])


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
    body = {
        "error": {
            "type": "a_type",
            "code": "a_code",
            "message": "Wrong key\n sk-of-this-test given",
        }
    }
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


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "Output blocked by content filtering policy"}}),
        (400, {"error": {"code": "content_filter", "message": "The response was"}}),
        (403, {"error": {"message": "Your input was flagged", "code": 403}}),
        (403, {"error": {"message": "Forbidden", "metadata": {"flagged_input": "..."}}}),
        (403, {"error": {"message": "Request blocked: prompt injection patterns detected"}}),
    ],
)
def test_a_filter_that_withholds_one_reply_marks_that_unit(status: int, body: object) -> None:
    reply = outcome_of(failure(status, body))
    assert isinstance(reply, Reply)
    assert (reply.status, reply.http_status, reply.usage) == ("content_filter", status, Usage(0, 0))
    assert reply.text.startswith(f"{status}")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "max_tokens: Field required"}}),
        (403, {"error": {"message": "Your key may not use this model"}}),
        (500, {"error": {"code": "content_filter"}}),
    ],
)
def test_other_errors_are_no_filter(status: int, body: object) -> None:
    assert isinstance(outcome_of(failure(status, body)), RequestFailed)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            {"error": {"message": "This response_format type is unavailable now"}},
            "json_schema",
        ),
        (400, {"error": {"message": "Unsupported value", "param": "temperature"}}, "temperature"),
        (
            422,
            {"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}},
            "seed",
        ),
        (400, {"detail": "System role not supported"}, "system"),
        (
            400,
            {"error": {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}},
            "max_tokens",
        ),
        (400, {"error": {"message": "Unknown name 'reasoning_effort'"}}, "effort"),
    ],
)
def test_an_invalid_request_names_the_part_that_is_refused(
    status: int, body: object, expected: str
) -> None:
    assert expected in failure(status, body).refused


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"error": {"message": "Input should be 'text' or 'json_object'"}}),
        (501, {"error": "grammar is not available in this build"}),
        (422, {"detail": [{"loc": ["body", "response_format"], "msg": "extra fields"}]}),
    ],
)
def test_the_form_of_a_reply_may_be_refused_in_any_status_and_wording(
    status: int, body: object
) -> None:
    assert failure(status, body).refused == ("json_schema", "json_object")
    assert failure(401, body).refused == ()


def test_words_of_an_account_are_not_about_the_form() -> None:
    body = {"error": {"message": "You exceeded your quota; response_format costs extra"}}
    result = failure(500, body)
    assert (result.refused, result.may_be_form) == ((), False)
    assert failure(500, {"error": {"message": "Internal Server Error"}}).may_be_form
    assert not failure(503, {"error": {"message": "Loading model"}}).may_be_form


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_any_error_of_the_server_but_overload_may_be_billed(status: int) -> None:
    assert failure(status, {}).may_be_billed == (status in {500, 502, 503})


def test_only_a_connection_that_stood_may_be_billed() -> None:
    request = httpx2.Request("POST", "http://127.0.0.1")
    refused = connection_failure(httpx2.ConnectError("refused", request=request))
    cut = connection_failure(httpx2.ReadError("reset", request=request))
    assert (refused.remedy, refused.may_be_billed) == ("retry", False)
    assert (cut.remedy, cut.may_be_billed) == ("retry", True)
    assert "See base_url" in str(refused)
    assert str(cut) == "the connection broke off: ReadError"


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ([{"error": {"code": 429, "details": [{"retryDelay": "37s"}]}}], {}, 37),
        (
            {"error": "slow down"},
            {
                "x_ratelimit_reset_requests": "2s",
                "x_ratelimit_remaining_requests": "0",
                "x_ratelimit_reset_tokens": "90s",
                "x_ratelimit_remaining_tokens": "500",
            },
            2,
        ),
        ({"error": "slow down"}, {"x_ratelimit_reset": "8"}, 8),
        ({"error": "slow down"}, {"x_ratelimit_reset_tokens": "6m0.5s"}, 360.5),
        ({"error": {"message": "in 5 minutes the quota of 300 s was used"}}, {}, None),
    ],
)
def test_wait_of_an_overloaded_vendor_is_read_from_body_and_limits(
    body: object, headers: dict[str, str], seconds: float | None
) -> None:
    assert failure(429, body, **headers).retry_after_seconds == seconds


def test_wait_until_a_moment_is_read_in_milliseconds_and_as_a_date() -> None:
    milliseconds = str(int((time.time() + 30) * 1000))
    headers = {"x_ratelimit_reset": milliseconds}
    assert failure(429, {}, **headers).retry_after_seconds == pytest.approx(30, abs=5)
    assert failure(400, {}, **headers).retry_after_seconds is None
    end = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    headers = {"anthropic_ratelimit_requests_reset": end}
    assert failure(529, {"error": {}}, **headers).retry_after_seconds == pytest.approx(30, abs=5)


_BAD_CERTIFICATE = ssl.SSLCertVerificationError(1, "certificate verify failed")
_BAD_CERTIFICATE.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (socket.gaierror(-2, "Name or service not known"), "the host is unknown (Name or"),
        (_BAD_CERTIFICATE, "the certificate of the host is not valid (self-signed certificate)"),
    ],
)
def test_an_unknown_host_and_a_bad_certificate_say_so(cause: OSError, message: str) -> None:
    request = httpx2.Request("POST", "https://api.example")
    error = httpx2.ConnectError(str(cause), request=request)
    error.__cause__ = cause
    assert str(connection_failure(error)).startswith(message)
    assert not connection_failure(error).may_be_billed
