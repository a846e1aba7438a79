"""The executive summary: only figures go in, and no number comes out that is not among them."""

import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation, ExecutiveSummary
from eval_assets.config.judges import Judge
from eval_assets.errors import DeclarationError
from eval_assets.report.content import render_markdown
from eval_assets.report.sections.summary import summary_prompt, unknown_numbers
from tests.unit.report.builder import JUDGES, QUESTIONS, Case, with_tables

DATA = Case().data()


def test_the_prompt_holds_the_figures_and_no_text_of_a_response() -> None:
    prompt = summary_prompt(DATA)

    assert "People on clarity: A^HH 0.880 (95 % interval 0.840 to 0.920), by chance 0.580" in prompt
    assert "gpt with people on safe: A^HA 0.860" in prompt
    assert Case().response_text not in prompt
    assert Case().prompt_text not in prompt
    assert summary_prompt(Case().data()) == prompt


@pytest.mark.parametrize(
    "summary",
    [
        "People agree on clarity: A^HH is 0.880, between 0.840 and 0.920.",
        "Both judges (2 of them, so two) can be used on 80 responses.",
        "There is no number here.",
    ],
)
def test_numbers_among_the_figures_are_accepted(summary: str) -> None:
    assert unknown_numbers(summary, DATA) == ()


@pytest.mark.parametrize(
    ("summary", "unknown"),
    [
        ("A^HH is 0.91.", ("0.91",)),
        ("It reaches 88 % of what people reach.", ("88",)),
        ("Seven raters took part, and 1,000 responses.", ("1,000", "Seven")),
        ("The bias is -0.88, again -0.88.", ("-0.88",)),
    ],
)
def test_numbers_that_are_not_among_the_figures_are_named(
    summary: str, unknown: tuple[str, ...]
) -> None:
    assert unknown_numbers(summary, DATA) == unknown


def test_digits_within_the_name_of_a_judge_are_no_numbers() -> None:
    data = Case(judges=(Judge("gpt-97", "openai", "gpt-6-luna"),), statuses=()).data()

    assert unknown_numbers("gpt-97 agrees.", data) == ()
    assert unknown_numbers("97 judges agree.", data) == ("97",)


def summarized(**row: object) -> str:
    columns = {"judge_id": "gpt", "model": "gpt-6-luna", "summary": None, "refused_because": None}
    return render_markdown(with_tables(DATA, executive_summary=pd.DataFrame([columns | row])))


def test_a_summary_is_marked_as_written_by_a_judge() -> None:
    page = summarized(summary="People agree.")

    assert "## Executive summary" in page
    assert "People agree." in page
    assert "Written by gpt (gpt-6-luna) from the figures of this report alone." in page


def test_a_summary_that_is_refused_is_not_shown_but_why() -> None:
    page = summarized(refused_because="it has numbers that are not among the figures: 0.91")

    assert (
        "The summary by gpt (gpt-6-luna) is not shown: it has numbers that are not among the "
        "figures: 0.91." in page
    )


def test_without_the_key_there_is_no_summary() -> None:
    assert "Executive summary" not in render_markdown(DATA)


@pytest.mark.parametrize("judge", ["nobody", "scored"])
def test_a_summary_is_asked_of_a_live_judge(judge: str) -> None:
    recorded = Judge("scored", "recorded", scores=DATA.evaluation.folder / "scores.csv")
    with pytest.raises(DeclarationError, match="no live judge has the id"):
        Evaluation(
            "test",
            DATA.evaluation.folder,
            QUESTIONS,
            judges=(*JUDGES, recorded),
            executive_summary=ExecutiveSummary(judge),
        )
