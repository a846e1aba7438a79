"""Agreement of two judges, on scores whose figures are worked out by hand."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.pairs import PairMeasures, measure_pairs, pair_kappa
from eval_assets.agreement.ratings import JudgedUnits
from eval_assets.config.judges import DualJudge

NAN = math.nan
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def measured(
    prompts: dict[str, dict[str, Sequence[float]]],
    *,
    low: float = 0.0,
    high: float = 1.0,
    limits: DualJudge | None = None,
) -> PairMeasures:
    """Measures of judges' scores, given by prompt (or prompt/question) and judge."""
    units = pd.DataFrame(
        [
            {
                "prompt_id": prompt.partition("/")[0],
                "query": f"query {prompt}",
                "response_id": f"{prompt}{k}",
                "question_id": prompt.partition("/")[2] or "q",
                "scale_min": low,
                "scale_max": high,
            }
            for prompt, by_judge in prompts.items()
            for k in range(len(next(iter(by_judge.values()))))
        ]
    )
    judges = list(next(iter(prompts.values()), {}))
    scores = {
        judge: np.concatenate([np.asarray(inputs[judge], float) for inputs in prompts.values()])
        for judge in judges
    }
    judged = JudgedUnits(
        units,
        scores,
        models={judge: f"model {judge}" for judge in judges},
        fingerprints=dict.fromkeys(judges, "f"),
    )
    return measure_pairs(judged, limits or DualJudge(), is_independent=True, at=NOW)


def test_half_is_not_above_the_middle() -> None:
    # .49 and .5 are of one class, .51 of the other: all three agree with 0, 0, 1
    assert pair_kappa([0.49, 0.5, 0.51], [0.0, 0.0, 1.0]).value == 1.0


def test_one_class_throughout_has_no_kappa_and_says_why() -> None:
    kappa = pair_kappa([0.9, 0.8], [0.7, 0.6])
    none = pair_kappa([NAN, 0.8], [0.7, NAN])

    assert math.isnan(kappa.value)
    assert kappa.reason == "single_class"
    assert none.reason == "no_pairs"
    assert none.n_units == 0


def test_the_kappa_of_a_single_unit_follows_the_formula() -> None:
    apart, alike = pair_kappa([0.9], [0.1]), pair_kappa([0.9], [0.8])
    assert apart.value == 0.0
    assert math.isnan(alike.value)
    assert alike.reason == "single_class"


def test_prompts_with_one_response_each_have_no_mean_kappa() -> None:
    one_each: dict[str, dict[str, Sequence[float]]] = {
        f"p{k}": {"one": [k % 2], "two": [(k + (k == 3)) % 2]} for k in range(8)
    }
    validation = measured(one_each).validation

    assert validation is not None
    assert math.isnan(validation.kappa_macro)
    assert validation.kappa_micro == pytest.approx(0.75)
    assert validation.status == "not_evaluable"
    assert "none has two responses with both scores" in validation.notes


def test_a_constant_judge_has_kappa_zero_at_80_percent_agreement() -> None:
    assert pair_kappa([1, 1, 1, 1, 1], [1, 1, 1, 1, 0]).value == 0.0


def test_an_offset_hides_agreement_from_kappa() -> None:
    # The second is .1 lower throughout: 1 1 1 1 1 1 0 0 against 1 1 0 0 0 0 0 0 has
    # P_o = 4/8, P_e = 6/8 x 2/8 + 2/8 x 6/8 = 3/8, kappa = (1/2 - 3/8) / (5/8) = .2
    one = [0.9, 0.8, 0.6, 0.59, 0.58, 0.57, 0.3, 0.2]

    assert pair_kappa(one, [x - 0.1 for x in one]).value == pytest.approx(0.2)


def test_opposite_scores_differ_though_their_means_do_not() -> None:
    result = measured({"a": {"one": [1, 0, 1, 0], "two": [0, 1, 0, 1]}}).disagreements

    prompt = result[result["scope"] == "prompt"].iloc[0]
    assert prompt["judge1_score"] == prompt["judge2_score"] == 0.5
    assert prompt["difference"] == 1.0
    assert prompt["reason"] == "mean difference above 0.4, kappa below 0.7"
    assert (result["scope"] == "response").sum() == 4


def test_only_differences_above_the_limits_are_listed_worst_first() -> None:
    # On a 1-5 scale .3 is 1.2 points: of the differences 1.2, 1.21 and 3 the last two count.
    result = measured(
        {"a": {"one": [1.0, 1.0, 5.0], "two": [2.2, 2.21, 2.0]}}, low=1, high=5
    ).disagreements

    responses = result[result["scope"] == "response"]
    assert responses["response_id"].tolist() == ["a2", "a1"]
    assert responses["difference"].tolist() == pytest.approx([0.75, 0.3025])
    assert result["difference"].is_monotonic_decreasing


def test_what_passes_and_what_is_listed_goes_by_the_declared_limits() -> None:
    # 1 1 0 0 against 1 0 0 0: P_o 3/4, P_e 1/2 x 1/4 + 1/2 x 3/4 = 1/2, kappa = 1/2
    scores: dict[str, dict[str, Sequence[float]]] = {
        "a": {"one": [0.9, 0.9, 0.1, 0.1], "two": [0.9, 0.4, 0.1, 0.1]}
    }
    usual = measured(scores)
    strict = measured(scores, limits=DualJudge(group_disagreement=0.1))
    lenient = measured(scores, limits=DualJudge(kappa=0.5, disagreement=0.6))

    assert usual.disagreements["reason"].tolist() == ["difference above 0.3", "kappa below 0.7"]
    assert strict.disagreements["reason"].tolist() == [
        "difference above 0.3",
        "mean difference above 0.1, kappa below 0.7",
    ]
    assert lenient.disagreements.empty
    statuses = [result.validation.status for result in (usual, lenient) if result.validation]
    assert statuses == ["fail", "pass"]
    apart = measured({"a": {"one": [0.9, 0.9, 0.1, 0.1], "two": [0.9, 0.1, 0.9, 0.1]}})  # kappa 0
    assert apart.validation is not None
    assert "kappa is below 0.4 on 1 of 1 prompts" in apart.validation.notes


def test_float_noise_at_the_limit_is_no_disagreement() -> None:
    result = measured({"a": {"one": [0.8, 0.1], "two": [0.5, 0.1]}})  # .8 - .5 is above .3 by 5e-17

    assert "response" not in set(result.disagreements["scope"])


def test_prompts_without_a_kappa_are_left_out_of_the_mean_and_the_pooled_kappa_decides() -> None:
    """Nine prompts of one class and one with kappa 0 must not pass as .9."""
    agreeing: dict[str, dict[str, Sequence[float]]] = {
        f"g{k}": {"one": [1, 1, 1], "two": [1, 1, 1]} for k in range(9)
    }
    result = measured(agreeing | {"h": {"one": [1, 1, 1], "two": [1, 1, 0]}})

    validation = result.validation
    assert validation is not None
    assert (validation.kappa_macro, validation.kappa_micro) == (0.0, 0.0)
    assert (validation.n_prompts, validation.n_prompts_defined) == (10, 1)
    assert validation.status == "fail"
    assert "9 of 10 prompts have no kappa" in validation.notes


def test_a_pair_passes_only_if_both_kappas_do() -> None:
    """Two small prompts of kappa 1 outweigh a large one in the mean, and not in all units."""
    alike: dict[str, Sequence[float]] = {"one": [0, 1], "two": [0, 1]}
    large: dict[str, Sequence[float]] = {"one": [0, 1] * 10, "two": [0, 1] * 6 + [1, 0] * 4}
    validation = measured({"a": alike, "b": alike, "c": alike, "d": large}).validation

    assert validation is not None
    assert validation.kappa_macro > 0.7 > validation.kappa_micro
    assert validation.status == "fail"


def test_prompts_with_several_questions_are_counted_as_pairs_of_both() -> None:
    lower: dict[str, Sequence[float]] = {"one": [0.2, 0.9, 0.6, 0.7], "two": [0.1, 0.6, 0.4, 0.5]}
    alike: dict[str, Sequence[float]] = {"one": [0.9, 0.8, 0.7, 0.6], "two": [0.8, 0.7, 0.6, 0.55]}

    validation = measured({f"{p}/{q}": g for p in "abc" for q, g in (("q", lower), ("r", alike))})

    assert validation.validation is not None
    assert "3 of 6 pairs of prompt and question have no kappa" in validation.validation.notes
    assert "Wilcoxon p below 0.001" in validation.validation.notes


def test_ten_identical_answers_are_not_evaluable() -> None:
    validation = measured({"a": {"one": [0.8] * 10, "two": [0.8] * 10}}).validation

    assert validation is not None
    assert validation.status == "not_evaluable"
    assert math.isnan(validation.wilcoxon_p)


def test_a_judge_that_scores_higher_is_told_with_the_threshold_that_levels_it() -> None:
    lower = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.15, 0.25, 0.35, 0.45]
    validation = measured({"a": {"one": [x + 0.2 for x in lower], "two": lower}}).validation

    assert validation is not None
    assert validation.median_difference == pytest.approx(0.2)
    # ten differences of one sign: exact two-sided p = 2 / 2^10
    assert validation.wilcoxon_p == pytest.approx(2 / 1024)
    assert "one scores higher than two" in validation.notes
    assert "split its scores at 0.70" in validation.notes


def test_nine_pairs_are_too_few_for_wilcoxon() -> None:
    validation = measured({"a": {"one": [0.9] * 9, "two": [0.1] * 9}}).validation

    assert validation is not None
    assert math.isnan(validation.wilcoxon_p)


def test_arrays_are_as_long_as_the_prompt_has_responses_with_none_for_a_missing_score() -> None:
    prompts = measured(
        {"a": {"one": [0.1, NAN, 0.9], "two": [NAN, NAN, NAN]}, "b": {"one": [1], "two": [0]}}
    ).prompts

    assert prompts["judge1_score"].tolist() == [[0.1, None, 0.9], [1.0]]
    assert prompts["judge2_score"].tolist() == [[None, None, None], [0.0]]
    assert prompts["judge2_model"].isna().tolist() == [True, False]
    assert prompts["response_ids"].tolist() == [["a0", "a1", "a2"], ["b0"]]


def test_every_pair_of_three_judges_is_listed_and_the_first_two_are_validated() -> None:
    result = measured({"a": {"x": [1.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0]}})

    listed = result.disagreements[result.disagreements["scope"] == "prompt"]
    assert sorted(zip(listed["judge1_id"], listed["judge2_id"], strict=True)) == [
        ("b", "c"),
        ("x", "c"),
    ]
    assert result.validation is not None
    assert (result.validation.judge1_id, result.validation.judge2_id) == ("x", "b")
    assert result.validation.status == "pass"


def test_one_judge_has_nobody_to_disagree_with() -> None:
    result = measured({"a": {"one": [1.0, 0.0]}})

    assert result.validation is None
    assert result.prompts.empty
    assert result.disagreements.empty
