"""When the second judge of a pair is asked, on judges whose scores are known beforehand."""

import asyncio
import math
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge, Staged
from eval_assets.config.rubric import RubricQuestion
from eval_assets.judges.calling.live_model import LiveModel, live_models
from eval_assets.judges.judging import (
    Stage,
    StageChange,
    judge_in_stages,
    next_stage,
    spot_checks,
)
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.replies import JudgeScore, ParsedReply, combine
from eval_assets.scale import LIKERT5

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
JUDGES = (
    Judge("one", "openai", "gpt-6-luna"),
    Judge("two", "anthropic", "claude-haiku-5-5"),
    Judge("three", "openai", "llama3", base_url="http://127.0.0.1:1"),
)
STAGED = Staged(kappa=0.85, spot_check=0.2, revert_below=0.7, window=20)
UNITS = [Unit(f"r{k:03}", CLARITY, "p", str(k)) for k in range(200)]


class Panel:
    """Gives units known scores; remembers who was asked about what."""

    def __init__(self, second: Callable[[int], float]) -> None:
        self.second = second
        self.requests: dict[str, list[str]] = {judge.id: [] for judge in JUDGES}
        self.replies: set[tuple[str, str]] = set()
        self.scores: list[JudgeScore] = []

    async def score(
        self, units: Sequence[Unit], judges: Sequence[LiveModel[Judge]]
    ) -> list[JudgeScore]:
        """Score."""
        scores = []
        for unit in units:
            number = int(unit.response_text)
            for judge in judges:
                if (unit.response_id, judge.id) not in self.replies:
                    self.requests[judge.id].append(unit.response_id)
                self.replies.add((unit.response_id, judge.id))
                value = self.second(number) if judge.id == "two" else 1 + number % 5
                scores.append(scored(unit, judge.id, value))
        self.scores += scores
        return scores

    async def unanswered(
        self, units: Sequence[Unit], judge: LiveModel[Judge]
    ) -> set[tuple[str, str]]:
        """Return the units that a judge was not asked about."""
        return {
            (unit.response_id, unit.question.id)
            for unit in units
            if (unit.response_id, judge.id) not in self.replies
        }


def scored(unit: Unit, judge_id: str, value: float) -> JudgeScore:
    judge = Judge(judge_id, "openai", "a-model")
    return combine([ParsedReply("ok", score=value)], judge, *unit.key)


def judged(
    panel: Panel, units: Sequence[Unit] = UNITS, judges: tuple[Judge, ...] = JUDGES
) -> tuple[StageChange, ...]:
    evaluation = Evaluation("t", Path(), (CLARITY,), judges=judges)
    live = live_models(evaluation, evaluation.live_judges, environ={}, today=date(2026, 11, 21))
    return asyncio.run(judge_in_stages(units, live, panel.score, panel.unanswered, staged=STAGED))


def agreeing(number: int) -> float:
    return 1 + number % 5


def opposed(number: int) -> float:
    return 5 - number % 5


def test_after_a_window_of_agreement_the_second_judge_checks_spots_only() -> None:
    panel = Panel(agreeing)
    changes = judged(panel)

    assert [(item.position, item.mode) for item in changes] == [(0, "both"), (20, "one")]
    first = [unit.response_id for unit in UNITS[:20]]
    spots = [
        response_id
        for start in range(20, 200, 20)
        for response_id in spot_checks(
            {unit.response_id for unit in UNITS[start : start + 20]}, share=0.2
        )
    ]
    assert len(spots) == 36
    assert sorted(panel.requests["two"]) == sorted([*first, *spots])
    assert sorted(panel.requests["one"]) == [unit.response_id for unit in UNITS]


def test_a_third_judge_is_asked_about_everything() -> None:
    panel = Panel(agreeing)
    judged(panel)

    assert sorted(panel.requests["three"]) == [unit.response_id for unit in UNITS]


def test_judges_that_never_agree_are_both_asked_about_everything() -> None:
    panel = Panel(opposed)
    changes = judged(panel)

    assert [item.mode for item in changes] == ["both"]
    assert panel.requests["two"] == [unit.response_id for unit in UNITS]


def test_equal_scores_that_tell_nothing_apart_are_no_agreement() -> None:
    """Identical scores of one class have no kappa: they must not drop a judge."""
    panel = Panel(lambda _: 1.0)
    constant = [Unit(f"r{k:03}", CLARITY, "p", "0") for k in range(60)]

    changes = judged(panel, constant, JUDGES[:2])

    assert [item.mode for item in changes] == ["both"]
    assert len(panel.requests["two"]) == 60


def test_spot_checks_that_disagree_bring_the_second_judge_back_for_good() -> None:
    panel = Panel(lambda number: agreeing(number) if number < 60 else opposed(number))
    changes = judged(panel)

    assert [item.mode for item in changes] == ["both", "one", "both"]
    back = changes[-1]
    assert back.position > 60
    assert back.kappa < STAGED.revert_below
    rest = {unit.response_id for unit in UNITS[back.position :]}
    assert rest <= set(panel.requests["two"])


def test_a_rerun_comes_to_the_same_stages_and_asks_the_same() -> None:
    one, other = Panel(agreeing), Panel(agreeing)

    assert str(judged(one)) == str(judged(other))
    assert one.requests == other.requests


def test_further_responses_change_no_earlier_stage_and_use_every_paid_reply() -> None:
    panel = Panel(agreeing)
    judged(panel, UNITS[:120])
    scored_before = set(panel.replies)
    further = [Unit(f"a{k}", CLARITY, "p", str(k)) for k in range(80)]  # before r in the alphabet
    changes = judged(panel, [*UNITS[:120], *further])

    assert [(item.position, item.mode) for item in changes] == [(0, "both"), (20, "one")]
    asked_later = [name for name in panel.requests["two"] if name.startswith("a")]
    assert len(panel.requests["two"]) - len(asked_later) == sum(
        judge == "two" for _, judge in scored_before
    )
    assert len(asked_later) == 16


def test_a_paid_reply_of_the_second_judge_is_used_outside_the_spot_checks() -> None:
    panel = Panel(agreeing)
    panel.replies |= {(unit.response_id, "two") for unit in UNITS}
    judged(panel)
    assert [score.judge_id for score in panel.scores].count("two") == len(UNITS)
    assert panel.requests["two"] == []


@pytest.mark.parametrize(
    ("stage", "kappa", "exact", "n", "expected"),
    [
        ("both", 0.85, 0.9, 100, "one"),
        ("both", 0.849, 0.9, 100, "both"),
        ("both", 0.99, 0.9, 99, "both"),
        ("both", math.nan, 1.0, 100, "both"),
        ("one", 0.70, 0.9, 20, "one"),
        ("one", 0.699, 0.9, 20, "both"),
        ("one", 0.0, 0.5, 4, "one"),
        ("one", math.nan, 1.0, 20, "one"),
        ("one", math.nan, 0.9, 20, "both"),
    ],
)
def test_a_stage_changes_only_on_evidence(
    stage: Stage, kappa: float, exact: float, n: int, expected: Stage
) -> None:
    following, reason = next_stage(
        stage, kappa=kappa, exact_agreement=exact, n_units=n, staged=Staged()
    )
    assert following == expected
    assert reason


def test_spot_checks_are_exactly_the_share_and_the_same_in_any_order() -> None:
    ids = [f"r{i}" for i in range(1000)]
    chosen = spot_checks(ids, share=0.05)
    assert len(chosen) == 50
    assert spot_checks(ids[::-1], share=0.05) == chosen
    assert len(spot_checks(ids[:40], share=0.05)) == 2
    assert len(spot_checks(ids[:3], share=0.05)) == 1


def test_a_share_of_spot_checks_is_rounded_up() -> None:
    assert len(spot_checks([f"r{k}" for k in range(101)], share=0.1)) == 11
