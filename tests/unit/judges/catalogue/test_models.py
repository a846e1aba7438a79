"""Models by name."""

from datetime import date

import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS
from genai_prices import wait_prices_updated_sync

from eval_assets.config.models import Price, Usage, cost_usd
from eval_assets.judges.catalogue.models import (
    capabilities_of,
    end_of,
    price_of,
    shared_family,
)

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("model", "family", "temperature", "json_schema"),
    [
        ("gpt-6-luna", "openai", False, True),
        ("gpt-5.4-mini-2026-03-17", "openai", False, True),
        ("o3", "openai", False, True),
        ("gpt-4o-mini", "openai", True, True),
        ("gpt-3.5-turbo", "openai", True, False),
        ("claude-haiku-5-5", "anthropic", False, True),
        ("claude-opus-4-7", "anthropic", False, True),
        ("claude-haiku-4-5-20251001", "anthropic", True, True),
        ("claude-3-5-haiku-20241022", "anthropic", True, False),
        ("gemini-2.5-flash", "google", True, True),
        ("llama3.2:3b", "meta", True, True),
        ("meta-llama/Llama-3.3-70B-Instruct", "meta", True, True),
        ("some-model-of-ours", "unknown", True, True),
    ],
)
def test_the_longest_name_that_fits_decides_what_a_model_takes(
    model: str, family: str, *, temperature: bool, json_schema: bool
) -> None:
    result = capabilities_of(model, overrides={})
    assert (result.family, result.temperature, result.json_schema) == (
        family,
        temperature,
        json_schema,
    )


def test_the_evaluation_wins_over_the_table_field_by_field() -> None:
    overrides = {"gpt-6-luna": {"temperature": True}}
    result = capabilities_of("gpt-6-luna", overrides=overrides)
    assert (result.temperature, result.max_tokens_name) == (True, "max_completion_tokens")


def test_an_unknown_capability_is_refused_by_name() -> None:
    with pytest.raises(
        ValueError, match=r"capabilities of gpt-4o must be among family, temperature"
    ):
        capabilities_of("gpt-4o", overrides={"gpt-4o": {"telepathy": True}})


def test_a_price_holds_for_dated_snapshots_and_for_no_other_model() -> None:
    def known(model: str) -> Price | None:
        return price_of(model, on=TODAY, overrides={})

    assert known("gpt-4o-mini-2024-07-18") == known("gpt-4o-mini") != known("gpt-4o")
    assert known("openai/gpt-4o") == known("gpt-4o")
    assert known("gpt-6-luna-large") is None
    assert known("llama3.3") is known("deepseek-r1:7b") is known("text-embedding-3-small") is None


def test_a_price_has_its_cache_and_its_factor_for_long_prompts() -> None:
    assert price_of("claude-haiku-5-5", on=TODAY, overrides={}) == Price(
        0.1,
        0.5,
        cached_input_usd=0.01,
        cache_write_usd=0.125,
        long_prompt_tokens=100_000,
        long_prompt_factor=5,
    )
    luna = price_of("gpt-6-luna", on=TODAY, overrides={})
    assert luna is not None  # whose output costs 1.5 times as much, and input twice
    assert (luna.long_prompt_tokens, luna.long_prompt_factor) == (272_000, 2)
    assert price_of("gpt-4o", on=TODAY, overrides={}) == Price(2.5, 10, cached_input_usd=1.25)


def test_prices_are_those_of_the_installed_release_unless_updates_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The package fetches newer prices only where UpdatePrices is started, which nothing does."""
    monkeypatch.setattr("httpx2.get", lambda *_, **__: pytest.fail("a server was asked"))
    assert price_of("gpt-4o", on=TODAY, overrides={})
    assert wait_prices_updated_sync(timeout=0) is False


def test_the_current_models_of_both_vendors_have_a_price() -> None:
    current = ["gpt-6-luna", "gpt-6.1-terra", "gpt-5", "gpt-4.1", "o3", "claude-haiku-5-5",
               "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5-20251001"]  # fmt: skip
    for model in current:
        assert price_of(model, on=TODAY, overrides={}) is not None, model


def test_a_server_that_takes_less_is_known_by_its_host() -> None:
    capabilities = capabilities_of("deepseek-v4-flash", overrides={}, host="api.deepseek.com")
    assert (capabilities.json_schema, capabilities.json_object) == (False, True)
    assert capabilities_of("deepseek-v4-flash", overrides={}, host="llm.example.org").json_schema
    declared = {"deepseek-v4-flash": {"json_schema": True}}
    assert capabilities_of(
        "deepseek-v4-flash", overrides=declared, host="api.deepseek.com"
    ).json_schema


def test_a_declared_price_wins_over_the_one_that_ships() -> None:
    declared_price = Price(input_usd=0, output_usd=0)
    assert (
        price_of("gpt-4o-2024-11-20", on=TODAY, overrides={"gpt-4o": declared_price})
        == declared_price
    )


def test_cost_counts_cached_tokens_long_prompts_and_batches() -> None:
    price = Price(1, 5, cached_input_usd=0.1, cache_write_usd=1.25)
    # 600 plain at 1, 300 read at 0.1, 100 written at 1.25, 10 out at 5: 600 + 30 + 125 + 50 = 805
    usage = Usage(1000, 10, cached_input_tokens=300, cache_write_tokens=100)
    assert cost_usd(usage, price, in_batch=False) == pytest.approx(805e-6)
    assert cost_usd(usage, price, in_batch=True) == pytest.approx(402.5e-6)
    # Unknown cache prices count as input: 1000 + 50.
    assert cost_usd(usage, Price(1, 5), in_batch=False) == pytest.approx(1050e-6)
    long = Price(0.1, 0.5, long_prompt_tokens=100_000, long_prompt_factor=5)
    assert cost_usd(Usage(100_000, 0), long, in_batch=False) == pytest.approx(0.01)
    assert cost_usd(Usage(100_001, 0), long, in_batch=False) == pytest.approx(0.0500005)


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        Price(-1, 5)


def test_every_model_that_the_sdk_says_ends_is_in_the_table() -> None:
    for model in DEPRECATED_MODELS:
        assert end_of(model) is not None, model


def test_judges_of_one_family_are_named() -> None:
    models = ["gpt-6-luna", "openai/gpt-oss-20b", "claude-haiku-5-5", "ours-1", "ours-2"]
    assert shared_family(models, overrides={}) == {"openai": ["gpt-6-luna", "openai/gpt-oss-20b"]}
    assert shared_family(["ours-1", "ours-1"], overrides={}) == {"ours-1": ["ours-1", "ours-1"]}


def test_a_family_is_found_on_either_side_of_a_slash() -> None:
    prompts = ["gpt-3.5-turbo/ice-cot-ref", "gpt-3.5-turbo/ice-score-only-ref"]
    assert shared_family(prompts, overrides={}) == {"openai": prompts}
    models = ["ChatGPT/eval-prompt-1", "Mistral-7B/eval-prompt-1", "ours/eval-prompt-1"]
    assert shared_family(models, overrides={}) == {}
