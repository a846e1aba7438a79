"""Agreement of people, question by question and over all."""

from pathlib import Path

import numpy as np

from eval_assets.agreement import HumanRatings, LongRatings, measure_humans
from eval_assets.evaluation import Evaluation
from eval_assets.rubric import RubricQuestion
from eval_assets.scale import LIKERT5
from eval_assets.stats import RatingPatterns

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
DEPTH = RubricQuestion("depth", "Is it deep?", LIKERT5, "ordinal")


def rated(seed: int, noise: float) -> LongRatings:
    """Two raters on 24 responses, six to a prompt."""
    rng = np.random.default_rng(seed)
    common = rng.integers(1, 6, (24, 1)) + rng.normal(0, noise, (24, 2))
    values = np.clip(np.rint(common), 1, 5)
    unit, rater = np.divmod(np.arange(48), 2)
    return LongRatings(unit, rater, values[unit, rater], ("a", "b"), np.arange(24) // 6)


def measured(**by_question: LongRatings) -> list[dict[str, object]]:
    """Rows of `human_agreement`, overall first."""
    questions = tuple(each for each in (CLARITY, DEPTH) if each.id in by_question)
    patterns = {
        name: RatingPatterns.from_matrix(given.matrix(), groups=given.group)
        for name, given in by_question.items()
    }
    humans = HumanRatings(by_question, patterns, {}, {}, "v1")
    found = measure_humans(humans, Evaluation("test", Path(), questions)).agreement
    return [{str(name): cell for name, cell in row.items()} for row in found.to_dict("records")]


def test_all_questions_together_go_by_response_groups_too() -> None:
    """Single responses would make the interval narrower than groups of six do."""
    rows = measured(clarity=rated(1, 0.5), depth=rated(2, 0.5))

    assert [row["n_groups"] for row in rows] == [4, 4, 4]
    assert [row["n_responses"] for row in rows] == [24, 24, 24]


def test_agreement_that_chance_may_explain_is_called_so_by_its_interval() -> None:
    overall, unrelated = measured(clarity=rated(3, 2.5))

    value, low, chance = (unrelated[name] for name in ("a_hh", "a_hh_low", "a_hh_by_chance"))
    assert isinstance(value, float)
    assert isinstance(low, float)
    assert isinstance(chance, float)
    assert low < chance < value
    assert "not certainly better than chance" in str(unrelated["interpretation"])
    assert "not certainly better than chance" in str(overall["interpretation"])
    [_, related] = measured(clarity=rated(1, 0.3))
    assert "chance" not in str(related["interpretation"])
