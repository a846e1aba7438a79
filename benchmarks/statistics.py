"""Speed and memory of the agreement statistics, compared with alternative packages."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import krippendorff
import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import aggregate_raters  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss_kappa

from benchmarks.table import Row, duration, markdown, memory, peak_bytes, seconds, times
from eval_assets.scale import LIKERT5, Level
from eval_assets.stats import (
    agreement_profile,
    alpha_by_cluster,
    cohen_kappa,
    fleiss_kappa,
    human_agreement,
    judge_human_profile,
    krippendorff_alpha,
    overall_profile,
)

Floats = npt.NDArray[np.float64]


def table() -> str:
    """Measure everything."""
    return markdown(
        [
            *_large(),
            *_many_values(),
            *_small(),
            *_intervals(),
            *_by_group(),
        ]
    )


def five_values(n_units: int, *, missing: float) -> Floats:
    """Ratings 1-5 by three raters of `n_units` responses."""
    rng = np.random.default_rng(n_units)
    truth = rng.uniform(0.5, 5.5, (n_units, 1))
    ratings: Floats = np.rint(np.clip(truth + rng.normal(0, 1, (n_units, 3)), 1, 5))
    ratings[rng.random(ratings.shape) < missing] = math.nan
    return ratings


@dataclass(frozen=True)
class Comparison:
    """The same coefficient of the same ratings, here and with a peer."""

    work: str
    ours: Callable[[], float]
    peer: Callable[[], float]
    peer_name: str

    def row(self, *, target: float) -> Row:
        """Time both, once their results are known to be the same."""
        assert math.isclose(self.ours(), self.peer(), rel_tol=1e-9, abs_tol=1e-9), self.work
        ours, peer = seconds(self.ours), seconds(self.peer)
        return Row(
            self.work,
            ours=duration(ours),
            peer=f"{duration(peer)} ({self.peer_name})",
            ratio=times(ours, peer),
            target=f"{target:g} x",
            met=peer >= target * ours,
        )

    def memory_row(self, *, target: float) -> Row:
        """Peak memory of both."""
        ours, peer = peak_bytes(self.ours), peak_bytes(self.peer)
        return Row(
            f"{self.work}: peak memory",
            ours=memory(ours),
            peer=f"{memory(peer)} ({self.peer_name})",
            ratio=times(ours, peer),
            target=f"{target:g} x",
            met=peer >= target * ours,
        )


def _alpha(ratings: Floats, level: Level, work: str) -> Comparison:
    return Comparison(
        f"alpha, {level}, {work}",
        partial(krippendorff_alpha, ratings, level=level),
        partial(krippendorff.alpha, ratings.T, level_of_measurement=level),
        "krippendorff",
    )


def _large() -> list[Row]:
    ratings = five_values(1_000_000, missing=0.1)
    work = "1,000,000 x 3, 5 values, 10 % missing"
    alphas = _alpha(ratings, "interval", work), _alpha(ratings, "ordinal", work)
    return [row for alpha in alphas for row in (alpha.row(target=20), alpha.memory_row(target=10))]


def _many_values() -> list[Row]:
    rng = np.random.default_rng(1)
    ratings = rng.integers(0, 10_000, (1_000_000, 1)) + rng.integers(0, 2_000, (1_000_000, 3))
    ratings = np.minimum(ratings, 9_999).astype(np.float64)
    fractions = ratings / 7
    runs = {
        "alpha, interval": partial(krippendorff_alpha, ratings, level="interval"),
        "alpha, ordinal": partial(krippendorff_alpha, ratings, level="ordinal"),
        "alpha, ordinal, fractions": partial(krippendorff_alpha, fractions, level="ordinal"),
        "A^HH": partial(human_agreement, ratings, low=0, high=9_999),
    }
    rows = []
    for name, run in runs.items():
        run_seconds, run_bytes = seconds(run), peak_bytes(run)
        rows.append(
            Row(
                f"{name}, 1,000,000 x 3, 10,000 values",
                ours=f"{duration(run_seconds)}, {memory(run_bytes)}",
                peer="none (krippendorff would need 80 GB of counts)",
                ratio="",
                target="1 s, 1,000 MB",
                met=run_seconds < 1 and run_bytes < 1e9,
            )
        )
    return rows


def _small() -> list[Row]:
    ratings, complete = five_values(1_000, missing=0.1), five_values(1_000, missing=0.0)
    as_integers = complete.astype(np.int64)
    one, other = complete[:, 0], complete[:, 1]
    comparisons = [
        _alpha(ratings, "nominal", "1,000 x 3"),
        _alpha(ratings, "ordinal", "1,000 x 3"),
        _alpha(ratings, "interval", "1,000 x 3"),
        _alpha(ratings, "ratio", "1,000 x 3"),
        Comparison(
            "Fleiss' kappa, 1,000 x 3",
            partial(fleiss_kappa, complete),
            lambda: float(peer_fleiss_kappa(aggregate_raters(as_integers)[0])),
            "statsmodels",
        ),
        Comparison(
            "Cohen's kappa, quadratic, 1,000 x 2",
            partial(cohen_kappa, one, other, weights="quadratic"),
            partial(cohen_kappa_score, one, other, weights="quadratic"),
            "scikit-learn",
        ),
    ]
    return [comparison.row(target=1) for comparison in comparisons]


def _intervals() -> list[Row]:
    rng = np.random.default_rng(1)
    ratings, groups = five_values(100_000, missing=0.1), np.arange(100_000) % 20_000
    rubric = [(five_values(1_056, missing=0.1), LIKERT5)] * 6
    judge = np.clip(
        np.rint(np.nan_to_num(ratings[:, 0], nan=3) + rng.normal(0, 0.7, 100_000)), 1, 5
    )
    settings: dict[str, Any] = {"scale": LIKERT5, "level": "ordinal", "confidence": 0.95}

    def resampled_by_peer() -> None:
        drawn = ratings[rng.integers(len(ratings), size=len(ratings))]
        krippendorff.alpha(drawn.T, level_of_measurement="ordinal")

    grouped = partial(agreement_profile, ratings, groups=groups, **settings)
    alone = partial(agreement_profile, ratings, **settings)
    judged = partial(judge_human_profile, ratings[:, 1:], judge, groups=groups, **settings)
    overall = partial(overall_profile, rubric, confidence=0.95, groups=np.arange(1_056) // 4)
    peer = 10_000 * seconds(resampled_by_peer)
    rows = []
    for work, run, target in (
        ("all coefficients, 100,000 x 3 in 20,000 groups", grouped, 2.0),
        ("all coefficients, 100,000 x 3, 5 values", alone, 0.5),
        ("all figures of a judge, 100,000 x 2 in 20,000 groups", judged, 2.0),
        ("overall figures, 1,056 responses in 264 groups x 6 questions x 3 raters", overall, 0.3),
    ):
        ours = seconds(run)
        has_peer = run in (grouped, alone)
        rows.append(
            Row(
                f"with intervals: {work}",
                ours=duration(ours),
                peer=f"{duration(peer)} (krippendorff, one coefficient; 10,000 x one resample)"
                if has_peer
                else "",
                ratio=times(ours, peer) if has_peer else "",
                target=f"{target:g} s",
                met=ours < target,
            )
        )
    return rows


def _by_group() -> list[Row]:
    """Alpha of many small groups, beside a loop over them."""
    ratings = five_values(200_000, missing=0.1)
    responses = np.arange(200_000) // 5
    n_looped = 2_000

    def looped() -> None:
        for rows in np.split(ratings[responses < n_looped], n_looped):
            with contextlib.suppress(ValueError):
                krippendorff.alpha(rows.T, level_of_measurement="interval")

    ours, peer = seconds(partial(alpha_by_cluster, ratings, responses)), 20 * seconds(looped)
    return [
        Row(
            "alpha of each of 40,000 responses, 5 questions x 3 raters",
            ours=duration(ours),
            peer=f"{duration(peer)} (krippendorff in a loop; 20 x 2,000)",
            ratio=times(ours, peer),
            target="20 x",
            met=peer >= 20 * ours,
        )
    ]
