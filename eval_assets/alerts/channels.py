"""Alert channels: services of apprise, and a signed JSON webhook."""

import hashlib
import hmac
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from eval_assets.alerts.message import Alert

URLS = "EVAL_ALERT_URLS"
"""Variable with the addresses of services, as apprise writes them, separated by spaces."""

WEBHOOK = "EVAL_ALERT_WEBHOOK"
"""Variable with the address that alerts are posted to as JSON."""

SECRET = "EVAL_ALERT_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
"""Variable with the secret that signs what is posted there."""

_TIMEOUT_SECONDS = 10


class Channel(Protocol):
    """A destination of alerts."""

    @property
    def id(self) -> str:
        """Name in the ledger, without credentials."""

    @property
    def name(self) -> str:
        """Displayed name, with credentials masked."""

    def send(self, alert: Alert) -> str:
        """Send an alert; return why it was not accepted, empty if it was."""


@dataclass(frozen=True)
class Service:
    """A service that apprise knows, such as Slack, Teams or e-mail.

    Args:
        url: Its address with credentials.
        position: Place in EVAL_ALERT_URLS, from 1.
    """

    url: str
    position: int

    @property
    def id(self) -> str:
        """A digest of the address."""
        return _digest(self.url)

    @property
    def name(self) -> str:
        """The address as apprise masks it."""
        from apprise import Apprise

        result: Any = Apprise.instantiate(self.url, suppress_exceptions=True)
        return (
            str(result.url(privacy=True)).split("?")[0]
            if result
            else f"{URLS}, entry {self.position}"
        )

    def send(self, alert: Alert) -> str:
        """Send an alert; return why it was not accepted, empty if it was."""
        from apprise import Apprise, NotifyFormat, NotifyType

        service = Apprise()
        if not service.add(self.url):
            return "is not an address that apprise knows"
        kinds = {"passed": NotifyType.SUCCESS, "warned": NotifyType.WARNING}
        is_accepted = service.notify(
            title=alert.title,
            body=alert.text,
            body_format=NotifyFormat.TEXT,
            notify_type=kinds.get(alert.state, NotifyType.FAILURE),
        )
        return "" if is_accepted else "did not accept the alert"


@dataclass(frozen=True)
class Webhook:
    """An address that takes alerts as JSON, signed so that it can tell them from others.

    Args:
        url: The address.
        secret: What both sides know; empty to send without signature.
    """

    url: str
    secret: str

    @property
    def id(self) -> str:
        """A digest of the address."""
        return _digest(self.url)

    @property
    def name(self) -> str:
        """The address without user, password and query."""
        return re.sub(r"//[^/@]*@", "//", self.url).split("?")[0]

    def send(self, alert: Alert) -> str:
        """Post an alert; return why it was not accepted, empty if it was."""
        body = json.dumps({"version": 1, **alert.as_json()}).encode()
        at = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "X-Eval-Assets-Delivery": f"{_digest(alert.evaluation)}-{alert.number}",
            "X-Eval-Assets-Timestamp": at,
        }
        if self.secret:
            headers["X-Eval-Assets-Signature"] = f"sha256={signature(self.secret, at, body)}"
        try:
            request = urllib.request.Request(self.url, data=body, headers=headers)  # noqa: S310 - the user's own address
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310
                return ""
        except urllib.error.HTTPError as error:
            return f"answered {error.code}"
        except (OSError, ValueError) as error:
            return f"cannot be reached ({type(error).__name__})"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 of timestamp, a full stop and the body, in hexadecimal."""
    signed = timestamp.encode() + b"." + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def channels_of(environ: Mapping[str, str]) -> list[Channel]:
    """Return the channels that the environment names."""
    urls = re.split(r"\s+|,(?=\w+://)", environ.get(URLS, "").strip())
    services = [url.strip(",") for url in urls if url.strip(",")]
    channels: list[Channel] = [Service(url, index) for index, url in enumerate(services, start=1)]
    if webhook := environ.get(WEBHOOK, "").strip():
        channels.append(Webhook(webhook, environ.get(SECRET, "")))
    return channels


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
