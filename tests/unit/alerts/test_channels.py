"""Channels: mail through apprise, and a signed webhook."""

import json

from eval_assets.alerts.channels import channels_of, signature
from eval_assets.alerts.message import Alert
from tests.receivers import mailbox, webhook

ALERT = Alert(
    number=3,
    evaluation="pilot",
    subject="human_agreement/human_a_hh",
    state="failed",
    before="passed",
    since="2026-11-21T06:00:00+00:00",
    reason="0.703 is below the minimum 0.75. Revise the rubric, then label again",
    value=0.7031,
    low=0.669,
    high=0.734,
    minimum=0.75,
    questions=("clarity", "depth"),
    run_url="http://127.0.0.1:3000/runs/r1",
    report="/data/pilot/out/report.html",
)


def test_an_alert_says_what_failed_by_how_much_where_and_what_to_do() -> None:
    assert ALERT.title == "pilot: human_agreement/human_a_hh failed (was passed)"
    assert ALERT.text.splitlines() == [
        "0.703 is below the minimum 0.75. Revise the rubric, then label again",
        "Value 0.703, minimum 0.75, 95 % interval 0.669 to 0.734",
        "Questions: clarity, depth",
        "Since 2026-11-21T06:00:00+00:00",
        "Run http://127.0.0.1:3000/runs/r1",
        "Report /data/pilot/out/report.html",
    ]


def test_the_webhook_gets_signed_json_and_a_refusal_is_reported() -> None:
    with webhook(refusing=1) as received:
        environ = {"EVAL_ALERT_WEBHOOK": received.address, "EVAL_ALERT_WEBHOOK_SECRET": "s3cret"}
        [channel] = channels_of(environ)
        errors = [channel.send(ALERT) for _ in range(2)]

    assert errors == ["answered 503", ""]
    [body], [headers] = received.bodies, received.headers
    assert json.loads(body) == {"version": 1, **ALERT.as_json()}
    at = headers["X-Eval-Assets-Timestamp"]
    assert headers["X-Eval-Assets-Signature"] == f"sha256={signature('s3cret', at, body)}"
    assert headers["X-Eval-Assets-Signature"] != f"sha256={signature('other', at, body)}"
    assert headers["X-Eval-Assets-Delivery"].endswith("-3")


def test_a_mail_arrives_and_a_refusal_is_reported() -> None:
    with mailbox(refusing=1) as received:
        [channel] = channels_of({"EVAL_ALERT_URLS": received.address})
        errors = [channel.send(ALERT) for _ in range(2)]

    assert errors == ["did not accept the alert", ""]
    [mail] = received.mails
    assert mail["Subject"] == ALERT.title
    assert "0.703 is below the minimum" in str(mail)


def test_a_channel_that_is_down_or_unknown_is_an_error_and_no_exception() -> None:
    with webhook() as received:
        address = received.address
    down, unknown = channels_of({"EVAL_ALERT_WEBHOOK": address, "EVAL_ALERT_URLS": "nonsense://x"})[
        ::-1
    ]

    assert down.send(ALERT) == "cannot be reached (URLError)"
    assert unknown.send(ALERT) == "is not an address that apprise knows"
    assert unknown.name == "EVAL_ALERT_URLS, entry 1"


def test_names_and_ids_of_channels_hold_no_credential() -> None:
    channels = channels_of(
        {
            "EVAL_ALERT_URLS": "mailto://anna:secret@example.org,json://bob:secret@example.org",
            "EVAL_ALERT_WEBHOOK": "https://eve:secret@example.org/hook?token=secret",
        }
    )

    assert len(channels) == len({channel.id for channel in channels}) == 3
    assert channels[2].name == "https://example.org/hook"
    assert not any("secret" in channel.name + channel.id for channel in channels)
