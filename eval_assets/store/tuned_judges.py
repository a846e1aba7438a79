"""Versions of judges with their stored scores, as tests compare them."""

from collections.abc import Mapping, Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.seals import readings_of, versions_of
from eval_assets.store.prompted import PromptedScores, prompted_scores
from eval_assets.store.tables import read_table
from eval_assets.tuning.history import Reading, accepted_version
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import JURY, TunedJudge, fitted_maps, jury_judge, mapped_judge
from eval_assets.tuning.tuned_prompts import shown_in
from eval_assets.tuning.versions import JudgeVersion


def current_judges(
    connection: duckdb.DuckDBPyConnection, ledger: SqlLedger, units: Mapping[str, RatedUnits]
) -> list[TunedJudge]:
    """Return the versions that are tested now, with their scores of all rated units.

    Args:
        connection: The database, in which `tuned_judges` names them.
        ledger: The ledger.
        units: Rated units by question.
    """
    versions = versions_of(ledger)
    readings = {question_id: readings_of(ledger, question_id) for question_id in units}
    known = {(version.judge_id, version.version): version for version in versions}
    tested = read_table(connection, "tuned_judges", order_by="judge_id")
    current = [
        known[judge_id, number]
        for judge_id, number in zip(tested["judge_id"], tested["version"], strict=True)
        if (judge_id, number) in known
    ]
    prompted = prompted_scores(connection, units)
    members = {
        version.judge_id: single_judge(version, units, prompted, versions, readings)
        for version in current
        if version.judge_id != JURY
    }
    juries = [jury_judge(v, members, units) for v in current if v.judge_id == JURY]
    return [*members.values(), *juries]


def judges_of(
    candidates: Sequence[JudgeVersion],
    units: Mapping[str, RatedUnits],
    prompted: PromptedScores,
    versions: Sequence[JudgeVersion],
    readings: Mapping[str, Sequence[Reading]],
) -> list[TunedJudge]:
    """Return the judges of a reading, with their scores.

    Args:
        candidates: The versions that are read.
        units: Rated units by question.
        prompted: Scores with every prompt.
        versions: All versions.
        readings: Readings before this one, by question.
    """
    judges = []
    for version in candidates:
        if version.judge_id != JURY:
            judges.append(single_judge(version, units, prompted, versions, readings))
            continue
        members = {
            member.judge_id: single_judge(member, units, prompted, versions, readings)
            for member in members_of(version, versions)
        }
        judges.append(jury_judge(version, members, units))
    return judges


def members_of(jury: JudgeVersion, versions: Sequence[JudgeVersion]) -> list[JudgeVersion]:
    """Return the members of a jury, which its fingerprint names."""
    return [v for v in versions if f"{v.judge_id} {v.definition_hash}" in jury.fingerprint]


def single_judge(
    version: JudgeVersion,
    units: Mapping[str, RatedUnits],
    prompted: PromptedScores,
    versions: Sequence[JudgeVersion],
    readings: Mapping[str, Sequence[Reading]],
) -> TunedJudge:
    """Return a version of a single judge with its scores.

    Test groups do not count for a judge whose prompt shows one of their answers. With a tuned
    prompt, it is compared with the judge as it stands after a map of its own: with
    the prompt that was accepted last on a question, or else the declared one.

    Args:
        version: The version.
        units: Rated units by question, with scores of the judge as it rates.
        prompted: Scores with every prompt; recorded scores have none.
        versions: All versions.
        readings: Readings before this one, by question.
    """
    rates = {question: rated.scores[version.judge_id] for question, rated in units.items()}
    is_tuned = version.step not in ("declared", "calibration")
    unknown = {question: np.full(len(given), np.nan) for question, given in rates.items()}
    found = prompted.get((version.judge_id, version.prompt_hash), unknown if is_tuned else rates)
    raw = {q: _without_shown(version, units[q], given) for q, given in found.items()}
    if not is_tuned:
        return mapped_judge(version, raw, stands={})
    [declared, *_] = [v for v in versions if v.step == "declared" and _is_of_one_judge(v, version)]
    stands = {}
    for question, rated in units.items():
        before = accepted_version(readings.get(question, ()), version.judge_id) or declared
        if before.prompt_hash == version.prompt_hash or not _is_of_one_judge(before, version):
            before = declared
        given = prompted.get((before.judge_id, before.prompt_hash), rates)[question]
        fitted = fitted_maps({question: rated}, {question: given}).get(question)
        stands[question] = given if fitted is None else fitted(given)
    return mapped_judge(version, raw, stands=stands)


def _without_shown(
    version: JudgeVersion, rated: RatedUnits, scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return scores without those of test groups of which the version's prompt shows an answer."""
    if not version.prompt_text:
        return scores
    test = rated.part("test")
    shown = shown_in(version.prompt_text, [str(text) for text in test.response_texts])
    is_known = (rated.splits == "test") & rated.are_of(test.groups[shown])
    return np.where(is_known, np.nan, scores)


def _is_of_one_judge(one: JudgeVersion, other: JudgeVersion) -> bool:
    """Return whether two versions have model, settings and declared prompt in common."""
    return (one.judge_id, one.fingerprint) == (other.judge_id, other.fingerprint)
