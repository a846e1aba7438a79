"""`eval-assets serve`: labelling in the browser."""

import socket
from contextlib import suppress
from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import data_option, database_of, database_option
from eval_assets.cli.study_files import (
    disagreements_now,
    judges_disagreements,
    quality_now,
    read_study,
)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(short_help="Serve pages on which people label, in the browser.")
@data_option
@database_option
@click.option("--labels", is_flag=True, help="Serve each rater their own work.")
@click.option("--lead", is_flag=True, help="Serve the raters' lead progress and disagreements.")
@click.option(
    "--judges", is_flag=True, help="Let the lead settle disagreements between judges as well."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8420, show_default=True, type=click.IntRange(0, 65535), help="0: any free."
)
def serve(  # noqa: PLR0913 - one for each option
    *,
    data: Path,
    database: Path | None,
    labels: bool,
    lead: bool,
    judges: bool,
    host: str,
    port: int,
) -> int:
    """Serve pages on which people label, in the browser, until it is stopped with Ctrl-C.

    Each rater has a link of their own, which is printed at the start and stays the same, and so
    has their lead. Labels go to sessions/ in the evaluation folder, each as it is given; what the
    lead settles goes to adjudications.jsonl.
    """
    if not (labels or lead):
        raise click.UsageError("Name what to serve: --labels, --lead or both.")
    path = database_of(data, database)
    files = read_study(data, database=path)
    study = files.study
    if not study.raters:
        raise click.UsageError(
            f"{data}/evaluation.yaml names no raters. Add: labelling: {{raters: [anna, ben]}}"
        )
    # The server takes half a second to import: not before the evaluation is known to be sound.
    import uvicorn  # noqa: PLC0415

    from eval_assets.server import (  # noqa: PLC0415
        LeadSources,
        lead_token,
        make_app,
        rater_links,
    )

    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise click.UsageError(f"{host}:{port}: {error.strerror}. Use another --port.") from error
    address = f"http://{host}:{listening.getsockname()[1]}"
    if host not in _LOOPBACK:
        click.echo(
            "Links and labels travel unencrypted. Put a proxy that speaks HTTPS in front.", err=True
        )
    between_judges = judges_disagreements(files, path) if judges else []
    sources = LeadSources(
        disagreements=lambda: disagreements_now(files, between_judges=between_judges),
        quality=lambda: quality_now(files),
    )
    app = make_app(
        study,
        hosts=_LOOPBACK if host in _LOOPBACK else ["*"],
        raters=labels,
        lead=sources if lead else None,
    )
    for rater, link in rater_links(study, address=address).items() if labels else ():
        click.echo(f"{rater:20} {link}")
    if lead:
        click.echo(f"{'(lead)':20} {address}/lead/{lead_token(study)}")
    click.echo("Serving until Ctrl-C.")
    # Links are secrets, and an access log would hold them.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    return DONE
