"""`eval-assets models`: prices, capabilities and end dates of judge models."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eval_assets.judges.catalogue.models import KnownModel

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import json_option, print_json, print_table

COLUMNS = ("model", "family", "input", "cached", "output", "takes", "ends")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "with_retired", is_flag=True, help="Retired models as well.")
@json_option
def models(names: tuple[str, ...], *, with_retired: bool, as_json: bool) -> int:
    """List models of OpenAI and Anthropic; with NAMEs those that contain one of them.

    Models of other vendors are named in full. Prices are USD per million tokens, half of it in a
    batch, as the installed genai-prices has them: compare one with the vendor's page before you
    rely on budget_usd. An end is the last day of requests, if it is announced. `prices` and
    `capabilities` in evaluation.yaml win over this table. A model without a price can be asked all
    the same, without a cap.
    """
    from eval_assets.judges.catalogue.models import known_models
    from eval_assets.shown.blocks import text_table

    known = [
        model
        for model in known_models(on=datetime.now(tz=UTC).date(), names=names)
        if with_retired or names or model.lifecycle.state != "retired"
    ]
    if as_json:
        print_json([asdict(model) for model in known])
        return DONE
    if not known:
        click.echo("No such model is known. It can be asked all the same, without a cap.")
        return DONE
    rows = [_row(model) for model in known]
    print_table(text_table("Models", COLUMNS, rows, numbers=("input", "cached", "output")))
    click.echo(f"Prices: genai-prices {version('genai-prices')}")
    return DONE


def _row(model: KnownModel) -> tuple[str, ...]:
    capabilities, ends_on = model.capabilities, model.lifecycle.ends_on
    settings = {
        "schema": capabilities.json_schema,
        "temperature": capabilities.temperature,
        "effort": capabilities.effort,
        "seed": capabilities.seed,
    }
    price = model.price
    ends = "" if ends_on is None else f"{ends_on}"
    return (
        model.name,
        capabilities.family,
        "" if price is None else f"{price.input_usd:g}",
        "" if price is None or price.cached_input_usd is None else f"{price.cached_input_usd:g}",
        "" if price is None else f"{price.output_usd:g}",
        ", ".join(name for name, is_taken in settings.items() if is_taken),
        f"{ends} ended" if model.lifecycle.state == "retired" else ends,
    )
