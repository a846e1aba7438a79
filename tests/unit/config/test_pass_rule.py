"""Which values of a question are a pass."""

import numpy as np
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import DeclarationError
from eval_assets.scale import BINARY, LIKERT5, Scale

WORDS = Scale.from_words("bad", "fair", "good")


@pytest.mark.parametrize(
    ("scale", "declared", "passing"),
    [
        (BINARY, None, (1,)),
        (BINARY, "yes", (1,)),
        (BINARY, "no", (0,)),
        (Scale.from_words("fail", "pass"), None, (1,)),
        (Scale.from_words("yes", "no"), "yes", (0,)),
        (LIKERT5, ">=4", (4, 5)),
        (LIKERT5, 5.0, (5,)),
        (WORDS, "fair, good", (1, 2)),
    ],
)
def test_a_pass_is_what_is_declared_or_the_higher_of_two_classes(
    scale: Scale, declared: str | float | None, passing: tuple[float, ...]
) -> None:
    question = RubricQuestion("q", "Good?", scale, "ordinal", passes=declared)
    assert question.pass_rule is not None
    values = np.array(scale.values)
    assert tuple(values[question.pass_rule.passes(values) == 1]) == passing


@pytest.mark.parametrize("scale", [LIKERT5, WORDS, Scale(low=0, high=1)])
def test_more_classes_have_no_pass_of_their_own(scale: Scale) -> None:
    level = "interval" if scale.values is None else "ordinal"
    assert RubricQuestion("q", "Good?", scale, level).pass_rule is None  # type: ignore[arg-type]


@pytest.mark.parametrize("declared", [">=9", "great"])
def test_a_rule_that_divides_nothing_is_refused(declared: str) -> None:
    with pytest.raises(DeclarationError, match="pass"):
        RubricQuestion("q", "Good?", LIKERT5, "ordinal", passes=declared)
