"""Keys from the environment."""

import os

import pytest

from eval_assets.evaluation import Judge
from eval_assets.judges import api_keys
from tests.unit.judges.conftest import PAIR


def test_a_judge_on_this_machine_needs_no_key_and_others_do() -> None:
    local = Judge("local", "openai", "llama3.2", base_url="http://localhost:11434/v1")
    assert api_keys([local], environ={}) == {"local": "none-needed"}
    placeholder = {"OPENAI_API_KEY": "your-key-here", "MY_KEY": " "}
    mine = Judge("mine", "anthropic", "claude-haiku-5-5", api_key_env="MY_KEY")
    with pytest.raises(ExceptionGroup) as raised:
        api_keys([PAIR[0], mine, local], environ=placeholder)
    assert [str(error) for error in raised.value.exceptions] == [
        f"environment: {who} needs {name}, which is {what}. Set {name} to a key of its vendor."
        for who, name, what in (
            ("gpt", "OPENAI_API_KEY", "a placeholder"),
            ("mine", "MY_KEY", "not set"),
        )
    ]
    assert "your-key-here" not in str(raised.value.exceptions)
    assert os.environ.get("MY_KEY") is None
