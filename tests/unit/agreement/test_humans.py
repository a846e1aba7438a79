"""Agreement of people, question by question and over all."""

from pathlib import Path

import numpy as np
import pytest

from eval_assets.agreement.humans import measure_humans
from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import HumanFigures
from eval_assets.scale import LIKERT5
from eval_assets.stats import (
    cohen_kappa,
    fleiss_kappa,
)

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
DEPTH = RubricQuestion("depth", "Is it deep?", LIKERT5, "ordinal")


def rated(seed: int, noise: float) -> LongRatings:
    """Two raters on 24 responses, six to a prompt."""
    rng = np.random.default_rng(seed)
    common = rng.integers(1, 6, (24, 1)) + rng.normal(0, noise, (24, 2))
    values = np.clip(np.rint(common), 1, 5)
    unit, rater = np.divmod(np.arange(48), 2)
    return LongRatings(unit, rater, values[unit, rater], ("a", "b"), np.arange(24) // 6)


def measured(**by_question: LongRatings) -> tuple[HumanFigures, ...]:
    """Figures, overall first."""
    questions = tuple(question for question in (CLARITY, DEPTH) if question.id in by_question)
    humans = HumanRatings(by_question, {}, {}, "v1")
    return measure_humans(humans, Evaluation("test", Path(), questions)).agreement


def test_all_questions_together_go_by_response_groups_too() -> None:
    """Single responses would make the interval narrower than groups of six do."""
    rows = measured(clarity=rated(1, 0.5), depth=rated(2, 0.5))

    assert [row.n_groups for row in rows] == [4, 4, 4]
    assert [row.n_responses for row in rows] == [24, 24, 24]


def test_agreement_that_chance_may_explain_is_called_so_by_its_interval() -> None:
    overall, unrelated = measured(clarity=rated(3, 2.5))

    assert unrelated.a_hh.low < unrelated.a_hh_by_chance < unrelated.a_hh.value
    assert "not certainly better than chance" in unrelated.interpretation
    assert "not certainly better than chance" in overall.interpretation
    [_, related] = measured(clarity=rated(1, 0.3))
    assert "chance" not in related.interpretation


def test_rare_groups_hold_a_rating_other_than_the_most_frequent_one() -> None:
    """Four of 4, of which one group has a 2; a 1 that one rater alone gave does not count."""
    unit = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    values = np.array([4.0, 4, 4, 2, 4, 4, 4, 4, 1])
    ratings = LongRatings(unit, np.arange(9) % 2, values, ("a", "b"), np.array([0, 0, 1, 2, 3]))
    overall, row = measured(clarity=ratings)

    assert (row.n_groups, row.n_rare_groups) == (3, 1)
    assert overall.n_rare_groups is None
    empty = LongRatings(unit[:1], unit[:1], values[:1], ("a", "b"), np.arange(1))
    assert measured(clarity=empty)[1].n_rare_groups == 0


def test_kappa_is_cohens_of_two_raters_and_fleiss_of_more() -> None:
    unit, rater = np.divmod(np.arange(48), 2)
    values = np.clip(1 + unit % 5 + (np.arange(48) % 7 == 0), 1, 5).astype(float)
    two = LongRatings(unit, rater, values, ("a", "b", "c"), np.arange(24))
    three = LongRatings(
        unit, np.where(np.arange(48) == 1, 2, rater), values, two.rater_ids, two.group
    )
    [_, of_two], [_, of_three] = measured(clarity=two), measured(clarity=three)

    assert (of_two.n_raters, of_two.kappa_kind) == (2, "cohen")
    assert of_two.kappa.value == pytest.approx(
        cohen_kappa(two.matrix()[:, 0], two.matrix()[:, 1], weights=None)
    )
    assert (of_three.n_raters, of_three.kappa_kind) == (3, "fleiss")
    assert of_three.kappa.value == pytest.approx(fleiss_kappa(three.matrix()))
