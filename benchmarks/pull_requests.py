"""How many pull requests that only add noise are held up by the gates: simulated labels."""

import json
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.gates.decision import (
    GateEvidence,
    GateFigure,
    GateOutcome,
    evaluate_gates,
)
from eval_assets.cli.pull_request import Base, decide
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
        own: Floats = shared + rng.normal(0, math.sqrt(0.7), self.n_groups * PER_GROUP)
        return own

    def gates(self, quality: Floats, rng: np.random.Generator) -> tuple[GateOutcome, ...]:
        """Return the gates on labels that are given anew."""
        seen = quality[:, None] + rng.normal(0, self.noise, (len(quality), N_RATERS))
        ratings = np.asarray(LIKERT5.values)[np.digitize(seen, CUTS)]
        groups = np.repeat(np.arange(self.n_groups), PER_GROUP)
        found = agreement_profile(
            ratings, scale=LIKERT5, level="ordinal", confidence=0.95, groups=groups
        )
        figures: dict[GateName, Interval] = {"human_a_hh": found.a_hh, "human_alpha": found.alpha}
        evidence = {name: _evidence(interval, len(quality)) for name, interval in figures.items()}
        return evaluate_gates(evidence, default_gates())


def table() -> str:
    """Simulate pull requests that give all labels anew, and return what is decided on them."""
    rows = [
        _row(Evaluation(n_groups, noise), np.random.default_rng(n_groups))
        for n_groups in (8, 24, 60)
        for noise in (0.3, 0.45, 0.55, 0.7, 1.0)
    ]
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


def _row(evaluation: Evaluation, rng: np.random.Generator) -> tuple[str, ...]:
    decisions: Counter[str] = Counter()
    n_open, n_closing, alphas = 0, 0, []
    for _ in range(N_REQUESTS):
        quality = evaluation.quality(rng)
        before, now = evaluation.gates(quality, rng), evaluation.gates(quality, rng)
        base = Base(json.loads(json.dumps([outcome.to_json() for outcome in before])))
        decisions[decide(now, base)] += 1
        alphas.append(now[1].overall.value)
        was_open = not any(outcome.is_closed for outcome in before)
        n_open += was_open
        n_closing += was_open and any(outcome.is_closed for outcome in now)
    return (
        str(evaluation.n_groups * PER_GROUP),
        f"{np.nanmean(alphas):.2f}",
        f"{n_open / N_REQUESTS:.1%}",
        f"{n_closing / n_open:.1%}" if n_open else "",
        f"{decisions['fail'] / N_REQUESTS:.2%}",
        f"{decisions['cannot tell'] / N_REQUESTS:.1%}",
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
