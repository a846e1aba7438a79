"""Pages of the lead: progress, label quality and disagreements."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from eval_assets.config.labelling import KINDS
from eval_assets.errors import InputError
from eval_assets.labelling.adjudication import AdjudicationQueue, Case, Disagreement
from eval_assets.labelling.choices import choices_of, parse_typed
from eval_assets.labelling.links import adjudicators_by_token
from eval_assets.labelling.quality import MEASURES, QualityFigure
from eval_assets.labelling.rater_progress import progress_csv, rater_progress
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.rich_text import html_of
from eval_assets.labelling.study import Study
from eval_assets.server._rendering import TEMPLATES, image_address

_MOST_BYTES = 64 * 1024


@dataclass(frozen=True)
class LeadSources:
    """Sources of the data on the lead's pages that change during labelling.

    Args:
        disagreements: Returns disagreements as they are now, the worst first.
        quality: Returns figures of every rater as they are now.
    """

    disagreements: Callable[[], Sequence[Disagreement]]
    quality: Callable[[], Sequence[QualityFigure]]


def lead_routes(token: str, current: Callable[[], Study], sources: LeadSources) -> list[Route]:
    """Return the routes of the lead.

    Args:
        token: Secret part of the lead's link.
        current: Returns what is labelled, as it is now.
        sources: Data that change during labelling.
    """
    pages = _LeadPages(f"/lead/{token}", current, sources)
    return [
        Route(f"/lead/{token}", pages.overview),
        Route(f"/lead/{token}/work.csv", pages.work),
        Route(f"/lead/{token}/queue", pages.queue),
        Route(f"/lead/{token}/case/{{code}}", pages.case),
        Route(f"/lead/{token}/case/{{code}}", pages.decide, methods=["POST"]),
    ]


def adjudicator_routes(current: Callable[[], Study], sources: LeadSources) -> list[Route]:
    """Return the routes of the declared adjudicators.

    Args:
        current: Returns what is labelled, as it is now.
        sources: Data that change during labelling.
    """

    def pages(request: Request) -> "_LeadPages":
        token = request.path_params["token"]
        name = adjudicators_by_token(current()).get(token)
        if name is None:
            raise HTTPException(404, "There is nothing behind this link.")
        return _LeadPages(f"/a/{token}", current, sources, adjudicator=name)

    def queue(request: Request) -> Response:
        return pages(request).queue(request)

    def case(request: Request) -> Response:
        return pages(request).case(request)

    async def decide(request: Request) -> Response:
        return await pages(request).decide(request)

    return [
        Route("/a/{token}", queue),
        Route("/a/{token}/queue", queue),
        Route("/a/{token}/case/{code}", case),
        Route("/a/{token}/case/{code}", decide, methods=["POST"]),
    ]


class _LeadPages:
    def __init__(
        self,
        address: str,
        current: Callable[[], Study],
        sources: LeadSources,
        *,
        adjudicator: str | None = None,
    ) -> None:
        self._address = address
        self._current = current
        self._sources = sources
        self._adjudicator = adjudicator

    def _by(self, typed: str) -> str:
        """Return who adjudicates: the owner of the link, else who says so if nobody is declared."""
        declared = self._study.evaluation.labelling.adjudicators
        if self._adjudicator not in (declared or (None,)):
            raise HTTPException(404, "Adjudicators have links of their own.")
        return self._adjudicator or typed.strip()

    @property
    def _study(self) -> Study:
        return self._current()

    def overview(self, _: Request) -> Response:
        """Show the progress of every rater, their figures, and what to do about them."""
        figures = self._sources.quality()
        sessions, damaged = self._study.sessions.readable()
        for kind in KINDS:
            damaged += self._study.sessions.readable(kind)[1]
        return self._page(
            "lead.html.jinja",
            progress=rater_progress(self._study, at=now()),
            tables=_tables(figures),
            meanings=MEASURES,
            calibrating=_calibrating(self._study),
            advice=[figure for figure in figures if figure.advice],
            damaged=damaged,
            edited=[session.key.session_id for session in sessions if session.was_edited],
            remnants=[path.name for path in self._study.sessions.remnants()],
            n_open=sum(case.decision is None for case in self._queue("").cases()),
        )

    def work(self, _: Request) -> Response:
        """Return each rater's labels and hours as CSV, for payment."""
        text = progress_csv(rater_progress(self._study, at=now()))
        name = f"attachment; filename=work-round-{self._study.evaluation.labelling.round}.csv"
        return Response(text, media_type="text/csv", headers={"content-disposition": name})

    def queue(self, request: Request) -> Response:
        """Show all disagreements, open ones first, without their ratings."""
        by = self._by(request.query_params.get("by", ""))
        cases = [(_code(case), case) for case in self._queue(by).cases()]
        return self._page("queue.html.jinja", by=by, cases=cases)

    def case(self, request: Request) -> Response:
        """Show one disagreement: to be rated first, then with all ratings."""
        return self._case_page(request, by=self._by(request.query_params.get("by", "")))

    async def decide(self, request: Request) -> Response:
        """Save a step and show the disagreement again, or say why it cannot be saved."""
        body = await request.body()
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "The text is too long.")
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        return await run_in_threadpool(self._decided, request, form)

    def _decided(self, request: Request, form: dict[str, str]) -> Response:
        by = self._by(form.get("by", ""))
        queue = self._queue(by)
        case = self._find(queue, request.path_params["code"])
        try:
            _take_step(queue, case, {**form, "by": by})
        except ValueError as error:
            return self._case_page(request, by=by, wrong=f"Not saved: {error}.")
        here = f"{self._address}/case/{request.path_params['code']}?by={quote(by)}"
        return RedirectResponse(here, status_code=303)

    def _case_page(self, request: Request, *, by: str, wrong: str = "") -> Response:
        case = self._find(self._queue(by), request.path_params["code"])
        return self._page(
            "case.html.jinja",
            status_code=422 if wrong else 200,
            by=by,
            code=request.path_params["code"],
            case=case,
            choices=choices_of(case.unit.question.scale),
            html=html_of(self._study.evaluation, image_address),
            wrong=wrong,
        )

    def _find(self, queue: AdjudicationQueue, code: str) -> Case:
        result = next((case for case in queue.cases() if _code(case) == code), None)
        if result is None:
            raise HTTPException(404, "There is no such disagreement any more.")
        return result

    def _queue(self, by: str) -> AdjudicationQueue:
        return AdjudicationQueue(self._study, self._sources.disagreements, by=by)

    def _page(self, template: str, *, status_code: int = 200, **values: object) -> Response:
        page = TEMPLATES.get_template(template).render(
            address=self._address,
            evaluation=self._study.evaluation.name,
            adjudicators=self._study.evaluation.labelling.adjudicators,
            is_lead=self._adjudicator is None,
            **values,
        )
        return HTMLResponse(page, status_code=status_code)


def _take_step(queue: AdjudicationQueue, case: Case, form: dict[str, str]) -> None:
    """Apply a form to the queue."""
    step, reason, values = form.get("step"), form.get("reason", ""), form.get("value", "")
    if not form.get("by", "").strip():
        raise ValueError("say who you are")
    if step in {"rate", "settle"} and not values:
        raise ValueError("choose a value")
    match step:
        case "rate":
            queue.rate(case, parse_typed(values, case.unit.question.scale), at=now())
        case "settle":
            value = parse_typed(values, case.unit.question.scale)
            queue.settle(case, value, reason=reason, at=now())
        case "exclude":
            queue.settle(case, None, reason=reason, at=now())
        case "comment":
            queue.comment(case, reason, at=now())
        case "reopen":
            queue.reopen(case, reason=reason, at=now())
        case _:
            raise ValueError("choose what to do")


def _calibrating(study: Study) -> dict[str, str]:
    """Return what each rater with an open or failed calibration is told about it."""
    latest: dict[str, str] = {}
    for rater in study.raters:
        with suppress(InputError):
            rounds = study.calibration_rounds(rater)
            if rounds and not rounds[-1].is_passed:
                latest[rater] = rounds[-1].progress()
    return latest


def _tables(
    figures: Sequence[QualityFigure],
) -> dict[str, tuple[list[str], dict[str, dict[str, QualityFigure]]]]:
    """Return, by question, the measures that any rater has, and each rater's figures."""
    tables: dict[str, tuple[list[str], dict[str, dict[str, QualityFigure]]]] = {}
    for figure in figures:
        _, raters = tables.setdefault(figure.question_id, ([], {}))
        raters.setdefault(figure.rater_id, {})[figure.measure] = figure
    for measures, raters in tables.values():
        measures += [name for name in MEASURES if any(name in of for of in raters.values())]
    return tables


def _code(case: Case) -> str:
    return hashlib.sha256("\x1f".join(case.disagreement.unit).encode()).hexdigest()[:16]
