"""`eval-assets alerts`: a test of the alert channels."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, FAILED
from eval_assets.cli.options import data_option

if TYPE_CHECKING:
    from pathlib import Path


@click.group()
def alerts() -> None:
    """Try the channels that alerts go through.

    EVAL_ALERT_URLS holds addresses as apprise writes them, separated by spaces, EVAL_ALERT_WEBHOOK
    the address that alerts are posted to as JSON, signed with EVAL_ALERT_WEBHOOK_SECRET.
    """


@alerts.command(short_help="Send an alert through every channel.")
@data_option
def test(data: Path) -> int:
    """Send a test alert and print the result of each channel."""
    from eval_assets.alerts.channels import channels_of
    from eval_assets.alerts.message import Alert
    from eval_assets.readers.evaluation.read import read_evaluation

    channels = channels_of(os.environ)
    if not channels:
        click.echo("No channel is named: set EVAL_ALERT_URLS or EVAL_ALERT_WEBHOOK.", err=True)
        return FAILED
    alert = Alert(
        number=0,
        evaluation=read_evaluation(data).name,
        subject="test",
        state="passed",
        before="",
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        reason="This is a test: alerts of this evaluation arrive here.",
    )
    errors = [(channel.name, channel.send(alert)) for channel in channels]
    for name, error in errors:
        click.echo(f"{name} {error}" if error else f"{name} accepted the alert", err=bool(error))
    return FAILED if any(error for _, error in errors) else DONE
