"""The verdict on a judge: what its figures against people amount to."""

import numpy as np
import pytest

from eval_assets.agreement.judge_verdicts import CLOSE, judge_verdict
from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from eval_assets.scale import LIKERT5
from eval_assets.stats import judge_human_profile
from eval_assets.verdicts import JudgeVerdict

TRUTH = np.tile([1, 2, 3, 4, 5], 40)
PEOPLE = np.column_stack([TRUTH, np.where(np.arange(200) % 4, TRUTH, np.clip(TRUTH + 1, 1, 5))])
RNG = np.random.default_rng(7)
JUDGES: dict[str, tuple[np.ndarray, JudgeVerdict]] = {
    "as good as people": (TRUTH, JudgeVerdict.MATCHES_HUMANS),
    "one step off": (np.clip(TRUTH + 1, 1, 5), JudgeVerdict.BELOW_HUMANS),
    "always the middle": (np.full(200, 3), JudgeVerdict.LIKE_CONSTANT),
    "always the best constant but one": (np.full(200, 2), JudgeVerdict.LIKE_CONSTANT),
    "the base rate": (RNG.permutation(TRUTH), JudgeVerdict.LIKE_SHUFFLED),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_is_named_for_what_it_does(name: str) -> None:
    scores, verdict = JUDGES[name]
    profile = judge_human_profile(PEOPLE, scores, scale=LIKERT5, level="ordinal", confidence=0.95)
    verdict_of_scores = judge_verdict(
        Figure.of(profile.a_ha),
        shuffled=profile.a_ha_shuffled,
        constant=profile.a_ha_constant,
        above_shuffled=Figure.of(profile.a_ha_above_shuffled),
        above_constant=Figure.of(profile.a_ha_above_constant),
        above_people=Figure.of(profile.a_ha_above_people),
        within=Figure.of(profile.a_ha_within),
        people_within=Figure.of(profile.a_hh_within),
        within_above_people=Figure.of(profile.a_ha_within_above_people),
        spearman=Figure.of(profile.spearman),
    )

    assert verdict_of_scores is verdict


WORSE_THAN_PEOPLE, AS_GOOD_AS_PEOPLE = Figure(-0.1, -0.15, -0.06), Figure(0.0, -0.04, 0.04)
SHOWN, NOT_SHOWN = Figure(0.3, 0.2, 0.4), Figure(0.1, 5e-10, 0.2)


def verdict_with(  # noqa: PLR0913 - a figure per control
    *,
    above_shuffled: Figure = SHOWN,
    above_constant: Figure = SHOWN,
    above_people: Figure = AS_GOOD_AS_PEOPLE,
    spearman: Figure = UNDEFINED_FIGURE,
    constant: float = 0.6,
    within: Figure = UNDEFINED_FIGURE,
    people_within: Figure = UNDEFINED_FIGURE,
    within_above_people: Figure = UNDEFINED_FIGURE,
) -> JudgeVerdict:
    """Return the verdict on a judge whose other figures are good."""
    return judge_verdict(
        Figure(0.9, 0.85, 0.95),
        shuffled=0.6,
        constant=constant,
        above_shuffled=above_shuffled,
        above_constant=above_constant,
        above_people=above_people,
        within=within,
        people_within=people_within,
        within_above_people=within_above_people,
        spearman=spearman,
    )


def test_a_judge_without_a_score_beside_a_rating_is_not_compared() -> None:
    undefined = judge_verdict(
        UNDEFINED_FIGURE,
        shuffled=np.nan,
        constant=np.nan,
        above_shuffled=UNDEFINED_FIGURE,
        above_constant=UNDEFINED_FIGURE,
        above_people=UNDEFINED_FIGURE,
        within=UNDEFINED_FIGURE,
        people_within=UNDEFINED_FIGURE,
        within_above_people=UNDEFINED_FIGURE,
        spearman=UNDEFINED_FIGURE,
    )

    assert undefined is JudgeVerdict.NOT_COMPARED


def test_float_noise_above_a_control_does_not_make_a_judge_better_than_it() -> None:
    worse = WORSE_THAN_PEOPLE

    assert verdict_with() is JudgeVerdict.MATCHES_HUMANS
    assert verdict_with(above_shuffled=NOT_SHOWN, above_people=worse) is JudgeVerdict.LIKE_SHUFFLED
    assert verdict_with(above_constant=NOT_SHOWN, above_people=worse) is JudgeVerdict.LIKE_CONSTANT


def test_a_judge_that_may_be_as_good_as_people_is_inconclusive_beside_a_control() -> None:
    assert verdict_with(above_shuffled=NOT_SHOWN) is JudgeVerdict.INCONCLUSIVE
    assert verdict_with(above_constant=NOT_SHOWN) is JudgeVerdict.INCONCLUSIVE


def test_a_judge_that_a_control_certainly_exceeds_is_named_whatever_people_do() -> None:
    below = Figure(-0.1, -0.2, -0.01)

    assert verdict_with(above_constant=below) is JudgeVerdict.LIKE_CONSTANT
    assert verdict_with(above_shuffled=below) is JudgeVerdict.AGAINST_HUMANS


@pytest.mark.parametrize("people", [UNDEFINED_FIGURE, Figure(0.1, 0.01, 0.2)])
@pytest.mark.parametrize(
    ("high", "verdicts"),
    [
        (0.19, [JudgeVerdict.LIKE_SHUFFLED, JudgeVerdict.LIKE_CONSTANT]),
        (0.21, [JudgeVerdict.INCONCLUSIVE, JudgeVerdict.INCONCLUSIVE]),
    ],
)
def test_half_of_the_way_to_perfect_agreement_decides_where_people_do_not(
    people: Figure, high: float, verdicts: list[JudgeVerdict]
) -> None:
    """Both controls reach .6, so half of the way is .2."""
    above = Figure(0.05, -0.09, high)

    assert verdicts == [
        verdict_with(above_shuffled=above, above_people=people),
        verdict_with(above_constant=above, above_people=people),
    ]


@pytest.mark.parametrize("above", [NOT_SHOWN, Figure(-0.1, -0.2, -0.01)])
def test_the_verdict_does_not_contradict_the_interval_of_spearman(above: Figure) -> None:
    rising, flat = Figure(0.4, 0.1, 0.6), Figure(0.3, -0.1, 0.6)

    assert verdict_with(above_shuffled=above, spearman=rising) is JudgeVerdict.MATCHES_HUMANS
    assert verdict_with(above_shuffled=above, spearman=flat) is not JudgeVerdict.MATCHES_HUMANS


@pytest.mark.parametrize(
    ("low", "verdict"),
    [(-0.0499, JudgeVerdict.MATCHES_HUMANS), (-0.0501, JudgeVerdict.INCONCLUSIVE)],
)
def test_a_judge_matches_people_down_to_a_twentieth_of_the_scale(
    low: float, verdict: JudgeVerdict
) -> None:
    assert CLOSE == 0.05
    assert verdict_with(above_people=Figure(0.0, low, 0.04)) is verdict


def test_a_judge_certainly_below_people_is_named_so() -> None:
    assert verdict_with(above_people=WORSE_THAN_PEOPLE) is JudgeVerdict.BELOW_HUMANS
    assert verdict_with(above_people=Figure(-0.02, -0.04, -0.001)) is JudgeVerdict.MATCHES_HUMANS


def test_scores_worse_than_shuffled_contradict_humans() -> None:
    reversed_judge = judge_verdict(
        Figure(0.3, 0.2, 0.4),
        shuffled=0.6,
        constant=0.7,
        above_shuffled=Figure(-0.3, -0.4, -0.2),
        above_constant=Figure(-0.4, -0.5, -0.3),
        above_people=Figure(-0.6, -0.7, -0.5),
        within=UNDEFINED_FIGURE,
        people_within=UNDEFINED_FIGURE,
        within_above_people=UNDEFINED_FIGURE,
        spearman=Figure(-0.8, -0.9, -0.7),
    )

    assert reversed_judge is JudgeVerdict.AGAINST_HUMANS


WORSE_WITHIN, EQUAL_WITHIN = Figure(-0.1, -0.15, -0.05), Figure(-0.01, -0.05, 0.03)


@pytest.mark.parametrize(
    ("within", "people", "less_people", "verdict"),
    [
        (Figure(0.0, -0.05, 0.05), SHOWN, WORSE_WITHIN, JudgeVerdict.LIKE_PROMPT),
        (Figure(0.0, 0.0, 0.0), SHOWN, WORSE_WITHIN, JudgeVerdict.LIKE_PROMPT),
        (Figure(0.1, -0.05, 0.25), SHOWN, EQUAL_WITHIN, JudgeVerdict.INCONCLUSIVE),
        (Figure(0.1, 0.05, 0.15), SHOWN, WORSE_WITHIN, JudgeVerdict.MATCHES_HUMANS),
        (Figure(0.1, -0.05, 0.25), NOT_SHOWN, EQUAL_WITHIN, JudgeVerdict.MATCHES_HUMANS),
        (Figure(0.1, -0.05, 0.25), UNDEFINED_FIGURE, UNDEFINED_FIGURE, JudgeVerdict.MATCHES_HUMANS),
    ],
)
def test_a_judge_must_tell_responses_of_one_group_apart_where_people_do(
    within: Figure, people: Figure, less_people: Figure, verdict: JudgeVerdict
) -> None:
    judged = verdict_with(within=within, people_within=people, within_above_people=less_people)

    assert judged is verdict
    assert JudgeVerdict.LIKE_PROMPT.is_control


@pytest.mark.parametrize(
    ("high", "verdict"), [(0.46, JudgeVerdict.INCONCLUSIVE), (0.52, JudgeVerdict.MATCHES_HUMANS)]
)
def test_equal_scores_within_all_of_six_groups_are_inconclusive(
    high: float, verdict: JudgeVerdict
) -> None:
    assert verdict_with(within=Figure(0.0, -high, high), people_within=NOT_SHOWN) is verdict
