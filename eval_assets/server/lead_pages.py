"""Pages of the lead: progress, label quality and disagreements."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from eval_assets.config.labelling import KINDS
from eval_assets.errors import InputError
from eval_assets.labelling.adjudication import AdjudicationQueue, Case, Disagreement
from eval_assets.labelling.choices import choices_of, parse_typed, value_name
from eval_assets.labelling.quality import MEASURES, QualityFigure
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.rich_text import html_of
from eval_assets.labelling.study import Study, adjudicators_by_token
from eval_assets.server.rendering import TEMPLATES, image_address

_MOST_BYTES = 64 * 1024

_GONE = "There is no such disagreement any more."


@dataclass(frozen=True)
class LeadSources:
    """Sources of the data on the lead's pages that change during labelling."""

    disagreements: Callable[[], Sequence[Disagreement]]
    quality: Callable[[], Sequence[QualityFigure]]


def lead_routes(token: str, current: Callable[[], Study], sources: LeadSources) -> list[Route]:
    """Return the routes of the lead."""
    pages = _LeadPages(f"/lead/{token}", current, sources)
    return [
        Route(f"/lead/{token}", pages.overview),
        Route(f"/lead/{token}/queue", pages.queue),
        Route(f"/lead/{token}/case/{{code}}", pages.case),
        Route(f"/lead/{token}/case/{{code}}", pages.decide, methods=["POST"]),
    ]


def adjudicator_routes(current: Callable[[], Study], sources: LeadSources) -> list[Route]:
    """Return the routes of the declared adjudicators."""

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


@dataclass(frozen=True)
class _LeadPages:
    start: str
    current: Callable[[], Study]
    sources: LeadSources
    adjudicator: str | None = None

    def _by(self, typed: str) -> str:
        """Return the owner of the link, or the name in the form if no adjudicator is declared."""
        declared = self._study.evaluation.labelling.adjudicators
        if self.adjudicator not in (declared or (None,)):
            raise HTTPException(404, "Adjudicators have links of their own.")
        return self.adjudicator or typed.strip()

    @property
    def _study(self) -> Study:
        return self.current()

    def overview(self, _: Request) -> Response:
        """Show the progress and label quality of every rater, with advice."""
        figures = self.sources.quality()
        damaged = [
            problem for kind in ("", *KINDS) for problem in self._study.sessions.readable(kind)[1]
        ]
        cases = self._queue("").cases()
        decided = Counter(c.unit.question.id for c in cases if c.decision is not None)
        waiting = Counter(c.unit.question.id for c in cases if c.decision is None)
        calibrating: dict[str, str] = {}
        for rater in self._study.raters:
            with suppress(InputError):
                rounds = self._study.calibration_rounds(rater)
                if rounds and not rounds[-1].is_passed:
                    calibrating[rater] = rounds[-1].progress()
        return self._page(
            "lead.html.jinja",
            progress=rater_progress(self._study),
            tables=_tables(figures),
            meanings=MEASURES,
            calibrating=calibrating,
            advice=_advice(figures),
            damaged=damaged,
            n_open=waiting.total(),
            n_by_question={
                question.id: (waiting[question.id], decided[question.id])
                for question in self._study.evaluation.rubric
                if question.id in waiting or question.id in decided
            },
        )

    def queue(self, request: Request) -> Response:
        """Show all disagreements, open ones first, without their ratings."""
        by = self._by(request.query_params.get("by", ""))
        return self._page("queue.html.jinja", by=by, cases=self._cases(self._queue(by)).items())

    def case(self, request: Request) -> Response:
        """Show one disagreement, with the other ratings once the adjudicator has rated it."""
        return self._case_page(request, by=self._by(request.query_params.get("by", "")))

    async def decide(self, request: Request) -> Response:
        """Save a step and show the disagreement again, or the reason why it cannot be saved."""
        body = await request.body()
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "The text is too long.")
        form = {name: values[0] for name, values in parse_qs(body.decode(errors="replace")).items()}
        return await run_in_threadpool(self._decided, request, form)

    def _decided(self, request: Request, form: dict[str, str]) -> Response:
        by = self._by(form.get("by", ""))
        queue = self._queue(by)
        case = self._cases(queue).get(request.path_params["code"])
        if case is None:
            raise HTTPException(404, _GONE)
        try:
            _take_step(queue, case, {**form, "by": by})
        except ValueError as error:
            return self._case_page(request, by=by, wrong=f"Not saved: {error}.")
        address = f"{self.start}/case/{request.path_params['code']}?by={quote(by)}"
        return RedirectResponse(address, status_code=303)

    def _case_page(self, request: Request, *, by: str, wrong: str = "") -> Response:
        cases = self._cases(self._queue(by))
        code = request.path_params["code"]
        if code not in cases:
            raise HTTPException(404, _GONE)
        case, codes = cases[code], list(cases)
        place = codes.index(code)
        choices = choices_of(case.unit.question.scale)
        counts = Counter(case.disagreement.ratings.values())
        # All values of the scale, or those given if it has none.
        values = [choice.value for choice in choices] or sorted(counts)
        return self._page(
            "case.html.jinja",
            status_code=422 if wrong else 200,
            by=by,
            case=case,
            place=place + 1,
            n_cases=len(codes),
            before=codes[place - 1] if place else None,
            after=codes[place + 1] if place + 1 < len(codes) else None,
            choices=choices,
            split=[(value_name(of, case.unit.question.scale), counts[of]) for of in values],
            html=html_of(self._study.evaluation, image_address),
            wrong=wrong,
        )

    def _cases(self, queue: AdjudicationQueue) -> dict[str, Case]:
        """Return the cases by opaque names of their responses, whose ids may name the model."""
        secret_for = self._study.secret_for
        return {secret_for("case", *of.disagreement.unit)[:16]: of for of in queue.cases()}

    def _queue(self, by: str) -> AdjudicationQueue:
        return self._study.adjudication_queue(self.sources.disagreements, by=by)

    def _page(self, template: str, *, status_code: int = 200, **values: object) -> Response:
        page = TEMPLATES.get_template(template).render(
            address=self.start,
            evaluation=self._study.evaluation.name,
            adjudicators=self._study.evaluation.labelling.adjudicators,
            is_lead=self.adjudicator is None,
            **values,
        )
        return HTMLResponse(page, status_code=status_code)


def _take_step(queue: AdjudicationQueue, case: Case, form: dict[str, str]) -> None:
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


def _advice(figures: Iterable[QualityFigure]) -> list[tuple[QualityFigure, list[str]]]:
    """Return one figure with advice a rater and measure, and the further questions it holds for."""
    advice: dict[tuple[str, str], tuple[QualityFigure, list[str]]] = {}
    for figure in figures:
        if figure.advice:
            _, further = advice.setdefault((figure.rater_id, figure.measure), (figure, []))
            further.append(figure.question_id)
    return [(figure, questions[1:]) for figure, questions in advice.values()]


def _tables(
    figures: Sequence[QualityFigure],
) -> dict[str, tuple[list[str], dict[str, dict[str, QualityFigure]]]]:
    """Return the measures that any rater has and each rater's figures, by question."""
    tables: dict[str, tuple[list[str], dict[str, dict[str, QualityFigure]]]] = {}
    for figure in figures:
        _, raters = tables.setdefault(figure.question_id, ([], {}))
        raters.setdefault(figure.rater_id, {})[figure.measure] = figure
    for measures, raters in tables.values():
        measures += [name for name in MEASURES if any(name in of for of in raters.values())]
    return tables


LONGEST_SECONDS = 600
"""Time of one label above which the rater was away."""


@dataclass(frozen=True)
class RaterProgress:
    """Work of one rater in the current round.

    Args:
        n_done: Units with an answer; None if a session file is damaged.
        n_skipped: Units answered as unclear; None likewise.
        hours: Time spent on answers, each counted up to `LONGEST_SECONDS`; None if no answer has
            a time.
        labels_per_hour: Answers with a time, by these hours.
        last_at: Time of the last answer.
    """

    rater_id: str
    n_done: int | None
    n_units: int
    n_skipped: int | None
    hours: float | None = None
    labels_per_hour: float | None = None
    last_at: datetime | None = None


def rater_progress(study: Study) -> list[RaterProgress]:
    """Return the progress of each rater of a study."""
    rows = []
    for rater, queue in study.queues.items():
        n_units = len(queue.units)
        try:
            labels = list(queue.labels().values())
        except InputError:
            rows.append(RaterProgress(rater, n_done=None, n_units=n_units, n_skipped=None))
            continue
        events = (event for label in labels for event in label.events)
        seconds = [
            min(event.seconds, LONGEST_SECONDS) for event in events if event.seconds is not None
        ]
        hours = sum(seconds) / 3600 if seconds else None
        times = (of.events[0].labelled_at for of in labels if of.is_time_known)
        rows.append(
            RaterProgress(
                rater,
                n_done=len(labels),
                n_units=n_units,
                n_skipped=sum(label.rating is None for label in labels),
                hours=hours,
                labels_per_hour=len(seconds) / hours if hours else None,
                last_at=max(times, default=None),
            )
        )
    return rows
