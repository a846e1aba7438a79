from dataclasses import replace

import numpy as np
import pytest

from eval_assets.stats import concordance
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.steps import (
    JURY,
    calibrated_version,
    declared_version,
    dev_figures,
    fitted_maps,
    jury_judge,
    jury_version,
    mapped_judge,
    untested_judge,
)
from tests.unit.tuning.made_up import judged, simulated

DECLARED = replace(
    declared_version("gpt", fingerprint="f", prompt_text="Rate it."), version="1.0.0"
)


@pytest.fixture(scope="module")
def case() -> tuple[dict[str, RatedUnits], np.ndarray]:
    """Eighty groups, split as their names say, and the quality of their responses."""
    rated, quality = simulated(80, seed=1, split=None)
    return {"q": rated}, quality


def harsh(quality: np.ndarray) -> dict[str, np.ndarray]:
    return {"q": np.clip(np.round(quality / 2 + 0.2), 1, 3)}


def test_a_judge_whose_scale_is_mapped_is_compared_with_itself_without_the_map(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    raw = harsh(quality)
    version = calibrated_version(DECLARED, units, raw)
    judge = mapped_judge(version, raw, replaced={})

    assert (version.step, version.parent, version.version) == ("calibration", "1.0.0", "")
    assert judge.baseline["q"] is raw["q"]
    assert judge.scores["q"].max() == 5
    assert judge.raw is raw


def test_a_judge_that_needs_no_map_stays_the_declared_one(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    raw = {"q": judged(quality, seed=2)}

    assert calibrated_version(DECLARED, units, raw) is DECLARED
    assert mapped_judge(DECLARED, raw, replaced={}).baseline == raw


def test_a_judge_with_another_prompt_is_compared_with_the_judge_as_it_stands(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    stands = {"q": judged(quality, seed=3)}
    version = calibrated_version(
        replace(DECLARED, step="judge_guidelines", prompt_text="New."), units, harsh(quality)
    )
    judge = mapped_judge(version, harsh(quality), replaced=stands)

    assert version.step == "judge_guidelines"
    assert judge.baseline["q"] is stands["q"]


def test_maps_are_fitted_on_train_alone(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    other_place = units["q"].ratings.copy()
    other_place[units["q"].splits != "train"] = 1
    changed = {"q": replace(units["q"], ratings=other_place)}

    assert fitted_maps(changed, harsh(quality)) == fitted_maps(units, harsh(quality)) != {}


def test_a_jury_is_compared_with_its_best_member(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    members = {
        name: mapped_judge(
            declared_version(name, fingerprint=name, prompt_text=""),
            {"q": judged(quality, seed=seed, noise=noise)},
            replaced={},
        )
        for name, seed, noise in (("good", 3, 0.7), ("bad", 4, 1.5))
    }
    version = jury_version(members, units)
    jury = jury_judge(version, members, units)

    assert version.judge_id == JURY
    assert jury.baseline["q"] is members["good"].scores["q"]
    assert version.weights["q"]["good"] > version.weights["q"]["bad"]
    people = units["q"].ratings
    assert concordance(people, jury.scores["q"]) > concordance(people, members["bad"].scores["q"])


def test_a_member_without_scores_on_train_is_not_the_best_of_a_jury(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    """Not even beside one that agrees with people less than by chance."""
    units, quality = case
    absent = np.where(units["q"].is_in("train"), np.nan, judged(quality, seed=3))
    members = {
        name: mapped_judge(
            declared_version(name, fingerprint=name, prompt_text=""), {"q": scores}, replaced={}
        )
        for name, scores in (("absent", absent), ("reversed", 6 - judged(quality, seed=4)))
    }
    jury = jury_judge(jury_version(members, units), members, units)

    assert jury.baseline["q"] is members["reversed"].scores["q"]


def test_figures_on_dev_are_the_agreement_with_its_raters(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    rated = {"q": units["q"], "unread": units["q"].part("train"), "same": units["q"]}
    scores = {"q": judged(quality, seed=3), "unread": np.ones(len(rated["unread"].groups))}
    scores["same"] = np.full(len(quality), np.nan)
    judge = mapped_judge(DECLARED, scores, replaced={})
    on_dev = units["q"].is_in("dev")

    assert dev_figures(judge, rated) == {
        "q": pytest.approx(concordance(units["q"].ratings[on_dev], scores["q"][on_dev]))
    }


def test_a_jury_with_another_member_is_another_judge(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case

    def jury(seed: int) -> str:
        members = {
            name: mapped_judge(
                declared_version(name, fingerprint=f"{name} {seed}", prompt_text=""),
                {"q": judged(quality, seed=5)},
                replaced={},
            )
            for name in ("a", "b")
        }
        return jury_version(members, units).fingerprint

    assert jury(1) == jury(1) != jury(2)


def test_weights_of_a_jury_do_not_depend_on_labels_of_the_test(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    raws = {"gpt": harsh(quality), "haiku": {"q": judged(quality, seed=5, noise=0.6)}}
    members = {
        name: mapped_judge(replace(DECLARED, judge_id=name), raw, replaced={})
        for name, raw in raws.items()
    }
    is_test = (units["q"].splits == "test")[:, np.newaxis]
    changed = {"q": replace(units["q"], ratings=np.where(is_test, 3.0, units["q"].ratings))}

    assert jury_version(members, changed) == jury_version(members, units)


def test_a_judge_is_planned_for_before_it_has_a_version(
    case: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    units, quality = case
    scored = {"q": replace(units["q"], scores={"gpt": harsh(quality)["q"]})}
    mapped = untested_judge("gpt", scored, steps=("calibration",))
    plain = untested_judge("gpt", scored, steps=())

    assert (mapped.version.step, plain.version.step) == ("calibration", "declared")
    assert not np.array_equal(mapped.scores["q"], plain.scores["q"], equal_nan=True)
    np.testing.assert_array_equal(mapped.baseline["q"], plain.scores["q"])
