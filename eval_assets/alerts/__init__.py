"""Alerts: what is said of a change, and the channels that it is sent through."""

from eval_assets.alerts.channels import Channel, channels_of
from eval_assets.alerts.delivery import Delivery, deliver, positions
from eval_assets.alerts.message import Alert, State

__all__ = ["Alert", "Channel", "Delivery", "State", "channels_of", "deliver", "positions"]
