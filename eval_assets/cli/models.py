"""`eval-assets models`: prices, capabilities and end dates of judge models."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import json_option, print_json, print_table
from eval_assets.config.models import Capabilities, Price

COLUMNS = ("model", "input", "cached", "output", "takes", "ends")


@dataclass(frozen=True)
class KnownModel:
    """A model with its settings, its price on a day and its end."""

    name: str
    capabilities: Capabilities
    ends_on: date | None
    price: Price | None


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
    from eval_assets.shown.blocks import text_table

    today = datetime.now(tz=UTC).date()
    known = [
        model
        for model in known_models(on=today, names=names)
        if with_retired or names or model.ends_on is None or model.ends_on >= today
    ]
    if as_json:
        print_json([asdict(model) for model in known])
        return DONE
    if not known:
        click.echo("No such model is known. It can be asked all the same, without a cap.")
        return DONE
    rows = [_row(model, today=today) for model in known]
    print_table(text_table("Models", COLUMNS, rows, numbers=("input", "cached", "output")))
    click.echo(f"Prices: genai-prices {version('genai-prices')}")
    return DONE


def known_models(*, on: date, names: Sequence[str]) -> list[KnownModel]:
    """Return models with their prices of a day, by family and name.

    They are those of the two vendors that have a price or an end. `names` are parts of names to
    look for, and names of other vendors' models.
    """
    from eval_assets.judges.catalogue.models import (
        capabilities_of,
        end_of,
        listed_models,
        price_of,
    )

    listed = listed_models(on=on)
    if names := [name.lower() for name in names]:
        priced = {name for name in names if price_of(name, on=on, overrides={})}
        listed = {name for name in listed if any(part in name for part in names)} | priced
    models = [
        KnownModel(
            name=name,
            capabilities=capabilities_of(name, overrides={}),
            ends_on=end_of(name),
            price=price_of(name, on=on, overrides={}),
        )
        for name in listed
    ]
    return sorted(models, key=lambda model: (model.capabilities.family, model.name))


def _row(model: KnownModel, *, today: date) -> tuple[str, ...]:
    capabilities, ends_on = model.capabilities, model.ends_on
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
        "" if price is None else f"{price.input_usd:g}",
        "" if price is None or price.cached_input_usd is None else f"{price.cached_input_usd:g}",
        "" if price is None else f"{price.output_usd:g}",
        ", ".join(name for name, is_taken in settings.items() if is_taken),
        f"{ends} ended" if ends_on is not None and ends_on < today else ends,
    )
