"""`eval-assets fake-provider`: a stand-in for vendors that needs no keys."""

import click


@click.command("fake-provider")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Where to listen; 0 picks a port.",
)
@click.option(
    "--latency",
    "latency_seconds",
    type=click.FloatRange(min=0),
    default=0.2,
    show_default=True,
    help="Seconds until an answer.",
)
@click.option(
    "--faults",
    "fault_share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of requests that are refused for the moment.",
)
@click.option("--model", multiple=True, hidden=True, expose_value=False)  # every name is answered
def fake_provider(*, port: int, latency_seconds: float, fault_share: float) -> None:
    """Serve a stand-in for OpenAI and Anthropic on this machine until Ctrl-C.

    It speaks both vendors' chat protocols, needs no keys, answers for any model, and makes its
    scores up: a hash of the text, not a judgement. Set the variables that it prints in the shell
    that starts the run.
    """
    from eval_assets.judges.stand_in import LOOPBACK, StandIn
    from eval_assets.wording import counted

    try:
        server = StandIn(port, latency_seconds=latency_seconds, fault_share=fault_share)
    except OSError as error:
        raise click.ClickException(f"{error.strerror}: {LOOPBACK}:{port}.") from error
    with server:
        click.echo(f"Listening on {server.environment['ANTHROPIC_BASE_URL']}. Ctrl-C ends it.")
        for name, value in server.environment.items():
            click.echo(f"export {name}={value}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo(f"{counted(server.n_received, 'request')} answered.")
