"""`eval-assets alerts`: a test of the alert channels."""

from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE, FAILED
from eval_assets.cli.options import data_option


@click.group()
def alerts() -> None:
    """Try the channels that alerts go through.

    EVAL_ALERT_URLS holds their addresses as apprise writes them, separated by spaces, such as
    mailto://user:password@example.org or jsons://example.org/alert.
    """


@alerts.command(short_help="Send an alert through every channel.")
@data_option
def test(data: Path) -> int:
    """Send a test alert and print the result of each channel."""
    from eval_assets.assets.alerting import URLS, alert_channels
    from eval_assets.readers.evaluation.read import read_evaluation

    title = f"{read_evaluation(data).name}: test"
    text = "This is a test: alerts of this evaluation arrive here."
    channels = alert_channels()
    if not channels:
        click.echo(f"No channel is named: set {URLS}.", err=True)
        return FAILED
    code = DONE
    for channel in channels:
        if channel.send(title, text, state="passed"):
            click.echo(f"{channel.name} accepted the alert")
        else:
            click.echo(f"{channel.name} did not accept the alert", err=True)
            code = FAILED
    return code
