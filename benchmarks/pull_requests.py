"""Rates at which gates hold up pull requests with noise only, and with losses."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.gates.decision import (
    GateEvidence,
    GateFigure,
    GateOutcome,
    evaluate_gates,
)
from eval_assets.cli.pull_request import Base, Decision, decide
from eval_assets.config.evaluation import GateName, default_gates
from eval_assets.scale import LIKERT5
from eval_assets.stats import Interval, agreement_profile

Floats = npt.NDArray[np.float64]

N_REQUESTS = 2000
"""Simulated pull requests behind each share: one of .01 is known to +-.005."""

N_RATERS = 3
PER_GROUP = 3
CUTS = (-1.0, -0.35, 0.35, 1.0)


@dataclass(frozen=True)
class Evaluation:
    """An evaluation whose raters see the quality of a response with error.

    Attributes:
        n_groups: Groups of responses.
        noise: Standard deviation of a rater's error; quality has 1.
    """

    n_groups: int
    noise: float

    def quality(self, rng: np.random.Generator) -> Floats:
        """Return the quality of every response; part of it is that of its group."""
        shared = np.repeat(rng.normal(0, math.sqrt(0.3), self.n_groups), PER_GROUP)
        qualities: Floats = shared + rng.normal(0, math.sqrt(0.7), self.n_groups * PER_GROUP)
        return qualities

    def gates(self, quality: Floats, rng: np.random.Generator) -> tuple[GateOutcome, ...]:
        """Return the gates on labels that are given anew."""
        impression = quality[:, None] + rng.normal(0, self.noise, (len(quality), N_RATERS))
        ratings = np.asarray(LIKERT5.values)[np.digitize(impression, CUTS)]
        groups = np.repeat(np.arange(self.n_groups), PER_GROUP)
        result = agreement_profile(
            ratings, scale=LIKERT5, level="ordinal", confidence=0.95, groups=groups
        )
        figures: dict[GateName, Interval] = {"human_a_hh": result.a_hh, "human_alpha": result.alpha}
        evidence = {name: _evidence(interval, len(quality)) for name, interval in figures.items()}
        return evaluate_gates(evidence, default_gates())


def table() -> str:
    """Simulate pull requests that give all labels anew, and return the decisions on them."""
    return f"{_of_noise()}\n\n{_of_losses()}"


def _of_noise() -> str:
    rows: list[tuple[str, ...]] = []
    for n_groups in (8, 24, 60):
        for noise in (0.3, 0.45, 0.55, 0.7, 1.0):
            evaluation = Evaluation(n_groups, noise)
            requests = _requests(evaluation, evaluation, np.random.default_rng(n_groups))
            rows.append(
                (
                    requests.n_responses,
                    f"{requests.alpha:.2f}",
                    f"{requests.open_before:.1%}",
                    "" if math.isnan(requests.closing) else f"{requests.closing:.1%}",
                    f"{requests.decisions['fail']:.2%}",
                    f"{requests.decisions['cannot tell']:.1%}",
                )
            )
    head = (
        "responses",
        "mean alpha",
        "open on the base",
        "closed by the plain gate, of those open before",
        "held up",
        "cannot tell",
    )
    return (
        "A pull request gives all labels of the same responses anew, by the same raters: it adds "
        f"noise and nothing else. {N_REQUESTS:,} requests a row; {N_RATERS} raters, five values, "
        f"groups of {PER_GROUP} responses, default gates of people.\n\n{_markdown(head, rows)}"
    )


def _of_losses() -> str:
    rows: list[tuple[str, ...]] = []
    for n_groups in (8, 24, 60, 170):
        for noise in (0.7, 1.0, 1.5):
            rng = np.random.default_rng(n_groups)
            requests = _requests(Evaluation(n_groups, 0.3), Evaluation(n_groups, noise), rng)
            shares = [requests.decisions[name] for name in ("fail", "cannot tell", "pass")]
            rows.append(
                (
                    requests.n_responses,
                    f"{requests.alpha_before:.2f}",
                    f"{requests.alpha:.2f}",
                    *(f"{share:.1%}" for share in shares),
                )
            )
    head = (
        "responses",
        "mean alpha of the base",
        "of the request",
        "held up",
        "cannot tell",
        "passed",
    )
    return (
        "A pull request with a planted loss: its raters see the quality with more error than those "
        f"of the base. {N_REQUESTS:,} requests a row, otherwise as above.\n\n"
        f"{_markdown(head, rows)}"
    )


@dataclass(frozen=True)
class Requests:
    """Decisions on simulated pull requests.

    Attributes:
        n_responses: Responses of each.
        alpha_before: Mean alpha of the bases.
        alpha: Mean alpha of the requests.
        open_before: Share of the bases whose gates are open.
        closing: Share of these with a gate that is closed on the request; NaN without any.
        decisions: Share of each decision.
    """

    n_responses: str
    alpha_before: float
    alpha: float
    open_before: float
    closing: float
    decisions: Mapping[Decision, float]


def _requests(base: Evaluation, request: Evaluation, rng: np.random.Generator) -> Requests:
    decisions: Counter[Decision] = Counter()
    n_open, n_closing, alphas = 0, 0, []
    for _ in range(N_REQUESTS):
        quality = base.quality(rng)
        before, now = base.gates(quality, rng), request.gates(quality, rng)
        main_branch = Base(json.loads(json.dumps([outcome.to_json() for outcome in before])))
        decisions[decide(now, main_branch)] += 1
        alphas.append((before[1].overall.value, now[1].overall.value))
        was_open = not any(outcome.is_closed for outcome in before)
        n_open += was_open
        n_closing += was_open and any(outcome.is_closed for outcome in now)
    alpha_before, alpha = np.nanmean(alphas, axis=0)
    shares = {name: decisions[name] / N_REQUESTS for name in get_args(Decision)}
    return Requests(
        str(base.n_groups * PER_GROUP),
        float(alpha_before),
        float(alpha),
        n_open / N_REQUESTS,
        n_closing / n_open if n_open else math.nan,
        shares,
    )


def _markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _evidence(interval: Interval, n_units: int) -> GateEvidence:
    """Return a figure over all questions, of which there is one."""
    figures = tuple(
        GateFigure(question, interval.value, interval.low, interval.high, n_units)
        for question in (None, "quality")
    )
    return GateEvidence(figures, "v1")
