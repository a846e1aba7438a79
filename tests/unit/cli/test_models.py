"""`eval-assets models`."""

import json
from datetime import date

from click.testing import CliRunner

from eval_assets.cli.models import known_models, models

TODAY = date(2026, 11, 21)


def printed(*arguments: str) -> str:
    outcome = CliRunner().invoke(models, arguments)
    assert outcome.exception is None
    return outcome.stdout


def test_a_row_shows_price_capabilities_and_end() -> None:
    rows = {line.split()[0]: line.split() for line in printed().splitlines() if line}
    assert rows["gpt-6-luna"][1:] == ["0.1", "0.01", "0.5", "schema,", "effort"]
    assert rows["gpt-4.1"][-1] == "2027-01-14"
    assert rows["Prices:"][1] == "genai-prices"
    assert "claude-2.1" not in rows


def test_models_are_found_by_part_of_a_name_retired_ones_included() -> None:
    assert "claude-2.1" in printed("--all")
    result = printed("claude-3-5")
    assert "2026-02-19 ended" in result
    assert "gpt-" not in result
    assert "1.5" in printed("gemini-3.5-flash")


def test_a_model_that_is_not_known_may_be_asked_all_the_same() -> None:
    assert printed("no-such-model") == (
        "No such model is known. It can be asked all the same, without a cap.\n"
    )


def test_json_holds_everything_that_is_known() -> None:
    (result,) = json.loads(printed("gpt-6-luna", "--json"))
    assert result["price"]["cache_write_usd"] == 0.125
    assert result["capabilities"]["max_tokens_name"] == "max_completion_tokens"


def test_models_with_a_price_or_an_end_are_listed_and_others_by_their_full_name() -> None:
    listed = {model.name: model for model in known_models(on=TODAY, names=())}
    assert listed["gpt-4o-2024-08-06"].price == listed["gpt-4o"].price
    assert listed["claude-haiku-5-5"].price
    assert (listed["claude-2.1"].ends_on or TODAY) < TODAY
    assert "gemini-3.5-flash" not in listed
    named = known_models(on=TODAY, names=["GPT-6-luna", "gemini-3.5-flash", "ours"])
    assert [model.name for model in named] == ["gemini-3.5-flash", "gpt-6-luna"]
