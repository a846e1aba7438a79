"""Speed and memory of the agreement statistics beside the packages one would take instead."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import krippendorff
import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import aggregate_raters  # type: ignore[import-untyped]
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss_kappa

from benchmarks.table import Row, duration, markdown, memory, peak_bytes, seconds, times
from eval_assets.scale import Level
from eval_assets.stats import (
    QuestionRatings,
    RatingPatterns,
    agreement_profile,
    cohen_kappa,
    fleiss_kappa,
    human_agreement,
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
            *_resampling(),
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

    def row(self, *, wanted: float) -> Row:
        """Time both, once their results are known to be the same."""
        assert math.isclose(self.ours(), self.peer(), rel_tol=1e-9, abs_tol=1e-9), self.work
        ours, peer = seconds(self.ours), seconds(self.peer)
        return Row(
            self.work,
            ours=duration(ours),
            peer=f"{duration(peer)} ({self.peer_name})",
            ratio=times(ours, peer),
            target=f"{wanted:g} x",
            met=peer >= wanted * ours,
        )

    def memory_row(self, *, wanted: float) -> Row:
        """Peak memory of both."""
        ours, peer = peak_bytes(self.ours), peak_bytes(self.peer)
        return Row(
            f"{self.work}: peak memory",
            ours=memory(ours),
            peer=f"{memory(peer)} ({self.peer_name})",
            ratio=times(ours, peer),
            target=f"{wanted:g} x",
            met=peer >= wanted * ours,
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
    return [row for alpha in alphas for row in (alpha.row(wanted=20), alpha.memory_row(wanted=10))]


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
        taken, held = seconds(run), peak_bytes(run)
        rows.append(
            Row(
                f"{name}, 1,000,000 x 3, 10,000 values",
                ours=f"{duration(taken)}, {memory(held)}",
                peer="none (krippendorff would need 80 GB of counts)",
                ratio="",
                target="1 s, 1,000 MB",
                met=taken < 1 and held < 1e9,
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
    return [comparison.row(wanted=1) for comparison in comparisons]


def _resampling() -> list[Row]:
    ratings = five_values(100_000, missing=0.1)
    rng = np.random.default_rng(1)

    def profile() -> None:
        agreement_profile(
            RatingPatterns.from_matrix(ratings),
            low=1,
            high=5,
            step=1,
            level="ordinal",
            confidence=0.95,
            n_resamples=10_000,
            rng=rng,
        )

    def resampled_by_peer() -> None:
        drawn = ratings[rng.integers(len(ratings), size=len(ratings))]
        krippendorff.alpha(drawn.T, level_of_measurement="ordinal")

    rubric = [
        QuestionRatings.from_matrix(five_values(1_056, missing=0.1), low=1, high=5, step=1)
    ] * 6
    overall = partial(overall_profile, rubric, confidence=0.95, n_resamples=2_000, rng=rng)
    ours, peer = seconds(profile), 10_000 * seconds(resampled_by_peer)
    taken = seconds(overall)
    return [
        Row(
            "10,000 resamples, all coefficients, 100,000 x 3, 5 values",
            ours=duration(ours),
            peer=f"{duration(peer)} (krippendorff, one coefficient; 10,000 x one resample)",
            ratio=times(ours, peer),
            target="0.5 s",
            met=ours < 0.5,
        ),
        Row(
            "2,000 resamples, overall figures, 1,056 responses x 6 questions x 3 raters",
            ours=duration(taken),
            peer="",
            ratio="",
            target="0.3 s",
            met=taken < 0.3,
        ),
    ]
