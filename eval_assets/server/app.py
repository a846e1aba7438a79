"""The web application: routes, access and headers."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eval_assets.errors import InputError
from eval_assets.labelling.links import adjudicators_by_token, raters_by_token
from eval_assets.labelling.study import Study
from eval_assets.server._rater_pages import rater_routes
from eval_assets.server._rendering import served_image, static_text
from eval_assets.server.lead_pages import LeadSources, adjudicator_routes, lead_routes

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer: only our own scripts and styles run, and links stay secret."""

_STATIC = {"label.css": "text/css", "label.js": "text/javascript"}


def make_app(
    study: Study,
    *,
    hosts: Sequence[str],
    raters: bool = True,
    lead: LeadSources | None = None,
    current: Callable[[], Study] | None = None,
) -> Starlette:
    """Return the application that serves each rater their own work, and the lead all of it.

    Args:
        study: What is labelled, by whom.
        hosts: Names under which the server may be addressed.
        raters: Whether raters' links lead anywhere.
        lead: Where the lead's pages get their figures; None to serve no such pages.
        current: Returns the study as its files are now; None if they do not change.
    """
    current = current or (lambda: study)
    return Starlette(
        routes=[
            Route("/", _no_link),
            Route("/favicon.ico", _no_icon),
            Route("/static/{name}", _static),
            Route("/images/{code}", served_image),
            *(rater_routes(current) if raters else []),
            *(lead_routes(lead_token(study), current, lead) if lead else []),
            *(adjudicator_routes(current, lead) if lead else []),
        ],
        middleware=[
            Middleware(_WithHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            # The default level 9 takes a second for a page of 10,000 responses, level 2 a tenth.
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=2),
        ],
        exception_handlers={InputError: _bad_files, ExceptionGroup: _bad_files},
    )


def lead_token(study: Study) -> str:
    """Return the secret part of the lead's link."""
    return study.secret_for("lead")


def rater_links(study: Study, *, address: str) -> dict[str, str]:
    """Return the link of each rater whose link is not revoked."""
    return {rater: f"{address}/r/{token}" for token, rater in raters_by_token(study).items()}


def adjudicator_links(study: Study, *, address: str) -> dict[str, str]:
    """Return the link of each declared adjudicator whose link is not revoked."""
    return {name: f"{address}/a/{token}" for token, name in adjudicators_by_token(study).items()}


def _no_link(_: Request) -> Response:
    return PlainTextResponse("Open the link that was given to you.", status_code=404)


def _no_icon(_: Request) -> Response:
    return Response(status_code=204)


def _bad_files(request: Request, error: Exception) -> Response:
    """Say that the evaluation's files are at fault: to the lead how, to raters only that."""
    lines = ["The files of this evaluation cannot be used at present. Tell whoever sent the link."]
    if request.url.path.startswith("/lead/"):
        errors = error.exceptions if isinstance(error, ExceptionGroup) else [error]
        lines = [str(one) for one in errors]
    return PlainTextResponse("\n".join(lines), status_code=503)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    return Response(static_text(name), media_type=_STATIC[name])


class _WithHeaders:
    """Puts the headers on every answer, errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
