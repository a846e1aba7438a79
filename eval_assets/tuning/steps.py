"""Versions of judges with their scores: declared, mapped and with tuned prompts, and juries."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.config.tuning import Step
from eval_assets.stats import MonotoneMap, agreement_gain, concordance
from eval_assets.tuning.calibration import calibrate
from eval_assets.tuning.history import HeldOutEvaluation, accepted_version
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import shown_in
from eval_assets.tuning.versions import JudgeVersion, are_grouped_with

JURY = "jury"
"""Judge id of the jury, which no declared judge may have if there is one."""

Units = Mapping[str, RatedUnits]
"""Rated units by question."""

Scores = Mapping[str, Floats]
"""A judge's scores of those units, by question; NaN if missing."""

PromptedScores = Mapping[tuple[str, str], Scores]
"""Scores by judge and hash of its prompt, and by question: one for each rated unit."""

Evaluations = Mapping[str, Sequence[HeldOutEvaluation]]
"""Evaluations of held-out tests, by question."""


@dataclass(frozen=True, eq=False)
class TunedJudge:
    """A version of a judge with its scores, and the judge that it would replace.

    `raw` are the scores before any map; of a jury, the mean of its members. `baseline` are those of
    the judge that the version would replace.
    """

    version: JudgeVersion
    scores: Scores
    raw: Scores
    baseline: Scores


@dataclass(frozen=True, eq=False)
class VersionScores:
    """Scores of all versions of all judges on the rated units.

    Args:
        prompted: Scores with every prompt; recorded judges have none.
    """

    units: Units
    prompted: PromptedScores
    versions: Sequence[JudgeVersion]

    def as_evaluated(self, question_id: str, groups: Collection[str]) -> "VersionScores":
        """Return the scores as an evaluation used them: these groups are the test of the question.

        Other groups of the test are left out. The declared split has no effect.
        """
        rated = self.units[question_id]
        is_read, is_test = rated.are_of(groups), rated.is_in("test")
        if np.array_equal(is_read, is_test):
            return self
        is_kept = ~is_test | is_read
        prompted = {
            name: {**scores, question_id: scores[question_id][is_kept]}
            for name, scores in self.prompted.items()
        }
        live = rated.only(is_kept)
        live = replace(live, splits=np.where(live.are_of(groups), "test", live.splits))
        return VersionScores({**self.units, question_id: live}, prompted, self.versions)

    def members(self, jury: JudgeVersion) -> list[JudgeVersion]:
        """Return the members of a jury, which its fingerprint names."""
        members = (
            version
            for version in self.versions
            if f"{version.judge_id} {version.definition_hash}" in jury.fingerprint
        )
        return sorted(members, key=lambda version: version.judge_id)

    def judge(self, version: JudgeVersion, evaluations: Evaluations) -> TunedJudge:
        """Return a version with its scores and those of the judge that it would replace.

        Test groups do not count for a judge whose prompt contains one of their responses, or that
        was trained on one of them under another split. A version with a tuned prompt replaces the
        version that was accepted last on a question, or else the declared one, each with its map.
        """
        if version.judge_id == JURY:
            members = {v.judge_id: self.judge(v, evaluations) for v in self.members(version)}
            return jury_judge(version, members, self.units)
        same = (v for v in self.versions if v.definition_hash == version.definition_hash)
        trained_on = next((v.trained_on for v in same), frozenset[str]())  # the ledger keeps it
        raw = {
            question_id: _without_known_groups(
                version, self.units[question_id], scores, trained_on=trained_on
            )
            for question_id, scores in self._raw(version).items()
        }
        replaced = {} if version.has_declared_prompt else self._replaced(version, evaluations)
        return mapped_judge(version, raw, replaced=replaced)

    def _raw(self, version: JudgeVersion) -> Scores:
        prompted = self.prompted.get((version.judge_id, version.prompt_hash))
        if prompted is not None:
            return prompted
        by_question = {q: rated.scores[version.judge_id] for q, rated in self.units.items()}
        if version.has_declared_prompt:
            return by_question
        return {q: np.full(len(scores), np.nan) for q, scores in by_question.items()}

    def _replaced(self, version: JudgeVersion, evaluations: Evaluations) -> Scores:
        """Return the mapped scores of the prompts that a version's tuned prompt would replace."""
        [declared, *_] = [
            v for v in self.versions if v.step == "declared" and _is_of_one_judge(v, version)
        ]
        scores = {}
        for question_id, rated in self.units.items():
            before = (
                accepted_version(evaluations.get(question_id, ()), version.judge_id) or declared
            )
            if before.prompt_hash == version.prompt_hash or not _is_of_one_judge(before, version):
                before = declared
            prompted = self.prompted.get((before.judge_id, before.prompt_hash))
            raw = rated.scores[version.judge_id] if prompted is None else prompted[question_id]
            fitted = fitted_maps({question_id: rated}, {question_id: raw}).get(question_id)
            scores[question_id] = raw if fitted is None else fitted(raw)
        return scores


def _without_known_groups(
    version: JudgeVersion, rated: RatedUnits, scores: Floats, *, trained_on: frozenset[str]
) -> Floats:
    """Return scores, missing for test groups that the version's prompt or training contains."""
    is_known = are_grouped_with(rated, trained_on)
    if version.prompt_text:
        test = rated.part("test")
        is_contained = shown_in(version.prompt_text, [str(text) for text in test.response_texts])
        is_known |= rated.are_of(test.groups[is_contained])
    is_known &= rated.is_in("test")
    return np.where(is_known, np.nan, scores) if is_known.any() else scores


def _is_of_one_judge(version: JudgeVersion, other: JudgeVersion) -> bool:
    """Return whether two versions have model, settings and declared prompt in common."""
    return (version.judge_id, version.fingerprint) == (other.judge_id, other.fingerprint)


def declared_version(judge_id: str, *, fingerprint: str, prompt_text: str) -> JudgeVersion:
    """Return a judge as evaluation.yaml declares it, without a number."""
    return JudgeVersion(judge_id, "", "declared", None, fingerprint, prompt_text)


def calibrated_version(judge: JudgeVersion, units: Units, raw: Scores) -> JudgeVersion:
    """Return the judge with maps of its scores, fitted on train, without a number.

    It is the unchanged judge if no map is clearly better than none.
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
        question: calibrate(rated.part("train"), raw[question][rated.is_in("train")]).fitted
        for question, rated in units.items()
    }
    return {question: fitted for question, fitted in maps.items() if not fitted.is_identity}


def mapped_judge(version: JudgeVersion, raw: Scores, *, replaced: Scores) -> TunedJudge:
    """Return a version of a single judge with its scores.

    `replaced` are the scores of the replaced judge on questions with another prompt. On the others
    the version is compared with itself without its map.
    """
    return TunedJudge(
        version=version,
        scores={question: version.mapped(question, scores) for question, scores in raw.items()},
        raw=raw,
        baseline={**raw, **replaced},
    )


def dev_figures(judge: TunedJudge, units: Units) -> dict[str, float]:
    """Return a version's agreement with people beyond chance on dev, by question.

    Questions on which it is undefined are left out.
    """
    figures = {}
    for question, rated in units.items():
        dev, scores = rated.part("dev"), judge.scores[question][rated.is_in("dev")]
        if dev.n_groups:
            same = agreement_gain(
                dev.ratings, scores, scores, level=dev.level, groups=dev.group_codes
            )
            figures[question] = same.candidate.value
    return {question: figure for question, figure in figures.items() if not np.isnan(figure)}


def untested_judge(judge_id: str, units: Units, *, steps: Sequence[Step]) -> TunedJudge:
    """Return a declared judge with the maps fitted to it, before it has any version."""
    raw = {question: rated.scores[judge_id] for question, rated in units.items()}
    judge = declared_version(judge_id, fingerprint="", prompt_text="")
    if "calibration" in steps:
        judge = calibrated_version(judge, units, raw)
    return mapped_judge(judge, raw, replaced={})


def jury_version(members: Mapping[str, TunedJudge], units: Units) -> JudgeVersion:
    """Return the jury of calibrated judges, without a number."""
    weights: dict[str, dict[str, float]] = {}
    means: dict[str, Floats] = {}
    for question, rated in units.items():
        scores = {judge: tuned.scores[question] for judge, tuned in members.items()}
        is_train = rated.is_in("train")
        on_train = {judge: judge_scores[is_train] for judge, judge_scores in scores.items()}
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
        member_scores = {judge: tuned.scores[question] for judge, tuned in members.items()}
        mean = jury_scores(version.weights[question], member_scores)
        scores[question] = version.mapped(question, mean)
        train, is_train = rated.part("train"), rated.is_in("train")
        on_train = {
            judge: np.nan_to_num(concordance(train.ratings, values[is_train]), nan=-1.0)
            for judge, values in sorted(member_scores.items())  # of equals the first by name
        }
        baseline[question] = member_scores[max(on_train, key=on_train.__getitem__)]
    raw = {q: np.mean([tuned.raw[q] for tuned in members.values()], axis=0) for q in units}
    return TunedJudge(version, scores, raw, baseline)


EQUAL_WEIGHT_GROUPS = 40
"""Groups in train that fitted weights need to count as much as equal ones."""

MOST_JURORS = 8
"""All subsets of the judges are tried for their weights: 255 of eight."""


def jury_weights(train: RatedUnits, calibrated: Mapping[str, Floats]) -> dict[str, float]:
    """Return the weight of each judge, between equal weights and those that fit train best.

    Weights are at least 0 and add up to 1. The fitted ones minimise the squared distance of the
    weighted mean from the mean rating; with few groups they are uncertain, so equal weights count
    as much as `EQUAL_WEIGHT_GROUPS` groups.

    Raises:
        ValueError: If there are fewer than two judges or more than `MOST_JURORS`.
    """
    judges = sorted(calibrated)
    if not 2 <= len(judges) <= MOST_JURORS:  # noqa: PLR2004 - a jury takes two
        raise ValueError(f"a jury takes 2 to {MOST_JURORS} judges, got {len(judges)}")
    scores = np.column_stack([calibrated[judge] for judge in judges])
    is_complete = ~np.isnan(scores).any(axis=1) & ~np.isnan(train.ratings).all(axis=1)
    n_groups = len(np.unique(train.group_codes[is_complete]))
    equal = np.full(len(judges), 1 / len(judges))
    fitted = equal
    if is_complete.any():
        fitted = _fitted_weights(
            scores[is_complete], np.nanmean(train.ratings[is_complete], axis=1)
        )
    weights = (EQUAL_WEIGHT_GROUPS * equal + n_groups * fitted) / (EQUAL_WEIGHT_GROUPS + n_groups)
    return dict(zip(judges, weights.tolist(), strict=True))


def jury_scores(weights: Mapping[str, float], calibrated: Mapping[str, Floats]) -> Floats:
    """Return the weighted mean of the judges' scores; NaN if one of them is missing."""
    votes = [weight * calibrated[judge] for judge, weight in weights.items()]
    mean: Floats = np.sum(votes, axis=0)
    return mean


def _fitted_weights(scores: Floats, target: Floats) -> Floats:
    """Return non-negative weights that add up to 1 and bring the mean nearest to the target.

    The best weights are those of least squares on the judges whose weight is not 0, so trying
    every set of judges finds them exactly.
    """
    n_judges = scores.shape[1]
    best, least = np.zeros(n_judges), np.inf
    for size in range(1, n_judges + 1):
        for chosen in itertools.combinations(range(n_judges), size):
            last, rest = chosen[-1], list(chosen[:-1])
            differences = scores[:, rest] - scores[:, [last]]
            solved = np.linalg.lstsq(differences, target - scores[:, last], rcond=None)[0]
            weights = np.zeros(n_judges)
            weights[rest], weights[last] = solved, 1 - solved.sum()
            if (weights < 0).any():
                continue
            distance = float(((scores @ weights - target) ** 2).sum())
            if distance < least * (1 - 1e-12):
                best, least = weights, distance
    return best
