"""The web application: routes, access and headers."""

import base64
import errno
import hmac
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eval_assets.config.labelling import DISCUSSION
from eval_assets.errors import InputError
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task, page_texts
from eval_assets.labelling.rater_queue import RaterQueue, WorkUnit, now
from eval_assets.labelling.rich_text import html_of
from eval_assets.labelling.study import Study, adjudicators_by_token, raters_by_token
from eval_assets.server.lead_pages import LeadSources, adjudicator_routes, lead_routes
from eval_assets.server.rendering import (
    TEMPLATES,
    image_address,
    json_in_html,
    served_image,
    static_text,
)

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

_STATIC = {
    "label.css": "text/css",
    "label.js": "text/javascript",
    "case.js": "text/javascript",
}


def make_app(  # noqa: PLR0913 - the data, the recipients and the conditions
    study: Study,
    *,
    hosts: Sequence[str],
    raters: bool = True,
    lead: LeadSources | None = None,
    current: Callable[[], Study] | None = None,
    password: str = "",
) -> Starlette:
    """Return the application that serves each rater their own work, and the lead all of it.

    Args:
        study: The study to label.
        hosts: Names under which the server may be addressed.
        raters: Whether raters' pages are served.
        lead: Sources of the lead's pages; None to serve no such pages.
        current: Returns the study of the current files; None if they do not change.
        password: What browsers ask for beside the link, under any user name; empty for nothing.
    """
    current = current or (lambda: study)
    return Starlette(
        routes=[
            Route("/", lambda _: PlainTextResponse("Open the link that was given to you.", 404)),
            Route("/favicon.ico", lambda _: Response(status_code=204)),
            Route("/static/{name}", _static),
            Route("/images/{code}", served_image),
            *(rater_routes(current) if raters else []),
            *(lead_routes(lead_token(study), current, lead) if lead else []),
            *(adjudicator_routes(current, lead) if lead else []),
        ],
        middleware=[
            Middleware(_WithHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(_WithPassword, password=password),
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


def _bad_files(request: Request, error: Exception) -> Response:
    """Return a page about an error in the evaluation's files, with details for the lead only."""
    lines = ["The files of this evaluation cannot be used at present. Tell whoever sent the link."]
    if request.url.path.startswith("/lead/"):
        errors = error.exceptions if isinstance(error, ExceptionGroup) else [error]
        lines = [str(item) for item in errors]
    return PlainTextResponse("\n".join(lines), status_code=503)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    return Response(static_text(name), media_type=_STATIC[name])


class _WithPassword:
    """Refuses requests without the password by HTTP basic authentication."""

    def __init__(self, app: ASGIApp, password: str) -> None:
        self._app = app
        self._password = password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._password and not self._is_given(Request(scope)):
            asking = {"www-authenticate": 'Basic realm="Labelling", charset="UTF-8"'}
            response = PlainTextResponse("A password is needed.", 401, headers=asking)
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_given(self, request: Request) -> bool:
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        try:
            password = base64.b64decode(credentials, validate=True).partition(b":")[2]
        except ValueError:
            return False
        is_basic = scheme.casefold() == "basic"
        return is_basic and hmac.compare_digest(password, self._password.encode())


class _WithHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


MOST_BYTES = 256 * 1024
"""Size above which an answer is refused without being read."""


def rater_routes(current: Callable[[], Study]) -> list[Route]:
    """Return the routes of all raters."""
    pages = _RaterPages(current)
    return [
        Route("/r/{token}", pages.page),
        Route("/r/{token}/answers", pages.answers),
        Route("/r/{token}/labels", pages.label, methods=["POST"]),
        Route("/r/{token}/close", pages.close, methods=["POST"]),
    ]


class _Work:
    """Queues of the raters of a study by round, created on first use."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.round = study.evaluation.labelling.round
        self.html = html_of(study.evaluation, image_address)
        self.queue_of_round = cache(lambda rater, number: study.at_round(number).work(rater))
        self.possible_units = cache(
            lambda rater, number: study.at_round(number).possible_units(rater)
        )


class _RaterPages:
    def __init__(self, current: Callable[[], Study]) -> None:
        self._current = current
        self._latest = _Work(current())
        for rater in self._latest.study.raters:
            page_texts(self._latest.study.queues[rater], self._latest.html)

    @property
    def _work(self) -> _Work:
        study = self._current()
        if study is not self._latest.study:
            self._latest = _Work(study)
        return self._latest

    def page(self, request: Request) -> Response:
        """Show the labelling screen with the rater's queue."""
        rater, work = self._rater(request), self._work
        name = work.study.evaluation.name
        task = {
            **page_task(work.study.queue(rater), work.html),
            # Not the link: labels that wait in a browser must survive a new one.
            "page": f"{name}/{rater}",
            "round": work.round,
            "address": f"/r/{request.path_params['token']}",
        }
        page = TEMPLATES.get_template("label.html.jinja").render(
            evaluation=name,
            rater=rater,
            task_json=json_in_html(task),
        )
        return HTMLResponse(page)

    def answers(self, request: Request) -> Response:
        """Return the rater's own answers, for a page whose other window went on."""
        rater, work = self._rater(request), self._work
        number = request.query_params.get("round", "")
        is_number = number.isdecimal() and len(number) < 10  # noqa: PLR2004 - int() refuses long ones
        is_earlier = is_number and 1 <= int(number) < work.round
        queue = work.queue_of_round(rater, int(number)) if is_earlier else work.study.queue(rater)
        return JSONResponse(page_answers(queue))

    async def label(self, request: Request) -> Response:
        """Save one answer or undo; it is on disk before this replies.

        A page removes an answer only once it is `done`, or `refused` for good.
        """
        body = await _body(request)
        try:
            return await run_in_threadpool(self._labelled, request, body)
        except HTTPException:
            reason = "this link is not valid any more; ask for the new one and open it here"
            return JSONResponse({"unavailable": reason}, status_code=404)
        except InputError as error:
            return JSONResponse({"unavailable": _unavailability(error)}, status_code=503)
        except ValidationError as error:
            return _refused(error.errors(include_url=False, include_input=False)[0]["msg"])
        except ValueError as error:
            return _refused(str(error))

    def _labelled(self, request: Request, body: bytes) -> Response:
        """Save an answer in the round of its unit; reply with its number of finished screens."""
        rater, work = self._rater(request), self._work
        action = PAGE_ACTION.validate_json(body)
        for code in action.by_unit:
            queue, units = _queue_of(work, rater, code)
            if code in units:
                break
        action.apply(queue, units, at=now())
        return JSONResponse({"done": queue.n_screens_done()})

    def close(self, request: Request) -> Response:
        """Note that the rater stopped for now."""
        rater, work = self._rater(request), self._work
        work.study.queue(rater).close(at=now())
        return JSONResponse({})

    def _rater(self, request: Request) -> str:
        rater = raters_by_token(self._current()).get(request.path_params["token"])
        if rater is None:
            raise HTTPException(404, "There is nothing behind this link.")
        return rater


def _queue_of(work: _Work, rater: str, code: str) -> tuple[RaterQueue, Mapping[str, WorkUnit]]:
    """Return the queue of a unit's round, with the units that may be answered.

    A label that waited in a page while the lead began another round belongs to its own. One that
    waited while the lead declared a calibration, or adjudicated its response, is accepted.
    """
    regular = work.study.queues[rater]
    if code in regular.by_code:
        return regular, regular.by_code
    queue = work.study.queue(rater)
    if code in queue.by_code:
        return queue, queue.by_code
    for number in range(work.round, 0, -1):
        units = work.possible_units(rater, number)
        if code in units and (number < work.round or units[code].key.kind == DISCUSSION):
            return work.queue_of_round(rater, number), units
    return queue, queue.by_code


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415, "Send JSON.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, "The answer is too long.")
    return body


def _refused(reason: str) -> JSONResponse:
    return JSONResponse({"refused": reason}, status_code=422)


def _unavailability(error: InputError) -> str:
    """Return why a label cannot be stored at present, without file names."""
    cause = error.__cause__
    if not isinstance(cause, OSError):
        return "a file of labels is damaged; tell whoever sent the link"
    if cause.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "the server's disk is full; tell whoever sent the link"
    return "the server cannot write its files; tell whoever sent the link"
