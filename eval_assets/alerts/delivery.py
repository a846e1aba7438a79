"""Delivery of alerts: once to each channel, in order, with retries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval_assets.alerts.channels import Channel
from eval_assets.alerts.message import Alert

MOST_AT_ONCE = 20
"""Alerts sent before the others wait for the next turn: a turn must end within a minute."""


@dataclass(frozen=True)
class Delivery:
    """An attempt to send an alert through a channel.

    Args:
        channel: Id of the channel.
        name: Its name.
        alert: Number of the alert; 0 for a channel that starts before the first one.
        error: Why it was not accepted; empty if it was.
    """

    channel: str
    name: str
    alert: int
    error: str = ""


def positions(deliveries: Iterable[Delivery]) -> dict[str, Delivery]:
    """Return each channel's last delivered alert, with the error that it has met since."""
    latest: dict[str, Delivery] = {}
    for delivery in deliveries:
        alert = (
            latest[delivery.channel].alert
            if delivery.error and delivery.channel in latest
            else delivery.alert
        )
        latest[delivery.channel] = Delivery(delivery.channel, delivery.name, alert, delivery.error)
    return latest


def deliver(
    alerts: Sequence[Alert], channels: Sequence[Channel], latest: Mapping[str, Delivery]
) -> Iterator[Delivery]:
    """Send each channel its undelivered alerts, and yield every attempt for the ledger.

    A channel that does not accept an alert gets none of the later ones before it: the next turn
    starts with it again. Other channels do not wait for it.

    Args:
        alerts: All alerts of the evaluation, in order.
        channels: Where they go.
        latest: How far each channel is, by its id; one that is missing starts from now on.
    """
    n_sent = 0
    for channel in channels:
        at = latest.get(channel.id)
        for alert in alerts:
            if at is None or alert.number <= at.alert or n_sent >= MOST_AT_ONCE:
                continue
            n_sent += 1
            error = channel.send(alert)
            yield Delivery(channel.id, channel.name, alert.number, error)
            if error:
                break
