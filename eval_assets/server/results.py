"""Pages and JSON endpoints of the results, read-only."""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

_HEADERS = {
    # The report is one file: its scripts and styles stand in it.
    "content-security-policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


_NAMED = ("/evaluations/{name}", "/workshops/{name}")
"""Starts of the paths of one evaluation; the second is that of an earlier system's clients."""


@dataclass(frozen=True)
class Results:
    """Sources of one evaluation's results, read for each request.

    Args:
        name: The evaluation's name, by which it is addressed.
        report: The report as HTML; it may not exist yet.
        irr: Returns the agreement of humans; None if nothing is measured yet.
        judge_agreement: Returns the agreement of judges on each response.
        unavailable: Errors that say that the results cannot be read now.
    """

    name: str
    report: Path
    irr: Callable[[], dict[str, Any] | None]
    judge_agreement: Callable[[], list[dict[str, Any]]]
    judges: Callable[[], list[dict[str, Any]]]
    certificates: Callable[[], list[dict[str, Any]]]
    unavailable: tuple[type[Exception], ...]


def make_results_app(
    results: Sequence[Results], *, hosts: Sequence[str], token: str = ""
) -> Starlette:
    """Return the application that serves results; nothing can be changed through it.

    Args:
        results: Results of each evaluation; those of the only one are at / as well.
        hosts: Names under which the server may be addressed.
        token: What a request must bring along, as `Authorization: Bearer …` or `?token=…`; empty
            for a server that only this machine reaches.
    """
    pages = _ResultPages(results)
    return Starlette(
        routes=[
            Route("/", pages.report if len(results) == 1 else pages.index),
            Route("/health", lambda _: _json({"status": "ok"})),
            Route("/evaluations", pages.names),
            Route("/workshops", pages.names),
            *(
                Route(f"{start}/{name}", page)
                for start in ("", *_NAMED)
                for name, page in (
                    ("irr", pages.irr),
                    ("judge_agreement", pages.judge_agreement),
                    ("judges", pages.judges),
                    ("status", pages.status),
                    ("certificates", pages.certificates),
                    ("report", pages.report),
                )
                if start or len(results) == 1
            ),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(_WithToken, token=token),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers=dict.fromkeys(
            (*(error for item in results for error in item.unavailable), ExceptionGroup),
            _unavailable,
        )
        | {HTTPException: _not_here},
    )


class _ResultPages:
    def __init__(self, results: Sequence[Results]) -> None:
        self._results = {item.name: item for item in results}

    def _of(self, request: Request) -> Results:
        """Return the results of the evaluation that the path names, else of the only one."""
        name = request.path_params.get("name", next(iter(self._results)))
        if name not in self._results:
            names = ", ".join(self._results)
            raise HTTPException(404, f"There is no evaluation {name} here, but {names}.")
        return self._results[name]

    def names(self, _: Request) -> Response:
        """Return the names of the evaluations."""
        return _json(list(self._results))

    def index(self, request: Request) -> Response:
        """Return a page with a link to each report."""
        query = f"?{request.url.query}" if request.url.query else ""
        items = Markup("").join(
            Markup('<li><a href="{}">{}</a></li>').format(
                f"/evaluations/{quote(name, safe='')}/report{query}", name
            )
            for name in self._results
        )
        page = Markup(
            '<!doctype html><html lang="en"><title>Evaluations</title><h1>Evaluations</h1>'
            "<ul>{}</ul></html>"
        ).format(items)
        return HTMLResponse(str(page), headers=_HEADERS)

    def report(self, request: Request) -> Response:
        """Return the report as the last run wrote it."""
        report = self._of(request).report
        if not report.is_file():
            return PlainTextResponse("Nothing is measured yet.", status_code=404, headers=_HEADERS)
        return HTMLResponse(report.read_text("utf-8"), headers=_HEADERS)

    def irr(self, request: Request) -> Response:
        """Return the agreement of humans by question and overall."""
        result = self._of(request).irr()
        return _json(result) if result else _error(404, "Nothing is measured yet.")

    def status(self, request: Request) -> Response:
        """Return whether agreement can be measured, and the number of ratings."""
        result = self._of(request).irr()
        if not result:
            return _json({"has_sufficient_data": False, "ready_for_calculation": False})
        details = {name: value for name, value in result["details"].items() if name != "gates"}
        is_enough = details["error"] is None
        return _json(
            {
                "workshop_id": result["workshop_id"],
                "has_sufficient_data": is_enough,
                "ready_for_calculation": is_enough,
                **details,
            }
        )

    def judge_agreement(self, request: Request) -> Response:
        """Return the agreement of judges on each response."""
        return _json(self._of(request).judge_agreement())

    def judges(self, request: Request) -> Response:
        """Return the judges, with the agreement of each with people."""
        return _json(self._of(request).judges())

    def certificates(self, request: Request) -> Response:
        """Return the certificates, and whether each still holds."""
        return _json(self._of(request).certificates())


class _WithToken:
    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._token:
            request = Request(scope)
            values = request.headers.get("authorization", "").removeprefix("Bearer ")
            values = values or request.query_params.get("token", "")
            if not hmac.compare_digest(values.encode(), self._token.encode()):
                await _error(401, "A token is needed.")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _not_here(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - Starlette calls it for this class
    return _error(error.status_code, error.detail)


def _unavailable(_: Request, error: Exception) -> Response:
    errors = error.exceptions if isinstance(error, ExceptionGroup) else [error]
    return _error(503, "\n".join(map(str, errors)))


def _json(content: object) -> JSONResponse:
    return JSONResponse(content, headers=_HEADERS)


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status, headers=_HEADERS)
