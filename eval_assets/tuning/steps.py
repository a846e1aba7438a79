"""Steps of tuning that ask no model anything: maps, and a jury of mapped judges."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eval_assets.stats import MonotoneMap, concordance
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.jury import jury_scores, jury_weights
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.versions import JudgeVersion, VersionStep

JURY = "jury"
"""Judge id of the jury, which no declared judge may have if there is one."""

Units = Mapping[str, RatedUnits]
"""Rated units by question."""

Scores = Mapping[str, Floats]
"""A judge's scores of those units, by question; NaN if missing."""


@dataclass(frozen=True, eq=False)
class TunedJudge:
    """A version of a judge that was fixed, and the judge that it would replace.

    Args:
        version: The version; its number is not given yet.
        scores: Its scores by question.
        raw: The judge's scores before any map, by question; of a jury, the members' mean.
        baseline: Scores of the judge as it stands, by question; questions on which the version is
            that judge have none.
    """

    version: JudgeVersion
    scores: Scores
    raw: Scores
    baseline: Scores


def declared_version(judge_id: str, *, fingerprint: str, prompt_text: str) -> JudgeVersion:
    """Return a judge as evaluation.yaml declares it."""
    return JudgeVersion(judge_id, "", "declared", None, fingerprint, prompt_text)


def with_maps(
    declared: JudgeVersion, units: Units, scores: Scores, *, maps: Mapping[str, MonotoneMap]
) -> TunedJudge:
    """Return a judge whose scores go through maps, to be compared with the judge without them.

    Args:
        declared: The judge without maps.
        units: Rated units by question.
        scores: Its scores of them.
        maps: Maps by question; those that leave scores as they are count as none.
    """
    real = {question: fitted for question, fitted in maps.items() if not fitted.is_identity}
    step: VersionStep = "calibration" if real else declared.step
    version = JudgeVersion(
        judge_id=declared.judge_id,
        version="",
        step=step,
        parent=None,
        fingerprint=declared.fingerprint,
        prompt_text=declared.prompt_text,
        maps=real,
        sources=declared.sources,
    )
    return TunedJudge(
        version=version,
        scores={q: real[q](scores[q]) if q in real else scores[q] for q in units},
        raw=scores,
        baseline={q: scores[q] for q in units if q in real},
    )


def fitted_maps(units: Units, scores: Scores) -> dict[str, MonotoneMap]:
    """Return the map of a judge's scores on each question, fitted on train."""
    return {
        question: calibrate(rated.part("train"), scores[question][rated.splits == "train"]).fitted
        for question, rated in units.items()
    }


def make_jury(judges: Mapping[str, TunedJudge], units: Units, *, fingerprint: str) -> TunedJudge:
    """Return the jury of calibrated judges, to be compared with its best member.

    Args:
        judges: Members by judge id, after their own maps.
        units: Rated units by question.
        fingerprint: Fingerprint of the members.
    """
    weights: dict[str, dict[str, float]] = {}
    maps: dict[str, MonotoneMap] = {}
    scores: dict[str, Floats] = {}
    baseline: dict[str, Floats] = {}
    for question, rated in units.items():
        members = {judge: tuned.scores[question] for judge, tuned in judges.items()}
        train, is_train = rated.part("train"), rated.splits == "train"
        on_train = {judge: given[is_train] for judge, given in members.items()}
        weights[question] = jury_weights(train, on_train)
        mean = jury_scores(weights[question], members)
        fitted = calibrate(train, mean[is_train]).fitted
        if not fitted.is_identity:
            maps[question] = fitted
        scores[question] = fitted(mean)
        baseline[question] = members[_best_member(train, on_train)]
    version = JudgeVersion(JURY, "", "jury", None, fingerprint, maps=maps, weights=weights)
    raw = {q: np.mean([tuned.raw[q] for tuned in judges.values()], axis=0) for q in units}
    return TunedJudge(version, scores, raw, baseline)


def _best_member(train: RatedUnits, scores: Mapping[str, Floats]) -> str:
    """Return the judge that agrees best with people on train; of equal ones the first by name."""
    figures = {judge: concordance(train.ratings, given) for judge, given in scores.items()}
    return max(sorted(figures), key=lambda judge: np.nan_to_num(figures[judge], nan=-1.0))
