"""Keys from the environment."""

import os
import random
import string

import pytest

from eval_assets.config.judges import Judge
from eval_assets.judges.credentials import api_keys, is_placeholder
from tests.unit.judges.conftest import PAIR


def test_a_judge_on_this_machine_needs_no_key_and_others_do() -> None:
    local = Judge("local", "openai", "llama3.2", base_url="http://localhost:11434/v1")
    assert api_keys([local], environ={}) == {"local": "none-needed"}
    placeholder = {"OPENAI_API_KEY": "your-key-here", "MY_KEY": " "}
    first = Judge("mine", "anthropic", "claude-haiku-5-5", api_key_env="MY_KEY")
    with pytest.raises(ExceptionGroup) as raised:
        api_keys([PAIR[0], first, local], environ=placeholder)
    assert [str(error) for error in raised.value.exceptions] == [
        f"environment: {rater} needs {name}, which is {text}. Set {name} to a key of its vendor."
        for rater, name, text in (
            ("gpt", "OPENAI_API_KEY", "a placeholder"),
            ("mine", "MY_KEY", "not set"),
        )
    ]
    assert "your-key-here" not in str(raised.value.exceptions)
    assert os.environ.get("MY_KEY") is None


@pytest.mark.parametrize(
    "key",
    [
        "your-key-here", "sk-your-key-here", "YOUR_OPENAI_API_KEY", "sk-xxxxxxxxxxxxxxxx", "xxx",
        "<your key>", "<OPENAI_API_KEY>", "sk-...", "sk-…", "changeme", "change-me", "REPLACE_ME",
        "replace-with-your-key", "placeholder", "TODO", "none", "null", "sk-test", "sk-12345",
        "1234567890", "insert your api key here", "sk-ant-api03-xxxx", "dummy-key", "*****", "test",
    ],
)  # fmt: skip
def test_a_stand_in_for_a_key_is_a_placeholder(key: str) -> None:
    assert is_placeholder(key)


FORMS = ("sk-{:48}", "sk-proj-{:120}", "sk-ant-api03-{:95}", "gsk_{:52}", "AIzaSy{:33}", "{:32}")


@pytest.mark.parametrize("form", FORMS)
def test_no_real_looking_key_is_taken_for_a_placeholder(form: str) -> None:
    """One in 200 was, because "xxx" or "your" occurred in it."""
    rng = random.Random(0)  # noqa: S311 - keys of nobody
    alphabet = string.ascii_letters + string.digits + "-_"
    n = int(form[form.index(":") + 1 : form.index("}")])
    keys = [form.format("".join(rng.choices(alphabet, k=n))) for _ in range(3000)]
    keys += [key[:20] + word + key[24:] for key in keys[:500] for word in ("xxxx", "your", "here")]
    assert [key for key in keys if is_placeholder(key)] == []


def test_telling_a_placeholder_takes_no_time_whatever_the_text() -> None:
    assert not is_placeholder("sk-" + "x" * 5000 + "Q")
    assert not is_placeholder("x0*1" * 2000 + "Q")


def refusal(judge: Judge, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ExceptionGroup) as raised:
        api_keys([judge], environ={"OPENAI_API_KEY": "sk-mine-0123456789abc", **(environ or {})})
    (error,) = raised.value.exceptions
    return str(error)


@pytest.mark.parametrize("api_key_env", [None, "OPENAI_API_KEY"])
def test_a_foreign_host_needs_a_key_of_its_own(api_key_env: str | None) -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/openai"
    judge = Judge("gemini", "openai", "gemini-2.5-flash", base_url=url, api_key_env=api_key_env)
    assert refusal(judge) == (
        "evaluation.yaml:base_url: gemini: generativelanguage.googleapis.com would be sent the key "
        "in OPENAI_API_KEY. Name the environment variable of its own key in api_key_env."
    )


def test_a_foreign_host_with_a_key_of_its_own_is_sent_that() -> None:
    judge = Judge("g", "openai", "m", base_url="https://llm.example.org/v1", api_key_env="G_KEY")
    assert api_keys([judge], environ={"G_KEY": "k-0123456789"}) == {"g": "k-0123456789"}


@pytest.mark.parametrize(
    "url",
    ["https://api.openai.com/v1", "https://eu.api.openai.com/v1", "http://127.0.0.1:8000/v1",
     "http://[::1]:8000/v1", "http://localhost:11434/v1"],
)  # fmt: skip
def test_the_vendors_hosts_and_this_machine_get_the_vendors_key(url: str) -> None:
    key = {"OPENAI_API_KEY": "sk-mine-0123456789abc"}
    judge = Judge("own", "openai", "m", base_url=url)
    assert api_keys([judge], environ=key) == {"own": "sk-mine-0123456789abc"}


@pytest.mark.parametrize(
    "url",
    [
        "https://anna:secret-word@llm.example.org/v1",
        "https://secret-word@127.0.0.1/v1",
        "https://llm.example.org/v1?api_key=secret-word",
        "https://llm.example.org/v1#secret-word",
        "https://llm.example.org/" + "sk" + "-secret-word-0123456789/v1",
        "https://llm.example.org:port/secret-word",
    ],
)
def test_a_url_that_may_hold_a_secret_is_refused_and_not_shown(url: str) -> None:
    declared = refusal(Judge("g", "openai", "m", base_url=url, api_key_env="G_KEY"))
    assert declared.startswith("evaluation.yaml:base_url: g: the base URL ")
    environment = refusal(Judge("g", "openai", "m"), {"OPENAI_BASE_URL": url})
    assert environment.startswith("environment: OPENAI_BASE_URL: the base URL ")
    assert "secret-word" not in declared + environment
