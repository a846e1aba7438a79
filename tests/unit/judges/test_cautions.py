"""What to know of judges before their scores are believed."""

from datetime import date
from pathlib import Path

from eval_assets.evaluation import Calling, Evaluation, Judge
from eval_assets.judges.cautions import cautions
from eval_assets.judges.judging import live_judges
from tests.unit.judges.conftest import PAIR, QUESTION


def told(*judges: Judge, tested: tuple[str, ...] = ()) -> list[str]:
    evaluation = Evaluation("test", Path(), (QUESTION,), (), (), judges=judges)
    ready = live_judges(evaluation, environ={}, today=date(2026, 11, 21))
    return cautions(ready, models_under_test=tested, overrides={})


def test_two_independent_vendors_give_no_caution() -> None:
    assert told(*PAIR, tested=("llama-3.3-70b", "our-model")) == []


def test_judges_of_one_family_and_of_the_models_under_test_are_named() -> None:
    assert told(PAIR[0], Judge("old", "openai", "gpt-4o"), tested=("gpt-4.1", "gpt-4.1")) == [
        "gpt-6-luna and gpt-4o are of one family, openai: they are not independent",
        "gpt is of the family of gpt-4.1, openai, and may favour it",
        "old is of the family of gpt-4.1, openai, and may favour it",
    ]


def test_settings_that_a_model_does_not_take_and_unknown_prices_are_named() -> None:
    warm = Judge("gpt", "openai", "gpt-6-luna", calling=Calling({"temperature": 0.5, "top_p": 1}))
    own = Judge("own", "openai", "our-model")
    assert told(warm, own, tested=("our-model",)) == [
        "gpt-6-luna takes no temperature, top_p: gpt is asked without",
        "the price of our-model is not known, and so is its cost",
    ]
