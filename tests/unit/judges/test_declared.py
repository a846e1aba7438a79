"""Declared judges, made ready to be called."""

from datetime import date
from pathlib import Path

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.judges.calling.live_model import live_judges
from tests.unit.judges.conftest import PAIR, QUESTION


def cautions(*judges: Judge) -> list[str]:
    evaluation = Evaluation("test", Path(), (QUESTION,), judges=judges)
    ready = live_judges(evaluation, environ={}, today=date(2026, 11, 21))
    return [caution for judge in ready for caution in judge.cautions]


def test_models_that_take_what_is_declared_at_known_prices_give_no_caution() -> None:
    assert cautions(*PAIR) == []


def test_settings_that_a_model_does_not_take_and_unknown_prices_are_named() -> None:
    warm = Judge("gpt", "openai", "gpt-6-luna", settings={"temperature": 0.5, "top_p": 1})
    undated = Judge("own", "openai", "our-model")

    assert cautions(warm, undated) == [
        "gpt-6-luna takes no temperature, top_p: gpt is asked without",
        "the price of our-model is not known, so neither is the cost of own",
    ]
