"""`python -m tests.fake_provider`: the misbehaving server, in a process of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import FAULT_KINDS, FaultKind, Faults, mixed_rates
from tests.fake_provider.models import MODELS, Model
from tests.fake_provider.planted import Planted
from tests.fake_provider.rate_limit import RateLimit
from tests.fake_provider.server import running
from tests.fake_provider.vendors.compatible import LIKES

if TYPE_CHECKING:
    from tests.fake_provider.vendors.compatible import Like

_LOG_SIZE = 1000
"""Requests kept for the count at the end; a server that runs for days must not fill the memory."""


class _FaultRate(click.ParamType[tuple[FaultKind, float]]):
    """`KIND=RATE`, such as `rate_limit=0.1`."""

    name = "kind=rate"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[FaultKind, float]:
        kinds = {kind: kind for kind in FAULT_KINDS}
        name, _, rate = str(value).partition("=")
        if name not in kinds:
            self.fail(f"{name!r} is not one of {', '.join(FAULT_KINDS)}.", param, ctx)
        try:
            return kinds[name], float(rate)
        except ValueError:
            self.fail(f"{value!r} has no share, such as {name}=0.1.", param, ctx)


@click.command()
@click.option("--port", default=8765, show_default=True, help="Where to listen; 0 picks a port.")
@click.option(
    "--latency",
    "latency_seconds",
    type=click.FloatRange(min=0),
    default=0.2,
    show_default=True,
    help="Seconds until an answer.",
)
@click.option(
    "--jitter",
    "jitter_seconds",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Seconds by which the latency differs at most.",
)
@click.option(
    "--faults",
    "fault_share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of requests that go wrong, of all kinds a run should survive.",
)
@click.option(
    "--fault",
    "fault_rates",
    type=_FaultRate(),
    multiple=True,
    help="Share of requests that go wrong in one way, such as hang=0.01; can be repeated. "
    f"Kinds: {', '.join(FAULT_KINDS)}.",
)
@click.option("--seed", default=0, show_default=True, help="Makes other requests go wrong.")
@click.option(
    "--requests-per-minute",
    type=click.IntRange(min=1),
    help="Most requests a minute for each key and model.  [default: no limit]",
)
@click.option(
    "--batch-seconds",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Seconds until a batch ends.",
)
@click.option(
    "--like",
    type=click.Choice(LIKES),
    help="Speak OpenAI's format with the quirks of another server, which has models of any name.",
)
@click.option(
    "--planted",
    "planted_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file of scores with an error, which disappears when certain words are in the "
    "prompt: responses (text, score, cured), cures, writes.",
)
@click.option("--model", "model_names", multiple=True, help="One more OpenAI-compatible model.")
def fake_provider(  # noqa: PLR0913 - one per option
    *,
    port: int,
    latency_seconds: float,
    jitter_seconds: float,
    fault_share: float,
    fault_rates: tuple[tuple[FaultKind, float], ...],
    seed: int,
    requests_per_minute: int | None,
    batch_seconds: float,
    like: Like | None,
    planted_file: Path | None,
    model_names: tuple[str, ...],
) -> None:
    """Serve a stand-in for OpenAI and Anthropic on this machine until Ctrl-C.

    It speaks both vendors' wire formats, batches included, needs no keys, and answers with made-up
    scores: a hash of the text, not a judgement. Set the variables that it prints in the shell that
    starts the run.
    """
    rates = mixed_rates(fault_share)
    for kind, rate in fault_rates:
        rates[kind] = rate
    try:
        behaviour = Behaviour(
            latency_seconds=latency_seconds,
            jitter_seconds=jitter_seconds,
            faults=Faults(rates=rates, seed=seed),
            limit=RateLimit(requests=requests_per_minute) if requests_per_minute else None,
            batch_seconds=batch_seconds,
            like=like,
            planted=Planted.read(planted_file) if planted_file else None,
            models=(*MODELS, *(Model(name, "openai", takes="both") for name in model_names)),
            log_size=_LOG_SIZE,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    try:
        with running(behaviour, port=port) as provider:
            click.echo(f"Listening on {provider.anthropic_base_url}. Ctrl-C ends it.")
            for name, value in provider.environment.items():
                click.echo(f"export {name}={value}")
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                click.echo(f"{provider.log.n_received} requests answered.")
    except OSError as error:
        raise click.ClickException(f"{error.strerror}.") from error


if __name__ == "__main__":
    fake_provider()
