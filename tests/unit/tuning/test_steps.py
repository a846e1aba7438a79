import numpy as np
import pytest

from eval_assets.stats import concordance
from eval_assets.tuning import (
    JURY,
    RatedUnits,
    declared_version,
    fitted_maps,
    make_jury,
    with_maps,
)
from tests.unit.tuning.made_up import judged, simulated


@pytest.fixture(scope="module")
def units() -> tuple[dict[str, RatedUnits], np.ndarray]:
    """Eighty groups, split as their names say, and the quality of their answers."""
    made, quality = simulated(80, seed=1, split=None)
    return {"q": made}, quality


def harsh(quality: np.ndarray) -> np.ndarray:
    return np.clip(np.round(quality / 2 + 0.2), 1, 3)


DECLARED = declared_version("gpt", fingerprint="f", prompt_text="Rate it.")


def test_a_judge_whose_scale_is_mapped_is_compared_with_itself_without_the_map(
    units: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    rated, quality = units
    scores = {"q": harsh(quality)}
    found = with_maps(DECLARED, rated, scores, maps=fitted_maps(rated, scores))

    assert found.version.step == "calibration"
    assert found.baseline["q"] is scores["q"]
    assert found.scores["q"].max() == 5
    assert found.raw is scores


def test_a_judge_that_needs_no_map_stays_the_declared_one(
    units: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    rated, quality = units
    scores = {"q": judged(quality, seed=2)}
    found = with_maps(DECLARED, rated, scores, maps=fitted_maps(rated, scores))

    assert found.version == DECLARED
    assert found.baseline == {}


def test_maps_are_fitted_on_train_alone(
    units: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    rated, quality = units
    scores = {"q": harsh(quality)}
    elsewhere = rated["q"].ratings.copy()
    elsewhere[rated["q"].splits != "train"] = 1
    from dataclasses import replace  # noqa: PLC0415

    changed = {"q": replace(rated["q"], ratings=elsewhere)}
    assert fitted_maps(changed, scores) == fitted_maps(rated, scores)


def test_a_jury_is_compared_with_its_best_member(
    units: tuple[dict[str, RatedUnits], np.ndarray],
) -> None:
    rated, quality = units
    members = {
        name: with_maps(
            declared_version(name, fingerprint=name, prompt_text=""),
            rated,
            {"q": judged(quality, seed=seed, noise=noise)},
            maps={},
        )
        for name, seed, noise in (("good", 3, 0.7), ("bad", 4, 1.5))
    }
    found = make_jury(members, rated, fingerprint="good bad")

    assert found.version.judge_id == JURY
    assert found.baseline["q"] is members["good"].scores["q"]
    assert found.version.weights["q"]["good"] > found.version.weights["q"]["bad"]
    people = rated["q"].ratings
    assert concordance(people, found.scores["q"]) > concordance(people, members["bad"].scores["q"])
