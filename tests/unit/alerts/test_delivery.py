"""Every alert once to every channel, in order."""

from dataclasses import dataclass, field, replace

from eval_assets.alerts.delivery import Delivery, deliver, positions
from eval_assets.alerts.message import Alert
from tests.unit.alerts.test_channels import ALERT

ALERTS = [replace(ALERT, number=number) for number in (1, 2, 3)]


@dataclass
class Line:
    """A channel that accepts alerts unless it is down."""

    id: str
    is_down: bool = False
    got: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name for people."""
        return self.id

    def send(self, alert: Alert) -> str:
        """Keep the alert, unless the channel is down."""
        if self.is_down:
            return "is down"
        self.got.append(alert.number)
        return ""


def test_a_channel_that_is_down_gets_all_in_order_later_and_holds_up_no_other() -> None:
    up, down = Line("up"), Line("down", is_down=True)
    log = [Delivery("up", "up", 0), Delivery("down", "down", 0)]
    for k in (1, 2, 3):
        down.is_down = k < 3
        log += deliver(ALERTS[:k], [down, up], positions(log))

    assert up.got == down.got == [1, 2, 3]
    assert list(deliver(ALERTS, [down, up], positions(log))) == []


def test_an_error_does_not_move_a_channel_and_the_next_delivery_clears_it() -> None:
    log = [Delivery("a", "a", 1), Delivery("a", "a", 2, "is down")]
    assert positions(log)["a"] == Delivery("a", "a", 1, "is down")
    assert positions([*log, Delivery("a", "a", 2)])["a"] == Delivery("a", "a", 2)
