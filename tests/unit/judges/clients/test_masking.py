"""Texts of vendors that are stored and shown."""

import base64
import json
import random
import string
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.judges.credentials import masked, one_line, secrets_in, without_keys
from eval_assets.wording import storable

KEYS = ("sk-mine-0123456789", "another-key-of-mine")


@given(st.text(), st.text(), st.sampled_from(KEYS))
def test_a_known_key_is_shown_nowhere(before: str, after: str, key: str) -> None:
    assert key not in without_keys(f"{before}{key}{after}", KEYS)
    assert key not in masked(f"{before}{key}{after}{key}", KEYS)


@pytest.mark.parametrize(
    "form",
    ["sk-{}", "sk-proj-{}", "sk-ant-api03-{}", "gsk_{}", "xai-{}", "hf_{}", "AIza{}", "pplx-{}"],
)
def test_what_looks_like_a_key_is_masked_though_nobody_knows_it(form: str) -> None:
    rng = random.Random(1)  # noqa: S311 - keys of nobody
    for _ in range(50):
        key = form.format("".join(rng.choices(string.ascii_letters + string.digits, k=40)))
        assert masked(f"Incorrect API key provided: {key}.", ()) == (
            "Incorrect API key provided: [key]."
        )


def test_tokens_that_are_named_as_such_are_masked() -> None:
    token = base64.b64encode(bytes(range(40))).decode()
    assert masked(f"Authorization: Bearer {token}", ()) == "Authorization: Bearer [key]"
    assert masked(f'{{"api_key": "{token}"}}', ()) == '{"api_key": "[key]"}'
    assert masked("AKIAIOSFODNN7EXAMPLE", ()) == "[key]"


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached for gpt-6-luna in organization org-abc on tokens per min",
        "model: claude-haiku-5-5-20260101 is not available",
        "This model's maximum context length is 128000 tokens",
        "skill-based " + "risk" + "-assessment-of-the-whole-thing",
    ],
)
def test_ordinary_errors_are_left_as_they_are(text: str) -> None:
    assert masked(text, ()) == text


@given(st.text(alphabet=st.characters(), max_size=60))
def test_one_line_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = one_line(f"\x1b[2J{text}\x9b31m\x1b]0;title\x07", longest=100)
    assert len(shown) <= 100
    assert not {"Cc", "Cs"} & {unicodedata.category(char) for char in shown}
    assert not {"\x1b", "\x9b", "\n", "\r", "\u202e"} & set(shown)
    shown.encode()


def test_one_line_keeps_words_of_every_script() -> None:
    assert one_line("Ошибка: 模型 不存在 é", longest=100) == "Ошибка: 模型 不存在 é"


@given(st.text(alphabet=st.characters(categories=["Lu", "Cs", "Cc"])))
def test_what_is_stored_can_be_stored(text: str) -> None:
    assert "\0" not in storable(text)
    storable(text).encode("utf-8")
    assert len(storable(text)) == len(text)


def test_secrets_are_found_by_the_names_of_their_variables() -> None:
    environ = {"X_API_KEY": "a" * 20, "DB_PASSWORD": "b" * 20, "PATH": "c" * 20, "A_TOKEN": "short"}
    assert secrets_in(environ) == ["a" * 20, "b" * 20]


@pytest.mark.parametrize(
    "form",
    [
        lambda key: base64.b64encode(key.encode()).decode(),
        lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
        lambda key: quote(key, safe=""),
        str.upper,
    ],
)
def test_a_key_in_another_form_is_masked(form: Callable[[str], str]) -> None:
    key = "my/own+key=of-these-tests"
    assert key[:6].lower() not in without_keys(f"you sent {form(key)} to us", [key]).lower()
    assert "[key]" in without_keys(f"you sent {form(key)} to us", [key])


SPLIT = (
    lambda key: "\n".join(key[start : start + 7] for start in range(0, len(key), 7)),
    lambda key: f'"{key[:9]}" +\n    "{key[9:]}"',
    lambda key: json.dumps({"sent": [key[:10], key[10:]]}),
    lambda key: json.dumps({"first": key[:10], "second": key[10:]}),
    lambda key: json.dumps(f"{key[:5]}\n{key[5:]}"),
    lambda key: f"{key[:6]}\\\n{key[6:]}",
    " ".join,
)


@pytest.mark.parametrize("form", SPLIT)
def test_a_key_that_is_split_over_lines_or_texts_is_masked(form: Callable[[str], str]) -> None:
    key = "my/own+key=of-these-tests"
    text = without_keys(f"before {form(key)} after", [key])
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert "[key]" in text
    assert "tests" not in text
    assert "own" not in text


@given(st.text(alphabet="my/own+ke=f-this \n\"',\\:", max_size=200))
def test_words_of_a_key_are_no_key(text: str) -> None:
    assert without_keys(text, ["my/own+key=of-these-tests"]) == text
