"""Scores from parsed replies."""

import math

import pytest

from eval_assets.config.judges import Aggregate, Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.replies import JudgeScore, ParsedReply, combine, parse_reply, read_outcome
from eval_assets.ledger import Reply
from eval_assets.scale import LIKERT5

CLARITY = RubricQuestion(id="clarity", question="How clear is it?", scale=LIKERT5, level="ordinal")


def combined(*parsed_replies: ParsedReply, aggregate: Aggregate = "mean") -> JudgeScore:
    judge = Judge("j", "openai", "a-model", aggregate=aggregate)
    return combine(parsed_replies, judge, "r", "q")


def parsed(reply: str) -> ParsedReply:
    return parse_reply(reply, LIKERT5)


def test_one_reply_is_the_score_as_it_is() -> None:
    score = combined(parsed('{"rationale": "Clear.", "score": 4}'))
    assert (score.status, score.score, score.raw_score) == ("ok", 4, 4)
    assert (score.rationale, score.raw_output) == (
        "Clear.",
        '{"rationale": "Clear.", "score": 4}',
    )
    assert math.isnan(score.spread)


@pytest.mark.parametrize(("aggregate", "expected"), [("mean", 3.0), ("median", 2.0)])
def test_several_replies_are_put_together_as_stated(aggregate: Aggregate, expected: float) -> None:
    # 2, 2, 5: mean 3, median 2, spread 3.
    score = combined(parsed("2"), parsed("2"), parsed("5"), aggregate=aggregate)
    assert (score.score, score.spread, score.runs) == (expected, 3, (2, 2, 5))
    assert score.raw_output == '["2", "2", "5"]'


def test_replies_without_a_score_are_left_out_and_counted() -> None:
    score = combined(parsed("2"), parsed("who knows"), parsed("9"))
    assert (score.status, score.score, score.runs) == ("ok", 2, None)
    assert math.isnan(score.spread)


def test_without_any_score_the_commonest_reason_stands() -> None:
    score = combined(parsed("9"), ParsedReply("timeout", error="late"), parsed("8"))
    assert (score.status, score.raw_score) == ("out_of_range", 9)
    assert math.isnan(score.score)


def test_a_reply_that_is_not_whole_is_never_read() -> None:
    cut = read_outcome(Reply("4", "truncated"), CLARITY)
    assert (cut.status, cut.raw_output, cut.is_unreadable) == ("truncated", "4", False)
    assert math.isnan(cut.score)
    assert parsed("").is_unreadable
    assert parsed("no idea").is_unreadable
    assert not parsed("9").is_unreadable
