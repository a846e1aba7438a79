"""Cost of tuning and certificates without calls, compared with alternatives."""

import math
import time
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]

from benchmarks.table import Row, duration, markdown, seconds, times
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import SplitShares
from eval_assets.scale import LIKERT5
from eval_assets.stats import agreement_gain, best_monotone_map, concordance
from eval_assets.tuning.calibration import calibration_rows
from eval_assets.tuning.certificate_contents import Background
from eval_assets.tuning.held_out_test import (
    candidates_for,
    completed_evaluation,
    due_evaluation,
)
from eval_assets.tuning.history import QuestionTest
from eval_assets.tuning.power import plan_evaluation
from eval_assets.tuning.rated import RatedUnits, splits_of
from eval_assets.tuning.steps import (
    calibrated_version,
    declared_version,
    jury_judge,
    jury_version,
    mapped_judge,
)

Floats = npt.NDArray[np.float64]

N_RESPONSES, N_QUESTIONS, N_RATERS, N_JUDGES = 1_600, 4, 3, 2
PER_GROUP = 4
N_RESAMPLES = 1_000


def table() -> str:
    """Measure everything."""
    return markdown([_everything(), _map(), _gain()])


def _everything() -> Row:
    """Measure splits, maps, a jury, the plan and a first reading with its certificates."""
    units = {f"q{k}": rated(seed=k) for k in range(N_QUESTIONS)}
    started = time.process_time()
    tuned(units)
    spent = time.process_time() - started
    target = 5.0
    return Row(
        f"all of tuning: {N_RESPONSES:,} responses x {N_QUESTIONS} questions x {N_RATERS} raters x "
        f"{N_JUDGES} judges",
        f"{duration(spent)} of CPU",
        "",
        "",
        f"below {target:g} s",
        spent < target,
    )


def _map() -> Row:
    """Measure the exact map of a judge with 101 levels."""
    units = rated(seed=9)
    rng = np.random.default_rng(10)
    impression = np.nanmean(units.ratings, axis=1) - 1 + rng.normal(0, 0.6, N_RESPONSES)
    inputs = np.clip(np.rint(25 * impression), 0, 100)
    ours = seconds(lambda: best_monotone_map(units.ratings, inputs, scale=units.question.scale))
    pairs, values = np.repeat(inputs, N_RATERS), units.ratings.ravel()
    peer = seconds(lambda: IsotonicRegression().fit(pairs, values))
    return Row(
        "the best map of 101 levels onto 5, by agreement beyond chance",
        duration(ours),
        f"{duration(peer)} (scikit-learn's isotonic, by squared error)",
        times(ours, peer),
        "",
        None,
    )


def _gain() -> Row:
    """Measure a gain with its standard error."""
    units = rated(seed=11)
    one, other = (units.scores[judge] for judge in ("j0", "j1"))
    ours = seconds(
        lambda: agreement_gain(units.ratings, one, other, level="interval", groups=units.groups)
    )
    started = time.perf_counter()
    _bootstrap(units, one, other)
    peer = (time.perf_counter() - started) * 10
    return Row(
        "a gain with its interval, 400 groups",
        duration(ours),
        f"{duration(peer)} (a loop of {N_RESAMPLES:,} resamples)",
        times(ours, peer),
        "",
        None,
    )


def rated(*, seed: int) -> RatedUnits:
    """Return answers that people rate and judges score, in groups of four."""
    rng = np.random.default_rng(seed)
    n_groups = N_RESPONSES // PER_GROUP
    prompt = np.repeat(rng.normal(0, 0.5, n_groups), PER_GROUP)
    quality = 3 + prompt + rng.normal(0, 1, N_RESPONSES)
    groups = np.repeat([f"g{k}" for k in range(n_groups)], PER_GROUP)
    return RatedUnits(
        question=RubricQuestion(f"q{seed}", "How good is it?", LIKERT5, level="ordinal"),
        response_ids=np.array([f"r{k}" for k in range(N_RESPONSES)]),
        groups=groups,
        splits=splits_of(groups, SplitShares()),
        ratings=_values(quality[:, None] + rng.normal(0, 0.6, (N_RESPONSES, N_RATERS))),
        scores={
            f"j{k}": _values(1 + 0.6 * (quality - 1) + rng.normal(0, 0.6, N_RESPONSES))
            for k in range(N_JUDGES)
        },
        models=np.array([f"m{k % PER_GROUP}" for k in range(N_RESPONSES)]),
        prompt_texts=np.full(N_RESPONSES, ""),
        response_texts=np.full(N_RESPONSES, ""),
    )


def tuned(units: dict[str, RatedUnits]) -> None:
    """Run the steps behind the gates, without database and calls."""
    raw = {
        f"j{k}": {question: item.scores[f"j{k}"] for question, item in units.items()}
        for k in range(N_JUDGES)
    }
    for item in units.values():
        for judge in item.scores:
            calibration_rows(item, judge)
    members = {}
    for judge, scores in raw.items():
        version = declared_version(judge, fingerprint=judge, prompt_text="")
        members[judge] = mapped_judge(
            calibrated_version(version, units, scores), scores, replaced={}
        )
    judges = [*members.values(), jury_judge(jury_version(members, units), members, units)]
    background = Background(
        margin=0.1,
        people_agree=True,
        human_agreement={},
        cost_per_1000_usd={},
        models_returned={},
    )
    seal = QuestionTest.of([])
    for item in units.values():
        candidates = candidates_for(item, seal, judges)
        plan_evaluation(item, candidates, seal, margin=0.1, people_agree=True)
        now = datetime.now(tz=UTC)
        reading, _ = due_evaluation(item, candidates, seal, on_request=False, now=now)
        completed_evaluation(reading, item, candidates, background)


def _bootstrap(units: RatedUnits, one: Floats, other: Floats) -> None:
    """Resample groups a tenth as often as the row says, as one would in a loop."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(units.groups == group) for group in np.unique(units.groups)]
    for _ in range(N_RESAMPLES // 10):
        drawn = np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])
        gain = concordance(units.ratings[drawn], one[drawn]) - concordance(
            units.ratings[drawn], other[drawn]
        )
        if math.isnan(gain):
            raise ValueError("the made-up ratings have no spread")


def _values(impression: Floats) -> Floats:
    values: Floats = np.clip(np.rint(impression), 1, 5)
    return values
