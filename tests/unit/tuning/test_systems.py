import numpy as np
import pytest

from eval_assets.scale import BINARY, Scale
from eval_assets.tuning.systems import SystemResponses, compare_systems


def responses(
    *, gap: float = 0.3, n_prompts: int = 300, n_labelled: int = 80, seed: int = 1, bias: float = 0
) -> SystemResponses:
    """Two systems respond to the same prompts; people rate the responses to the first of them."""
    rng = np.random.default_rng(seed)
    prompt = rng.normal(3, 0.8, n_prompts)
    quality = np.concatenate([prompt + gap, prompt]) + rng.normal(0, 0.3, 2 * n_prompts)
    is_first = np.arange(2 * n_prompts) < n_prompts
    human = quality + rng.normal(0, 0.3, 2 * n_prompts)
    human[np.tile(np.arange(n_prompts) >= n_labelled, 2)] = np.nan
    return SystemResponses(
        systems=np.where(is_first, "new", "old"),
        groups=np.tile([f"p{k}" for k in range(n_prompts)], 2),
        human=human,
        judge=quality - 1 + np.where(is_first, bias, 0) + rng.normal(0, 0.3, 2 * n_prompts),
        slices={"difficulty": np.tile(np.where(np.arange(n_prompts) % 2, "easy", "hard"), 2)},
        scale=Scale(low=-5, high=11),
    )


def only(rows: list[dict[str, object]], **named: object) -> dict[str, object]:
    [row] = [row for row in rows if all(row[name] == value for name, value in named.items())]
    return row


def test_a_harsh_judge_is_corrected_by_the_ratings_there_are() -> None:
    rows = compare_systems(responses())
    new = only(rows, kind="mean", slice="all", system="new")

    assert new["judge_only"] == pytest.approx(2.3, abs=0.2)
    assert new["value"] == pytest.approx(3.3, abs=0.2)
    assert (new["n_responses"], new["n_labelled"]) == (300, 80)


def test_a_judge_that_favours_one_system_does_not_decide_the_comparison() -> None:
    """The judge alone has the old system 0.7 behind; people see no difference."""
    rows = compare_systems(responses(gap=0, bias=0.7))
    result = only(rows, kind="difference", slice="all")

    assert result["judge_only"] == pytest.approx(0.7, abs=0.1)
    assert result["low"] < 0 < result["high"]  # type: ignore[operator]
    assert result["is_safe"] is False


def test_a_difference_on_the_same_prompts_is_safe_when_both_are_uncertain() -> None:
    rows = compare_systems(responses(gap=0.3))
    result = only(rows, kind="difference", slice="all")

    assert result["is_safe"] is True
    assert result["value"] == pytest.approx(0.3, abs=0.1)


def test_every_slice_is_compared_and_pays_for_its_comparisons() -> None:
    rows = compare_systems(responses())
    hard = only(rows, kind="difference", slice="difficulty", slice_value="hard")
    complete = only(rows, kind="difference", slice="all")

    assert hard["low_all"] < hard["low"]  # type: ignore[operator]
    assert complete["low_all"] == complete["low"]
    assert len([row for row in rows if row["slice"] == "difficulty"]) == 4 + 2


@pytest.mark.slow
def test_the_true_mean_is_held_as_often_as_the_interval_says() -> None:
    held = [
        row["low"] <= 3 <= row["high"]  # type: ignore[operator]
        for seed in range(300)
        for row in [
            only(
                compare_systems(responses(gap=0, n_prompts=120, n_labelled=40, seed=seed)),
                kind="mean",
                slice="all",
                system="old",
            )
        ]
    ]

    assert 0.92 <= np.mean(held) <= 0.98


def test_a_system_without_labels_is_undefined_and_not_compared() -> None:
    inputs = responses(n_labelled=0)
    rows = compare_systems(inputs)

    assert only(rows, kind="mean", slice="all", system="new")["value"] is None
    assert only(rows, kind="difference", slice="all")["is_safe"] is None


@pytest.mark.parametrize("scale", [BINARY, Scale(low=0, high=1)])
def test_no_slice_is_too_small_to_be_compared(scale: Scale) -> None:
    """One to six responses a slice, unrated, unscored, constant or reversed as they come."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 7, 400)
    n = int(sizes.sum())
    values = np.array([0.0, 1.0, np.nan])
    rows = compare_systems(
        SystemResponses(
            systems=rng.choice(["new", "old"], n),
            groups=rng.integers(0, n // 2, n),
            human=rng.choice(values, n),
            judge=rng.choice(values, n),
            slices={"topic": np.repeat([f"t{k}" for k in range(400)], sizes)},
            scale=scale,
        )
    )

    assert {row["slice_value"] for row in rows} == {None, *(f"t{k}" for k in range(400))}
    assert all(
        row["low"] is None or row["low"] <= row["value"] <= row["high"]  # type: ignore[operator]
        for row in rows
    )
