"""Versions of judges with their scores, and what each is compared with."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import VersionScores
from eval_assets.tuning.versions import JudgeVersion, training_fingerprints
from tests.unit.tuning.made_up import judged, simulated

DECLARED = JudgeVersion("gpt", "1.0.0", "declared", None, "f", prompt_text="Rate it.")
FIRST = replace(DECLARED, version="1.1.0", step="judge_guidelines", prompt_text="Rate it well.")
SECOND = replace(FIRST, version="1.2.0", prompt_text="Rate it better.")
VERSIONS = [DECLARED, FIRST, SECOND]


def accepted(version: JudgeVersion) -> HeldOutEvaluation:
    """Return a reading that accepted a version."""
    row: dict[str, object] = {"judge_id": "gpt", "version": version.version, "verdict": "accepted"}
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return HeldOutEvaluation("q", 1, 1, 0.025, (version,), (), "", (row,), {}, at)


@pytest.fixture
def units() -> dict[str, RatedUnits]:
    """Return units that a judge rates with its second tuned prompt."""
    rated, quality = simulated(40, seed=1, split="train")
    return {"q": replace(rated, scores={"gpt": judged(quality, seed=3)})}


@pytest.fixture
def prompted(units: dict[str, RatedUnits]) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Return scores with each prompt, all of them different."""
    n_units = len(units["q"].groups)
    return {
        ("gpt", version.prompt_hash): {"q": np.resize(values, n_units).astype(float)}
        for version, values in zip(VERSIONS, ([1, 2], [2, 3], [3, 4]), strict=True)
    }


def test_a_version_has_the_scores_of_its_prompt_whichever_the_judge_rates_with(
    units: dict[str, RatedUnits], prompted: dict[tuple[str, str], dict[str, np.ndarray]]
) -> None:
    for version in VERSIONS:
        judge = VersionScores(units, prompted, VERSIONS).judge(version, {})
        assert judge.raw["q"].tolist() == prompted["gpt", version.prompt_hash]["q"].tolist()

    recorded = VersionScores(units, {}, VERSIONS).judge(replace(DECLARED, prompt_text=""), {})
    assert recorded.raw["q"].tolist() == units["q"].scores["gpt"].tolist()
    lost = VersionScores(units, {}, VERSIONS).judge(FIRST, {})
    assert np.isnan(lost.raw["q"]).all()


def test_a_tuned_prompt_is_compared_with_the_one_that_was_accepted_last(
    units: dict[str, RatedUnits], prompted: dict[tuple[str, str], dict[str, np.ndarray]]
) -> None:
    def values(version: JudgeVersion, *evaluations: HeldOutEvaluation) -> list[float]:
        judge = VersionScores(units, prompted, VERSIONS).judge(version, {"q": evaluations})
        return sorted(set(map(float, judge.baseline["q"])))

    assert values(SECOND) == [1, 2]
    assert values(SECOND, accepted(FIRST)) == [2, 3]
    assert values(FIRST, accepted(FIRST)) == [1, 2]  # it would be compared with itself
    assert values(SECOND, accepted(replace(FIRST, fingerprint="other model"))) == [1, 2]


def test_test_groups_do_not_count_for_a_prompt_that_shows_one_of_their_responses() -> None:
    rated, quality = simulated(40, seed=1, split="test")
    texts = rated.response_texts.copy()
    texts[5] = "First boil the rice, then drain it."
    units = {"q": replace(rated, scores={"gpt": judged(quality, seed=3)}, response_texts=texts)}
    shows = replace(
        DECLARED, prompt_text="Such as: first boil the rice; then drain it. That is a 4."
    )

    judge = VersionScores(units, {}, [shows]).judge(shows, {})
    assert set(rated.groups[np.isnan(judge.scores["q"])]) == {rated.groups[5]}
    assert not np.isnan(VersionScores(units, {}, VERSIONS).judge(DECLARED, {}).scores["q"]).any()


def test_groups_that_a_version_was_trained_on_do_not_count_under_another_split() -> None:
    rated, quality = simulated(40, seed=1, split="test")
    known = rated.response_ids[:6]
    trained_on = training_fingerprints([rated.only(np.isin(rated.response_ids, known))])
    assert trained_on == frozenset()  # nothing of it is in train
    former = replace(rated, splits=np.full(len(rated.groups), "train"))
    trained_on = training_fingerprints([former.only(np.isin(rated.response_ids, known))])
    renamed = replace(
        rated,
        groups=np.array([f"new {name}" for name in rated.groups]),
        scores={"gpt": judged(quality, seed=3)},
    )
    version = replace(DECLARED, prompt_text="", step="calibration", trained_on=trained_on)

    judge = VersionScores({"q": renamed}, {}, [version]).judge(version, {})

    is_known = np.isin(rated.groups, rated.groups[:6])
    assert np.isnan(judge.scores["q"]).tolist() == is_known.tolist()


def test_a_reading_sees_its_own_groups_as_the_test_and_no_others_of_it() -> None:
    simulation, quality = simulated(40, seed=1, split=None)
    rated = replace(simulation, scores={"gpt": judged(quality, seed=3)})
    first_test, first_train = (rated.part(split).groups[0] for split in ("test", "train"))
    prompted = {("gpt", DECLARED.prompt_hash): {"q": judged(quality, seed=4)}}
    live = VersionScores({"q": rated}, prompted, VERSIONS).as_evaluated(
        "q", {first_test, first_train}
    )

    assert set(live.units["q"].part("test").groups) == {first_test, first_train}
    is_read = ~rated.is_in("test") | (rated.groups == first_test)
    assert live.units["q"].response_ids.tolist() == rated.response_ids[is_read].tolist()
    raw = live.judge(DECLARED, {}).raw["q"]
    assert raw.tolist() == judged(quality, seed=4)[is_read].tolist()
