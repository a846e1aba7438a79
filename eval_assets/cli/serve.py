"""`eval-assets serve`: results, and labelling in the browser."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from eval_assets.cli.exit_codes import DONE, EXPECTED
from eval_assets.cli.options import data_option, database_option, resolve_database

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.applications import Starlette

    from eval_assets.labelling.study import Study
    from eval_assets.server.results import Results

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

TOKEN = "EVAL_SERVE_TOKEN"  # noqa: S105 - the name of a variable
"""Variable with the token that reads results from other machines."""

PASSWORD = "EVAL_SERVE_PASSWORD"  # noqa: S105 - likewise
"""Variable with the password of the labelling pages; without it the link suffices."""


@click.command()
@data_option
@database_option
@click.option("--labels", is_flag=True, help="Serve each rater their own work.")
@click.option("--lead", is_flag=True, help="Serve the raters' lead progress and disagreements.")
@click.option(
    "--judges", is_flag=True, help="Let the lead settle disagreements between judges as well."
)
@click.option(
    "--new-link",
    metavar="NAME",
    help="Print a new link for a rater or adjudicator; the old one ends.",
)
@click.option("--revoke", metavar="NAME", help="End the link of a rater or adjudicator.")
@click.option(
    "--public-url",
    metavar="URL",
    help="Address of a proxy in front, which links have, such as https://labels.example.org",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8420, show_default=True, type=click.IntRange(0, 65535), help="0: any free."
)
def serve(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    labels: bool,
    lead: bool,
    judges: bool,
    new_link: str | None,
    revoke: str | None,
    public_url: str | None,
    host: str,
    port: int,
) -> int:
    """Serve results, or labelling pages, until it is stopped with Ctrl-C.

    Without --labels and --lead these are the results, read-only: the report at /, and as JSON /irr,
    /judge_agreement, /judges, /status, /certificates and /health. Only this machine reads them,
    unless --host names another address: then a token is needed, which EVAL_SERVE_TOKEN holds or
    the program makes and prints. Of a folder of evaluations, / links to each report, /evaluations
    lists the names, and /evaluations/NAME/ has all of these.

    Each rater has a personal link, which is printed at the start and stays the same, and so
    has their lead. Labels go to sessions/ in the evaluation folder, each as it is given; what the
    lead settles goes to adjudications.jsonl. A change of evaluation.yaml or assignments.csv is
    served at once. --new-link and --revoke change the links, also of a server that runs, and end.
    EVAL_SERVE_PASSWORD may hold a password that these pages ask for beside the link.
    """
    from eval_assets.cli.study_files import (
        CurrentStudy,
        disagreements_now,
        judges_disagreements,
        quality_now,
    )

    public_host = None if public_url is None else _host_of(public_url)
    if not (labels or lead or new_link or revoke):
        return _serve_results(data, database, host=host, port=port)
    path = resolve_database(data, database)
    current = CurrentStudy(data, database=path)
    files = current.files
    study = files.study
    if new_link or revoke:
        address = (public_url or f"http://{host}:{port}").rstrip("/")
        return _change_links(study, address=address, new_link=new_link, revoke=revoke)
    if not study.raters:
        raise click.UsageError(
            f"{data}/evaluation.yaml names no raters. Add: labelling: {{raters: [anna, ben]}}"
        )
    # The server takes half a second to import: not before the evaluation is known to be sound.
    from eval_assets.server.app import adjudicator_links, lead_token, make_app, rater_links
    from eval_assets.server.lead_pages import LeadSources

    listening = _listening(host, port)
    address = (public_url or f"http://{host}:{listening.getsockname()[1]}").rstrip("/")
    between_judges = judges_disagreements(files, path) if judges else []
    if lead:
        files.study.sessions.readable()  # parsed now, so that the lead's first page need not wait
    sources = LeadSources(
        disagreements=lambda: disagreements_now(current.files, between_judges=between_judges),
        quality=lambda: quality_now(current.files),
    )
    hosts: tuple[str, ...] = _LOOPBACK if host in _LOOPBACK else ("*",)
    if public_host is not None:
        hosts = (*_LOOPBACK, host, public_host)
    app = make_app(
        study,
        hosts=hosts,
        raters=labels,
        lead=sources if lead else None,
        current=current,
        password=os.environ.get(PASSWORD, ""),
    )
    for rater, link in rater_links(study, address=address).items() if labels else ():
        click.echo(f"{rater:20} {link}")
    if lead:
        click.echo(f"{'(lead)':20} {address}/lead/{lead_token(study)}")
        for name, link in adjudicator_links(study, address=address).items():
            click.echo(f"{f'(adjudicator {name})':20} {link}")
    last_day = study.evaluation.labelling.links_valid_until
    if last_day is not None and last_day < datetime.now(UTC).date():
        click.echo(f"No link is valid: labelling.links_valid_until is {last_day}.", err=True)
    _run(app, listening)
    return DONE


def _host_of(url: str) -> str:
    """Return the host of a public address; anything else than scheme, host and port is misuse."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise click.UsageError(f"{url} is not an address such as https://labels.example.org.")
    return parts.hostname


def _change_links(study: Study, *, address: str, new_link: str | None, revoke: str | None) -> int:
    from eval_assets.labelling.study import replace_link, revoke_link
    from eval_assets.server.app import adjudicator_links, rater_links

    people = {*study.raters, *study.evaluation.labelling.adjudicators}
    unknown = [name for name in (new_link, revoke) if name and name not in people]
    if unknown:
        raise click.UsageError(f"{unknown[0]} is neither a rater nor an adjudicator here.")
    if revoke:
        revoke_link(study, revoke)
        click.echo(f"{revoke:20} link revoked")
    if new_link:
        replace_link(study, new_link)
        for links in (rater_links, adjudicator_links):
            if link := links(study, address=address).get(new_link):
                click.echo(f"{new_link:20} {link}")
    return DONE


def _serve_results(data: Path, database: str | None, *, host: str, port: int) -> int:
    from eval_assets.readers.evaluation.read import evaluations_in

    names = evaluations_in(data)
    results = [_results_of(data / name, database) for name in names or [""]]
    shared = {item.name for item in results if [peer.name for peer in results].count(item.name) > 1}
    if shared:
        raise click.UsageError(
            f"{data}: several evaluations have the name {', '.join(sorted(shared))}. Rename them."
        )
    from eval_assets.server.results import make_results_app

    listening = _listening(host, port)
    address = f"http://{host}:{listening.getsockname()[1]}"
    is_local = host in _LOOPBACK
    token = "" if is_local else os.environ.get(TOKEN) or secrets.token_urlsafe()
    click.echo(f"{address}/{f'?token={token}' if token else ''}")
    _run(make_results_app(results, hosts=_LOOPBACK if is_local else ["*"], token=token), listening)
    return DONE


def _results_of(folder: Path, database: str | None) -> Results:
    from eval_assets.cli.results import (
        stored_certificates,
        stored_irr,
        stored_judge_agreement,
        stored_judges,
    )
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.server.results import Results

    path = resolve_database(folder, database)
    return Results(
        name=read_evaluation(folder).name,
        report=folder / "out" / "report.html",
        irr=lambda: stored_irr(folder, path),
        judge_agreement=lambda: stored_judge_agreement(folder, path),
        judges=lambda: stored_judges(folder, path),
        certificates=lambda: stored_certificates(folder, path),
        unavailable=EXPECTED,
    )


def _listening(host: str, port: int) -> socket.socket:
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise click.UsageError(f"{host}:{port}: {error.strerror}. Use another --port.") from error
    if host not in _LOOPBACK:
        click.echo(
            "Links and labels travel unencrypted. Put a proxy that speaks HTTPS in front.", err=True
        )
    return listening


def _run(app: Starlette, listening: socket.socket) -> None:
    import uvicorn

    click.echo("Serving until Ctrl-C.")
    # Links are secrets, and an access log would hold them.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
