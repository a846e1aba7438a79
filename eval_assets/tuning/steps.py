"""Versions of judges that no model has to be asked for: mapped judges, and juries of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.config.tuning import Step
from eval_assets.stats import MonotoneMap, agreement_gain, concordance
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.ensemble import jury_scores, jury_weights
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.versions import JudgeVersion

JURY = "jury"
"""Judge id of the jury, which no declared judge may have if there is one."""

Units = Mapping[str, RatedUnits]
"""Rated units by question."""

Scores = Mapping[str, Floats]
"""A judge's scores of those units, by question; NaN if missing."""


@dataclass(frozen=True, eq=False)
class TunedJudge:
    """A version of a judge with its scores, and the judge that it would replace.

    Args:
        version: The version.
        scores: Its scores by question.
        raw: The judge's scores before any map, by question; of a jury, the members' mean.
        baseline: Scores of the judge as it stands, by question.
    """

    version: JudgeVersion
    scores: Scores
    raw: Scores
    baseline: Scores


def declared_version(judge_id: str, *, fingerprint: str, prompt_text: str) -> JudgeVersion:
    """Return a judge as evaluation.yaml declares it, without a number."""
    return JudgeVersion(judge_id, "", "declared", None, fingerprint, prompt_text)


def calibrated_version(judge: JudgeVersion, units: Units, raw: Scores) -> JudgeVersion:
    """Return the judge with maps of its scores, fitted on train, without a number.

    It is the judge itself if no map is clearly better than none.
    """
    maps = fitted_maps(units, raw)
    if not maps:
        return judge
    parent = judge.version or None
    step = "calibration" if judge.step == "declared" else judge.step
    return replace(judge, version="", step=step, parent=parent, maps=maps)


def fitted_maps(units: Units, raw: Scores) -> dict[str, MonotoneMap]:
    """Return the maps that are clearly better than none on train, by question."""
    maps = {
        question: calibrate(rated.part("train"), raw[question][rated.splits == "train"]).fitted
        for question, rated in units.items()
    }
    return {question: fitted for question, fitted in maps.items() if not fitted.is_identity}


def mapped_judge(version: JudgeVersion, raw: Scores, *, stands: Scores) -> TunedJudge:
    """Return a version of a single judge with its scores.

    Args:
        version: The version.
        raw: Its scores before any map, by question.
        stands: Scores of the judge as it stands, on questions on which the version's prompt is
            another one; on the others the version is compared with itself without its map.
    """
    return TunedJudge(
        version=version,
        scores={
            question: version.maps[question](given) if question in version.maps else given
            for question, given in raw.items()
        },
        raw=raw,
        baseline={**raw, **stands},
    )


def dev_figures(judge: TunedJudge, units: Units) -> dict[str, float]:
    """Return a version's agreement with people beyond chance on dev, by question.

    Questions on which it is undefined are left out.
    """
    figures = {}
    for question, rated in units.items():
        dev, scores = rated.part("dev"), judge.scores[question][rated.splits == "dev"]
        if dev.n_groups:
            same = agreement_gain(dev.ratings, scores, scores, level=dev.level, groups=dev.groups)
            figures[question] = same.candidate.value
    return {question: figure for question, figure in figures.items() if not np.isnan(figure)}


def untested_judge(judge_id: str, units: Units, *, steps: Sequence[Step]) -> TunedJudge:
    """Return a declared judge, with the maps that it would get, before it has any version."""
    raw = {question: rated.scores[judge_id] for question, rated in units.items()}
    judge = declared_version(judge_id, fingerprint="", prompt_text="")
    if "calibration" in steps:
        judge = calibrated_version(judge, units, raw)
    return mapped_judge(judge, raw, stands={})


def jury_version(members: Mapping[str, TunedJudge], units: Units) -> JudgeVersion:
    """Return the jury of calibrated judges, without a number."""
    weights: dict[str, dict[str, float]] = {}
    means: dict[str, Floats] = {}
    for question, rated in units.items():
        scores = {judge: tuned.scores[question] for judge, tuned in members.items()}
        is_train = rated.splits == "train"
        on_train = {judge: given[is_train] for judge, given in scores.items()}
        weights[question] = jury_weights(rated.part("train"), on_train)
        means[question] = jury_scores(weights[question], scores)
    names = sorted(f"{t.version.judge_id} {t.version.definition_hash}" for t in members.values())
    return JudgeVersion(
        JURY,
        "",
        "jury",
        None,
        fingerprint=" ".join(names),
        maps=fitted_maps(units, means),
        weights=weights,
    )


def jury_judge(
    version: JudgeVersion, members: Mapping[str, TunedJudge], units: Units
) -> TunedJudge:
    """Return a jury with its scores, to be compared with the member that is best on train."""
    scores: dict[str, Floats] = {}
    baseline: dict[str, Floats] = {}
    for question in version.weights:
        rated = units[question]
        given = {judge: tuned.scores[question] for judge, tuned in members.items()}
        mean = jury_scores(version.weights[question], given)
        fitted = version.maps.get(question)
        scores[question] = mean if fitted is None else fitted(mean)
        is_train = rated.splits == "train"
        on_train = {judge: each[is_train] for judge, each in given.items()}
        baseline[question] = given[_best_member(rated.part("train"), on_train)]
    raw = {q: np.mean([tuned.raw[q] for tuned in members.values()], axis=0) for q in units}
    return TunedJudge(version, scores, raw, baseline)


def _best_member(train: RatedUnits, scores: Mapping[str, Floats]) -> str:
    """Return the judge that agrees best with people on train; of equal ones the first by name."""
    figures = {judge: concordance(train.ratings, given) for judge, given in scores.items()}
    return max(sorted(figures), key=lambda judge: np.nan_to_num(figures[judge], nan=-1.0))
