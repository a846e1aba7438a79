"""Decisions of the checks on judging; that they run on real assets is tested in tests/e2e."""

from datetime import date, timedelta
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from eval_assets.assets.checks import (
    dependences,
    ending_models,
    most_of_the_month,
    over_budget,
    rejections,
    result_of,
    uncovered,
)
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Generator, Judge

TODAY = date(2026, 11, 21)
GPT = Judge("gpt", "openai", "gpt-6-luna")
HAIKU = Judge("haiku", "anthropic", "claude-haiku-5-5")
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


def evaluation(*judges: Judge, generators: tuple[Generator, ...] = ()) -> Evaluation:
    return Evaluation("t", Path(), (), judges=judges, generators=generators)


def coverage(*rows: tuple[str, int, int]) -> pd.DataFrame:
    """Rows of (judge, attempted, ok) on one question."""
    return pd.DataFrame(
        [
            {
                "judge_id": judge,
                "question_id": "q",
                "n_attempted": n,
                "n_ok": ok,
                "share_ok": ok / n if n else float("nan"),
                "main_reason": "unparsable" if ok < n else None,
            }
            for judge, n, ok in rows
        ]
    )


def test_nine_of_ten_scores_are_enough_and_one_less_is_not() -> None:
    result = uncovered(coverage(("a", 100, 90), ("b", 100, 89)))

    assert result == ["b skipped 11 of 100 responses on q (11 %): unparsable"]


def test_counts_of_a_finding_have_separators() -> None:
    result = uncovered(coverage(("a", 2832, 2356)))

    assert result == ["a skipped 476 of 2,832 responses on q (17 %): unparsable"]


def test_replies_that_are_cut_off_name_the_setting() -> None:
    table = coverage(("a", 10, 0)).assign(main_reason="truncated")

    assert uncovered(table)[0].endswith("cut off. Raise max_tokens in settings")


def test_a_judge_that_tried_nothing_covers_nothing() -> None:
    assert uncovered(coverage(("a", 0, 0))) == ["a skipped 0 of 0 responses on q"]


def test_a_model_that_ended_is_an_error_and_one_that_ends_within_60_days_a_warning() -> None:
    requested: list[Judge | Generator] = [
        HAIKU,
        Judge("old", "anthropic", "claude-3-5-haiku-20241022"),
        Generator("g", "openai", "gpt-4o"),
    ]

    [ended], [ending] = ending_models(requested, on=TODAY)

    assert (ended.split(":")[0], ending.split(":")[0]) == ("old", "g")
    assert "2026-02-19" in ended


def test_a_model_is_reported_sixty_days_before_its_end_and_ended_the_day_after() -> None:
    judge, last_day = Judge("j", "openai", "gpt-5"), date(2026, 12, 11)

    def counts(days: int) -> list[int]:
        return [len(texts) for texts in ending_models([judge], on=last_day + timedelta(days=days))]

    assert [counts(days) for days in (-61, -60, 0, 1)] == [[0, 0], [0, 1], [0, 1], [1, 0]]


def test_judges_of_two_vendors_on_a_third_vendors_model_are_independent() -> None:
    assert dependences(evaluation(GPT, HAIKU), ["llama-4-scout"]) == []


def test_two_judges_of_one_family_and_a_judge_of_its_own_family_are_told() -> None:
    twins = evaluation(GPT, Judge("gpt2", "openai", "gpt-4o"))

    texts = dependences(twins, ["claude-haiku-4-5", "gpt-4o-mini"])

    assert texts == [
        "gpt-6-luna and gpt-4o are models of openai: they may share the same mistakes",
        "gpt-6-luna judges gpt-4o-mini, of openai like itself: it may favour it",
        "gpt-4o judges gpt-4o-mini, of openai like itself: it may favour it",
    ]


def test_a_judge_of_many_models_of_its_family_is_one_finding() -> None:
    judged = [f"gpt-4o-mini/{k}" for k in range(13)]
    [result] = dependences(evaluation(GPT), judged)

    assert result == (
        "gpt-6-luna judges gpt-4o-mini/0, gpt-4o-mini/1, gpt-4o-mini/2 and 10 more, of openai like "
        "itself: it may favour them"
    )


def test_rejected_labels_are_counted_by_rater_and_question() -> None:
    counts = pd.DataFrame(
        [("anna", "clarity", 9), (None, "clarity", 1)], columns=["rater_id", "question_id", "n"]
    )

    assert rejections(counts) == [
        "9 labels of anna on clarity were rejected: see the table rejected_rows",
        "1 label of no rater on clarity was rejected: see the table rejected_rows",
    ]


def test_a_budget_that_reached_everything_is_no_finding() -> None:
    assert over_budget(0, cap=1.0, left_usd=0.0) == []


def test_a_budget_that_did_not_says_how_much_is_left_and_what_to_do() -> None:
    [result] = over_budget(67, cap=0.5, left_usd=0.0123)

    assert result == (
        "The budget of 0.5 USD (0.0123 USD are left) did not reach 67 scores. Raise it and "
        "run again: nothing is asked twice"
    )


def test_four_fifths_of_a_months_budget_are_a_finding_and_less_is_not() -> None:
    assert most_of_the_month(1.599, cap=2.0) == []
    assert most_of_the_month(5.0, cap=None) == []
    [result] = most_of_the_month(1.6, cap=2.0)

    assert result == (
        "1.6000 of 2 USD (80%) of this month's budget are spent. Raise the monthly limit, or "
        "wait for the next month"
    )


@pytest.mark.parametrize(
    ("warnings", "errors", "severity"),
    [([], [], WARN), (["a"], [], WARN), (["a"], ["b"], ERROR)],
)
def test_a_check_is_as_bad_as_its_worst_finding(
    warnings: list[str], errors: list[str], severity: dg.AssetCheckSeverity
) -> None:
    result = result_of(warnings, errors=errors, default="fine", metadata={})

    assert (result.passed, result.severity) == (not warnings, severity)
    assert result.description == ("\n".join([*errors, *warnings]) or "fine")
