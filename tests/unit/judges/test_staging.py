"""When the second judge of a pair is asked, on judges whose scores are known beforehand."""

import math
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from eval_assets.agreement import spot_checks
from eval_assets.evaluation import Evaluation, Judge, RubricQuestion, Staged
from eval_assets.judges.judging import JudgingSummary, live_judges
from eval_assets.judges.progress import Estimate
from eval_assets.judges.rater import JudgeSummary, LiveJudge, Unit
from eval_assets.judges.scores import JudgeScore, Reading, combine
from eval_assets.judges.staging import StagedJudging, judge_in_stages
from eval_assets.judges.verdict import Status
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
    """Scores units as told; remembers who was asked about what."""

    def __init__(self, second: Callable[[int], float], *, stops_after: int | None = None) -> None:
        self.second = second
        self.stops_after = stops_after
        self.asked: dict[str, list[str]] = {judge.id: [] for judge in JUDGES}
        self.n_calls = 0

    def __call__(
        self, units: Sequence[Unit], judges: Sequence[LiveJudge], budget_usd: float | None
    ) -> JudgingSummary:
        """Score."""
        self.n_calls += 1
        is_stopped = self.stops_after is not None and self.n_calls > self.stops_after
        scores = []
        for unit in units:
            number = int(unit.response_text)
            for judge in judges:
                name = judge.model.id
                self.asked[name].append(unit.response_id)
                value = self.second(number) if name == "two" else 1 + number % 5
                scores.append(scored(unit, name, "budget_stopped" if is_stopped else "ok", value))
        summaries = [
            JudgeSummary(
                judge_id=judge.model.id,
                statuses={"budget_stopped" if is_stopped else "ok": len(units)},
                n_attempts=len(units),
                n_from_ledger=0,
                spent_usd=0.5,
                estimate=Estimate(judge.model, n_calls=len(units)),
                stopped="",
            )
            for judge in judges
        ]
        left = None if budget_usd is None else budget_usd - 0.5 * len(judges)
        return JudgingSummary(tuple(scores), tuple(summaries), left)


def scored(unit: Unit, judge_id: str, status: Status, value: float) -> JudgeScore:
    reading = Reading(status, score=value) if status == "ok" else Reading(status)
    return combine(
        [reading],
        response_id=unit.response_id,
        question_id=unit.question.id,
        judge_id=judge_id,
        aggregate="mean",
    )


def judged(panel: Panel, *, budget_usd: float | None = None) -> StagedJudging:
    evaluation = Evaluation("t", Path(), (CLARITY,), (), (), judges=JUDGES)
    judges = live_judges(evaluation, environ={}, today=date(2026, 11, 21))
    return judge_in_stages(UNITS, judges, panel, staged=STAGED, budget_usd=budget_usd)


def agreeing(number: int) -> float:
    return 1 + number % 5


def opposed(number: int) -> float:
    return 5 - number % 5


def test_after_a_window_of_agreement_the_second_judge_checks_spots_only() -> None:
    panel = Panel(agreeing)
    found = judged(panel)

    assert [(each.position, each.mode) for each in found.changes] == [(0, "both"), (20, "one")]
    spots = spot_checks({unit.response_id for unit in UNITS}, share=0.2)
    first = [unit.response_id for unit in UNITS[:20]]
    assert sorted(panel.asked["two"]) == sorted({*first, *spots})
    assert sorted(panel.asked["one"]) == [unit.response_id for unit in UNITS]


def test_a_third_judge_is_asked_about_everything() -> None:
    panel = Panel(agreeing)
    judged(panel)

    assert sorted(panel.asked["three"]) == [unit.response_id for unit in UNITS]


def test_judges_that_never_agree_are_both_asked_about_everything() -> None:
    panel = Panel(opposed)
    found = judged(panel)

    assert [each.mode for each in found.changes] == ["both"]
    assert panel.asked["two"] == [unit.response_id for unit in UNITS]


def test_equal_scores_that_tell_nothing_apart_are_no_agreement() -> None:
    """Identical scores of one class have no kappa: they must not drop a judge."""
    panel = Panel(lambda _: 1.0)
    panel.second = lambda _: 1.0
    evaluation = Evaluation("t", Path(), (CLARITY,), (), (), judges=JUDGES[:2])
    judges = live_judges(evaluation, environ={}, today=date(2026, 11, 21))
    constant = [Unit(f"r{k:03}", CLARITY, "p", "0") for k in range(60)]

    found = judge_in_stages(constant, judges, panel, staged=STAGED, budget_usd=None)

    assert [each.mode for each in found.changes] == ["both"]
    assert len(panel.asked["two"]) == 60


def test_spot_checks_that_disagree_bring_the_second_judge_back_for_good() -> None:
    panel = Panel(lambda number: agreeing(number) if number < 60 else opposed(number))
    found = judged(panel)

    assert [each.mode for each in found.changes] == ["both", "one", "both"]
    back = found.changes[-1]
    assert back.position > 60
    assert back.kappa < STAGED.revert_below
    rest = {unit.response_id for unit in UNITS[back.position :]}
    assert rest <= set(panel.asked["two"])


def test_a_rerun_comes_to_the_same_stages_and_asks_the_same() -> None:
    one, other = Panel(agreeing), Panel(agreeing)

    assert str(judged(one).changes) == str(judged(other).changes)
    assert one.asked == other.asked


def test_scores_and_costs_of_all_windows_are_one_run() -> None:
    found = judged(Panel(agreeing), budget_usd=100.0).summary

    by_judge = {judge.judge_id: judge for judge in found.judges}
    assert by_judge["one"].statuses == {"ok": 200}
    assert by_judge["one"].n_attempts == by_judge["one"].estimate.n_calls == 200
    n_second = by_judge["two"].n_attempts
    assert len(found.scores) == 200 + n_second + 200
    assert sum(judge.spent_usd or math.nan for judge in found.judges) == (
        100.0 - (found.budget_left_usd or math.nan)
    )


def test_when_the_budget_is_spent_the_rest_is_accounted_for_at_once() -> None:
    panel = Panel(agreeing, stops_after=1)
    found = judged(panel)

    assert panel.n_calls < 6
    assert sorted(panel.asked["one"]) == [unit.response_id for unit in UNITS]
    assert found.summary.n_budget_stopped > 0
