"""`eval-assets agreement`: the former name of `eval-assets check`."""

import click

from eval_assets.cli.check import check

agreement = click.Command(
    "agreement",
    params=check.params,
    callback=check.callback,
    help="The same as `check`, which replaces it.",
)
